/** Where a reader of a feed is, and whether that is a place in this store. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as StoreEpoch from "../database/StoreEpoch.ts"

export interface FeedPosition {
  /** The number of the last entry that was read; 0 before the first. */
  readonly after: number
  /** The epoch of the store that gave the number; undefined where the reader knows the number alone. */
  readonly epoch?: string | undefined
}

/** The position is none of this store, as it is now. */
export class PositionRefused extends Schema.TaggedError<PositionRefused>()("PositionRefused", {
  message: Schema.String
}) {}

const remedy =
  "Read the feed from its beginning (startingAfter=0), and pass over the callbacks whose idempotencyKey is known: " +
  "numbers that were given before a restore may stand for other callbacks"

/** The store's epoch; fails where the position is not of it, or beyond `last`, the last number that was given. */
export const check = Effect.fnUntraced(function* ({ after, epoch }: FeedPosition, last: number) {
  const current = yield* StoreEpoch.current
  if (epoch !== undefined && epoch !== current) {
    return yield* new PositionRefused({
      message: `The position is from before the server's store was restored from a backup. ${remedy}`
    })
  }
  if (after > last) {
    return yield* new PositionRefused({
      message: `The position ${after} is beyond the feed's last number, ${last}: the server's store may have been restored from a backup. ${remedy}`
    })
  }
  return current
})
