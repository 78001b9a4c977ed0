/** Statements that are the same on both databases. */
import * as Effect from "effect/Effect"

export { rows } from "./internal/Connection.ts"

/** Values bound by one statement: far below the limits of both databases, and few enough for a small plan. */
const chunkSize = 500

export const chunksOf = <V>(values: ReadonlyArray<V>, size: number): ReadonlyArray<ReadonlyArray<V>> =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, i) => values.slice(i * size, (i + 1) * size))

/** Runs a query for some of the values at a time: everything that was found, in the order of the values. */
export const inChunks = <V, A, E, R>(
  values: ReadonlyArray<V>,
  run: (chunk: ReadonlyArray<V>) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<ReadonlyArray<A>, E, R> => {
  if (values.length === 0) return Effect.succeed([])
  if (values.length <= chunkSize) return run(values)
  return Effect.map(Effect.forEach(chunksOf(values, chunkSize), run), (found) => found.flat())
}
