/** Statements that are the same on both databases. */
import { chunksOf } from "../../Chunks.ts"
import * as Effect from "effect/Effect"

export { rows } from "./internal/Connection.ts"

/** Values bound by one statement: far below the limits of both databases, and few enough for a small plan. */
const chunkSize = 500

/**
 * Rows that are sent to the store at a time, or come from it: nothing else happens while they are made into a message or
 * read from one. To send a message costs what some dozens of rows do.
 */
export const rowsAtOnce = 1_000

/** Runs a query for some of the values at a time, `size` at most: everything that was found, in the order of the values. */
export const inChunks = <V, A, E, R>(
  values: ReadonlyArray<V>,
  run: (chunk: ReadonlyArray<V>) => Effect.Effect<ReadonlyArray<A>, E, R>,
  size = chunkSize
): Effect.Effect<ReadonlyArray<A>, E, R> => {
  if (values.length === 0) return Effect.succeed([])
  if (values.length <= size) return run(values)
  return Effect.map(Effect.forEach(chunksOf(values, size), run), (found) => found.flat())
}

/** As {@link inChunks}, of statements that find nothing. */
export const forEachChunk = <V, E, R>(
  values: ReadonlyArray<V>,
  run: (chunk: ReadonlyArray<V>) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, E, R> => Effect.asVoid(inChunks(values, (some) => Effect.as(run(some), [])))
