/** Queries that every request or block makes, compiled once: building one costs more than running it. */
import type { CompiledQuery, Kysely } from "kysely"
import type { Tables } from "./Tables.ts"

interface Query<R> {
  readonly compile: () => CompiledQuery<R>
  execute(): Promise<ReadonlyArray<R>>
}

/**
 * The query of `build`, for `Database.query`, `read` and `write` of one store. Its parameters must stand in the query
 * in the order in which `build` takes them, each once, and be all that is not constant in it.
 */
export const prepared = <P extends ReadonlyArray<unknown>, R>(
  build: (db: Kysely<Tables>, ...parameters: P) => Query<R>
) => {
  let compiled: CompiledQuery<R> | undefined
  return (...parameters: P) =>
    (db: Kysely<Tables>): Query<R> => {
      compiled ??= build(db, ...parameters).compile()
      const query = { ...compiled, parameters }
      return { compile: () => query, execute: async () => (await db.executeQuery<R>(query)).rows }
    }
}
