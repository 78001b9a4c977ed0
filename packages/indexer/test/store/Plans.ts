/** How a database would carry statements out, by its own word. */
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import { type KyselyPlugin, RawNode, sql } from "kysely"

const explain = { sqlite: "explain query plan ", postgres: "explain " } as const

export type Kind = keyof typeof explain

type SelectEach = Database["Service"]["selectEach"]

/** As `selectEach` has it carried out for the first of the parameters. */
const selectOne = <A>(kind: Kind, [types, [first = {}], select]: Parameters<SelectEach>) => {
  if (kind === "sqlite") {
    const parts = select.split(/:(\w+)/).map((part, i) => (i % 2 === 0 ? sql.raw(part) : first[part]))
    return sql<A>`${sql.join(parts, sql``)}`
  }
  const lateral = sql.raw(select.replace(/:(\w+)/g, 'parameter."$1"'))
  const arrays = Object.entries(types).map(([name, type]) => sql`${[first[name]]}::${sql.raw(type)}[]`)
  const names = sql.join(Object.keys(types).map((name) => sql.ref(name)))
  return sql<A>`select found.* from unnest(${sql.join(arrays)}) as parameter(${names}) cross join lateral (${lateral}) found`
}

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
  const selectEach = <A>(...of: Parameters<SelectEach>) =>
    of[1].length === 0 ? Effect.succeed([]) : explained<ReadonlyArray<A>>(rows(selectOne<A>(kind, of)))
  yield* Effect.provideService(self, Database, { ...database, query: explained, read: explained, selectEach })
  return plans
})
