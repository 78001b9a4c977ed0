/** How a database would carry statements out, by its own word. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import { type KyselyPlugin, RawNode } from "kysely"

const explain = { sqlite: "explain query plan ", postgres: "explain " } as const

export type Kind = keyof typeof explain

/** The plans of the statements of an effect, each as text; the statements are not run, and find nothing. */
export const of = Effect.fnUntraced(function* <A, E>(kind: Kind, self: Effect.Effect<A, E, Database>) {
  const database = yield* Database
  const plans: Array<string> = []
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => RawNode.create([explain[kind], ""], [node]) as never,
    transformResult: async ({ result }) => {
      plans.push(JSON.stringify(result.rows))
      return { ...result, rows: [] }
    }
  }
  const explained: typeof database.query = (build) => database.query((db) => build(db.withPlugin(plugin)))
  yield* Effect.provideService(self, Database, { ...database, query: explained, read: explained })
  return plans
})
