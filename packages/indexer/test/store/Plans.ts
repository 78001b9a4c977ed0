/** How a database would carry statements out, by its own word. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import { type KyselyPlugin, RawNode } from "kysely"

const explain = { sqlite: "explain query plan ", postgres: "explain " } as const

export type Kind = keyof typeof explain

/**
 * The plans of the statements of an effect that are written as SQL, each as text; these statements are not run, and find
 * nothing, unless they are to be `run` as well. Statements that are built are run alone.
 */
export const of = Effect.fnUntraced(function* <A, E>(
  kind: Kind,
  self: Effect.Effect<A, E, Database>,
  { run = false }: { readonly run?: boolean } = {}
) {
  const database = yield* Database
  const plans: Array<string> = []
  const built = new Set<unknown>()
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      if (node.kind === "RawNode") return RawNode.create([explain[kind], ""], [node])
      built.add(queryId)
      return node
    },
    transformResult: async ({ queryId, result }) => {
      if (built.has(queryId)) return result
      plans.push(JSON.stringify(result.rows))
      return { ...result, rows: [] }
    }
  }
  const explained: typeof database.query = (build) => {
    const explain = database.query((db) => build(db.withPlugin(plugin)))
    return run ? Effect.andThen(explain, database.query(build)) : explain
  }
  yield* Effect.provideService(self, Database, { ...database, query: explained, read: explained })
  return plans
})
