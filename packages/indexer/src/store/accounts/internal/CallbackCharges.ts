/** The charges of callbacks, taken in the transaction that notes that they were sent: one entry an account and chain. */
import * as Credits from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as CreditLedger from "./CreditLedger.ts"

/** A callback that was sent. */
export interface Sent {
  readonly id: number
  readonly subscription: number
}

/** Callbacks of one account on one chain, by the chain's name; the lowest of their ids names the entry. */
const groupsOf = Effect.fnUntraced(function* (sent: ReadonlyArray<Sent>) {
  const { numbers, query } = yield* Database
  const ids = [...new Set(sent.map(({ subscription }) => subscription))]
  const rows = yield* query((db) =>
    db
      .selectFrom("subscription")
      .innerJoin("chain", "chain.id", "subscription.chain")
      .select(["subscription.id", "subscription.account", "chain.name"])
      .where(sql<boolean>`subscription.id in ${numbers(ids)}`)
  )
  const places = new Map(rows.map((row) => [row.id, row]))
  const groups = Map.groupBy(
    sent.filter(({ subscription }) => places.has(subscription)),
    ({ subscription }) => `${places.get(subscription)!.account} ${places.get(subscription)!.name}`
  )
  return [...groups.values()]
    .map((callbacks) => {
      const { account, name } = places.get(callbacks[0]!.subscription)!
      const first = Math.min(...callbacks.map(({ id }) => id))
      return { account, name, first, results: callbacks.length }
    })
    .sort((a, b) => a.account - b.account)
})

/** Takes the price of callbacks, at most the balance: they are sent already. */
export const charge = Effect.fnUntraced(function* ({ callback }: Credits.Rules, sent: ReadonlyArray<Sent>) {
  if (callback === 0 || sent.length === 0) return
  const { query } = yield* Database
  const at = yield* Clock.currentTimeMillis
  for (const { account, first, name, results } of yield* groupsOf(sent)) {
    const [blockchain, network] = name.split("/") as [string, string]
    const chain = yield* Effect.orDie(Effect.fromResult(Chain.find(blockchain, network)))
    const wanted = Credits.onChain(callback, chain) * results
    const amount = Math.min(wanted, yield* CreditLedger.lock(account))
    if (amount === 0) continue
    yield* CreditLedger.add(account, -amount)
    const entry_key = `callback:${first}:${at}`
    yield* query((db) =>
      db
        .insertInto("credit_entry")
        .values({ account, entry_key, at, kind: "callback", amount: -amount, results, detail: name })
    )
  }
})
