/** Forgets finished callbacks that are older than they are kept; past ones go with their partitions. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import * as AccountFeedPage from "./AccountFeedPage.ts"

/** Callbacks read at a time. */
const page = 1000

const finished: ReadonlySet<CallbackState.State> = new Set(CallbackState.transitions.prune.from)

const forget = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const { numbers, transaction } = yield* Database
  const which = sql`id in ${numbers(ids)}`
  yield* transaction(Effect.andThen(AccountFeedPage.pass("callback", which), CallbackState.apply("prune", which)))
})

/** In small steps; how many callbacks. */
export const prune = Effect.fnUntraced(function* ({ finishedMillis }: { readonly finishedMillis: number }) {
  const { read } = yield* Database
  const before = (yield* Clock.currentTimeMillis) - finishedMillis
  let after = 0
  let count = 0
  while (true) {
    const found = yield* read(
      rows(sql<Pick<Row<"callback">, "id" | "state" | "created" | "delivered">>`
        select id, state, created, delivered from callback where id > ${after} order by id limit ${page}`)
    )
    const old = found.filter(({ created, delivered, state }) => finished.has(state) && (delivered ?? created) < before)
    if (old.length > 0) yield* forget(old.map(({ id }) => id))
    count += old.length
    const last = found.at(-1)
    if (last === undefined || found.length < page || last.created >= before) return count
    after = last.id
    // The store is free for others between the steps.
    yield* Effect.sleep("10 millis")
  }
})
