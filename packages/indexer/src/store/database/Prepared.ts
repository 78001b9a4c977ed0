/** Queries that every request or block makes, compiled once: building one costs more than running it. */
import type { CompiledQuery, DialectAdapter, Kysely } from "kysely"
import type { Tables } from "./Tables.ts"

interface Query<R> {
  readonly compile: () => CompiledQuery<R>
  execute(): Promise<ReadonlyArray<R>>
}

/**
 * The query of `build`, for `Database.query`, `read` and `defer`. Its parameters must stand in the query
 * in the order in which `build` takes them, each once, and be all that is not constant in it.
 */
export const prepared = <P extends ReadonlyArray<unknown>, R>(
  build: (db: Kysely<Tables>, ...parameters: P) => Query<R>
) => {
  // A program may have several stores open, of both databases.
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<R>>()
  return (...parameters: P) =>
    (db: Kysely<Tables>): Query<R> => {
      const { adapter } = db.getExecutor()
      const known = compiled.get(adapter) ?? build(db, ...parameters).compile()
      compiled.set(adapter, known)
      const query = { ...known, parameters }
      return { compile: () => query, execute: async () => (await db.executeQuery<R>(query)).rows }
    }
}
