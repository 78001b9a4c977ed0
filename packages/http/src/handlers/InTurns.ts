/** Requests with very many items, between which other requests have their turn. */
import { chunksOf } from "@headwater/indexer/Chunks"
import * as Effect from "effect/Effect"

/** Items that are read between two turns of others. */
const turn = 50

/** Between two transactions others come to the store. */
export const pause = Effect.sleep("1 millis")

/** Runs `each` for some values at a time, between which others have their turn. */
export const inTurns = <A, B, E, R>(values: ReadonlyArray<A>, each: (value: A) => Effect.Effect<B, E, R>) =>
  Effect.map(
    Effect.forEach(chunksOf(values, turn), (some) => Effect.andThen(Effect.yieldNow, Effect.forEach(some, each))),
    (found) => found.flat()
  )
