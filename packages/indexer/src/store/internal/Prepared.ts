/** Queries that every request makes, compiled once: building one costs more than running it. */
import type { CompiledQuery, Kysely } from "kysely"
import type { Tables } from "../Tables.ts"

interface Query<R> {
  readonly compile: () => CompiledQuery<R>
  execute(): Promise<Array<R>>
}

/**
 * The query of `build`, for `Database.query` and `Database.read` of one store. Its parameters must stand in the query
 * in the order in which `build` takes them, each once, and be all that is not constant in it.
 */
export const prepared = <P extends ReadonlyArray<unknown>, R>(
  build: (db: Kysely<Tables>, ...parameters: P) => Query<R>
) => {
  let compiled: CompiledQuery<R> | undefined
  return (...parameters: P) =>
    (db: Kysely<Tables>) => ({
      execute: async (): Promise<ReadonlyArray<R>> => {
        compiled ??= build(db, ...parameters).compile()
        return (await db.executeQuery<R>({ ...compiled, parameters })).rows
      }
    })
}
