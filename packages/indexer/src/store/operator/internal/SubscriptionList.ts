/** Subscriptions of all accounts as the console shows them: everything but the secret, which is not read at all. */
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { type SqlBool, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as SubscribedTo from "../../subscriptions/SubscribedTo.ts"
import * as Page from "./Page.ts"
import type { Scope } from "./Scope.ts"
import * as SubscriptionSearch from "./SubscriptionSearch.ts"

interface SubscriptionRow {
  readonly id: number
  readonly reference_id: string
  readonly account: number
  readonly account_name: string
  readonly chain_name: string
  readonly event: EventType
  readonly address: Uint8Array | null
  readonly callback_url: string
  readonly host: string
  readonly confirmations: number
  readonly created: number
  readonly active: number
  readonly deactivation_reasons: string
  readonly last_sequence: number
  readonly signed: SqlBool
}

const shown = (row: SubscriptionRow) => {
  const chain = Chain.ofName(row.chain_name)
  return {
    referenceId: row.reference_id,
    account: row.account_name,
    chain: row.chain_name,
    event: row.event,
    ...SubscribedTo.of(chain, row),
    callbackUrl: row.callback_url,
    confirmations: row.confirmations,
    created: row.created,
    active: row.active === 1,
    deactivationReasons: JSON.parse(row.deactivation_reasons) as unknown,
    lastSequence: row.last_sequence,
    signed: Boolean(row.signed)
  }
}

/** The newest subscriptions under a condition: a page of them, and one more where there are more. */
const newestWhere = Effect.fnUntraced(function* (condition: SubscriptionSearch.Condition, scope: Scope) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("subscription")
      .innerJoin("chain", "chain.id", "subscription.chain")
      .innerJoin("account", "account.id", "subscription.account")
      .select(["subscription.id", "reference_id", "subscription.account", "account.name as account_name"])
      .select(["chain.name as chain_name", "event", "address", "callback_url", "subscription.host", "confirmations"])
      .select(["subscription.created", "active", "deactivation_reasons", "last_sequence"])
      .select(sql<SqlBool>`secret is not null`.as("signed"))
      .where(condition)
      // As an expression that no index is by: those of the accounts' subscriptions are for conditions that name the chain too.
      .$if(scope !== undefined, (select) => select.where(sql<SqlBool>`+subscription.account = ${scope}`))
      .orderBy("subscription.id", "desc")
      .limit(Page.size + 1)
  )
})

/** What a subscription is called in the store. */
const identity = ({ account, active, host, id }: SubscriptionRow) => ({ id, account, host, active })

/**
 * The newest subscriptions that `search` may mean; of all subscriptions where the text is empty. `accountsSearched`: in how many
 * accounts names and hosts were looked for, where there are more accounts.
 */
export const newest = Effect.fnUntraced(function* (search: string, scope?: Scope) {
  const { any, searched } = yield* SubscriptionSearch.conditions(search, scope)
  // Each condition reads an index of its own, which no disjunction of them would.
  const pages = yield* Effect.forEach(any, (condition) => newestWhere(condition, scope))
  const byId = new Map(pages.flat().map((row) => [row.id, row]))
  const page = Page.of(
    [...byId.values()].sort((a, b) => b.id - a.id).map((row) => ({ row: identity(row), shown: shown(row) }))
  )
  return { ...page, accountsSearched: searched }
})

/** The subscription of a reference, as it is shown, and what names its callbacks in the store. */
export const find = Effect.fnUntraced(function* (referenceId: string, scope?: Scope) {
  const [row] = yield* newestWhere(sql<SqlBool>`reference_id = ${referenceId}`, scope)
  const chain = row === undefined ? undefined : Chain.ofName(row.chain_name)
  return row === undefined || chain === undefined ? undefined : { row: identity(row), chain, shown: shown(row) }
})
