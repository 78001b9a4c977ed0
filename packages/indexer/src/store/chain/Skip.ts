/** Where a chain leaves blocks out, by an operator's will: its nodes do not have them any more. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { OpenChain, Projection } from "./Projection.ts"
import * as SkippedBlocks from "./SkippedBlocks.ts"

/** The chain has no block, or has come further meanwhile. */
export class NotSkipped extends Schema.TaggedError<NotSkipped>()("NotSkipped", { message: Schema.String }) {}

/** The skips of an open chain. */
export const make = ({ id }: OpenChain, projections: ReadonlyArray<Projection>) =>
  /**
   * Moves the cursor from the block at `after` to the height `to`, in one transaction: nothing of the blocks in between is
   * recorded, and each projection takes back what it called complete. The block behind them is the next one, whatever its
   * parent is. Who follows the chain begins anew.
   */
  Effect.fn("ChainStore.skip")(function* (after: number, to: number) {
    const { insertMany, transaction } = yield* Database
    yield* transaction(
      Effect.gen(function* () {
        const { first_height: firstHeight, hash, height } = yield* ChainRow.lockAndBumpRevision(id)
        if (height !== after || hash === null || to <= after) {
          return yield* new NotSkipped({ message: `The chain is at block ${height ?? "(none)"}, not at ${after}` })
        }
        const skipped = { from: after + 1, to }
        for (const { skip } of projections) if (skip !== undefined) yield* skip(skipped)
        const at = yield* Clock.currentTimeMillis
        yield* SkippedBlocks.add(id, { ...skipped, at })
        // What other processes remember of the chain holds no longer, as after a reorganisation; of which no block left.
        yield* insertMany("reorganisation", [{ chain: id, at, fork_height: after, depth: 0, old_hash: hash }])
        yield* ChainRow.moveCursor(id, { height: to, hash: null, firstHeight })
        yield* ChainRow.beginEpoch(id)
      })
    )
  })
