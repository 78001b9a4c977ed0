/**
 * Keeps a chain's writes to the last one who began to follow the chain. Each beginning takes a new epoch, which stands in
 * the chain's row; a follower runs under a fence of its epoch, and who locks the row under a fence of another epoch is
 * refused. A process that has slept through the move of its chain, or was cut off, so writes nothing when it comes back.
 *
 * Without a fence nothing is refused: requests, commands of an operator and embedded indexers write beside the follower.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DatabaseError } from "./DatabaseError.ts"
import type { Row } from "./Tables.ts"

/** Somebody else has begun to follow the chain, or an operator has changed how far it is: the follower has to begin anew. */
export class FollowedElsewhere extends Schema.TaggedError<FollowedElsewhere>()("FollowedElsewhere", {
  /** `blockchain/network`. */
  chain: Schema.String,
  epoch: Schema.Int,
  /** The epoch that has begun since. */
  present: Schema.Int
}) {
  override get message() {
    return (
      `${this.chain} is followed by another daemon since, or was rewound: nothing of epoch ${this.epoch} is written any ` +
      `more, now that epoch ${this.present} has begun`
    )
  }
}

export interface Fence {
  /** The chain's number in the store. */
  readonly chain: number
  readonly epoch: number
}

/** The fence under which a fiber writes; undefined where it follows no chain. */
export const Current = Context.Reference<Fence | undefined>("@headwater/indexer/store/database/Fence", {
  defaultValue: () => undefined
})

/** Fails with a {@link FollowedElsewhere} as its cause where the fence is of another epoch than the chain's row. */
export const check = Effect.fnUntraced(function* (row: Pick<Row<"chain">, "id" | "name" | "epoch">) {
  const fence = yield* Current
  if (fence === undefined || fence.chain !== row.id || fence.epoch === row.epoch) return
  const cause = new FollowedElsewhere({ chain: row.name, epoch: fence.epoch, present: row.epoch })
  return yield* new DatabaseError({ cause })
})

/** Why a statement was refused, where that is a fence. */
export const refusal = (error: { readonly _tag: string; readonly cause?: unknown }): FollowedElsewhere | undefined =>
  error._tag === "DatabaseError" && error.cause instanceof FollowedElsewhere ? error.cause : undefined
