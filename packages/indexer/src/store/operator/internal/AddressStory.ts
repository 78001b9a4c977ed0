/** Who watches an address, since when it is recorded, and what was last told of it. */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { sql } from "kysely"
import * as Completeness from "../../chain/Completeness.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import * as CallbackSummary from "./CallbackSummary.ts"
import * as Page from "./Page.ts"
import * as Parts from "./Parts.ts"
import * as Scope from "./Scope.ts"

/** The last callbacks of the address, and of how many of its subscriptions. */
const [shownCallbacks, askedSubscriptions] = [20, 20]

interface Subscribed {
  readonly id: number
  readonly reference_id: string
  readonly account_name: string
  readonly event: string
  readonly callback_url: string
  readonly active: number
  readonly created: number
  readonly listed: number
}

const columns = sql`s.id, s.reference_id, a.name as account_name, s.event, s.callback_url, s.active, s.created`

const subscriptionsOf = Effect.fnUntraced(function* (chain: number, address: Uint8Array, scope: Scope.Scope) {
  const { read } = yield* Database
  const own = Scope.filter(scope, "s.account")
  const alone = yield* read(
    rows(sql<Subscribed>`
      select ${columns}, 0 as listed from subscription s inner join account a on a.id = s.account
      where s.chain = ${chain} and s.address = ${address} ${own} limit ${Page.size + 1}`)
  )
  const listed = yield* read(
    rows(sql<Subscribed>`
      select ${columns}, 1 as listed from listed_address l
      inner join subscription s on s.id = l.subscription inner join account a on a.id = s.account
      where l.chain = ${chain} and l.address = ${address} and l.left_revision is null ${own} limit ${Page.size + 1}`)
  )
  return Page.of([...alone, ...listed])
})

const syncedOf = Effect.fnUntraced(function* (
  chain: number,
  address: Uint8Array,
  scope: Scope.Scope,
  { syncedAddresses, wallets }: Parts.Parts
) {
  const { read } = yield* Database
  if (!syncedAddresses && !wallets) return []
  const some = syncedAddresses ? (wallets ? sql`` : sql`and t.wallet = 0`) : sql`and t.wallet <> 0`
  // Active ones alone, which have an index.
  const found = yield* read(
    rows(sql<{
      readonly account: string
      readonly wallet: number
      readonly state: string
      readonly created: number
      readonly birth: number
      readonly next_height: number
      readonly last_height: number
    }>`
      select a.name as account, t.wallet, t.state, t.created, t.birth, t.next_height, t.last_height
      from synced_address t inner join account a on a.id = t.account
      where t.active = 1 and t.chain = ${chain} and t.address = ${address} ${Scope.filter(scope, "t.account")}
        ${some} limit ${Page.size}`)
  )
  return found.map(({ account, birth, created, last_height, next_height, state, wallet }) => ({
    ...{ account, wallet: wallet !== 0, state, active: true, created: created * 1000, birth },
    nextHeight: state === "tokens" ? next_height : null,
    lastHeight: state === "tokens" ? last_height : null
  }))
})

const walletsOf = Effect.fnUntraced(function* (
  chain: number,
  address: Uint8Array,
  scope: Scope.Scope,
  { wallets }: Parts.Parts
) {
  const { read } = yield* Database
  if (!wallets) return []
  const found = yield* read((db) =>
    db
      .selectFrom("wallet_address as t")
      .innerJoin("wallet as w", "w.id", "t.wallet")
      .innerJoin("account as a", "a.id", "w.account")
      .select(["a.name as account", "w.public_key", "t.branch", "t.address_index", "w.state", "w.active"])
      .where("t.chain", "=", chain)
      .where("t.address", "=", address)
      .$if(scope !== undefined, (select) => select.where("w.account", "=", scope!))
      .limit(Page.size)
  )
  return found.map(({ account, active, address_index, branch, public_key, state }) => ({
    ...{ account, publicKey: public_key, branch, index: address_index, state, active: active === 1 }
  }))
})

/** The last callbacks of some subscriptions, each of which the index of the feed answers; of a list also other addresses'. */
const callbacksOf = Effect.fnUntraced(function* (subscriptions: ReadonlyArray<Subscribed>, address: string) {
  const { read } = yield* Database
  const found = yield* Effect.forEach(subscriptions.slice(0, askedSubscriptions), ({ id }) =>
    read(
      rows(
        CallbackSummary.select(
          sql`select id from (
            select id, body from every_callback where subscription = ${id} order by sequence desc, id desc limit ${Page.size}
          ) newest where body like ${`%${address}%`}`
        )
      )
    )
  )
  return found
    .flat()
    .sort((a, b) => b.id - a.id)
    .slice(0, shownCallbacks)
    .map(CallbackSummary.of)
})

/** Whether anybody has to do with an address, or the account has, by the parts that may be seen. */
export const isKnown = Effect.fnUntraced(function* (
  chain: number,
  address: Uint8Array,
  scope: Scope.Scope,
  parts: Parts.Parts
) {
  if (parts.subscriptions && (yield* subscriptionsOf(chain, address, scope)).items.length > 0) return true
  if ((yield* syncedOf(chain, address, scope, parts)).length > 0) return true
  return (yield* walletsOf(chain, address, scope, parts)).length > 0
})

/**
 * The story of an address, without the parts that may not be seen; undefined where there is no such chain, or the text is no
 * address of it.
 */
export const read = Effect.fnUntraced(function* (
  chainName: string,
  text: string,
  scope: Scope.Scope,
  parts = Parts.all
) {
  const chain = Chain.ofName(chainName)
  const address = chain === undefined ? undefined : Result.getOrUndefined(Address.decodeWithTag(chain, text))
  const row = chain === undefined ? undefined : yield* ChainRow.find(chain)
  if (chain === undefined || address === undefined || row === undefined) return undefined
  const { hasMore, items } = yield* subscriptionsOf(row.id, address, scope)
  const synced = yield* syncedOf(row.id, address, scope, parts)
  const wallets = yield* walletsOf(row.id, address, scope, parts)
  const written = Address.encode(chain, address) ?? text
  const callbacks = yield* callbacksOf(items, written)
  const subscribed = parts.subscriptions ? items.length : callbacks.length
  // That others watch an address is not for an account to know.
  const isToBeTold = scope === undefined || subscribed + synced.length + wallets.length > 0
  const recorded = isToBeTold ? (yield* Completeness.of(chain, [address])).get(Bytes.key(address)) : undefined
  return {
    ...{ chain: chainName, address: written },
    watchedFrom:
      recorded === undefined
        ? null
        : {
            coins: recorded.coins ?? null,
            tokens: recorded.tokens ?? null,
            history: recorded.history ?? null,
            transactions: recorded.transactions ?? null
          },
    subscriptions: parts.subscriptions
      ? items.map(({ account_name, active, callback_url, created, event, listed, reference_id }) => ({
          ...{ referenceId: reference_id, account: account_name, event, callbackUrl: callback_url },
          ...{ active: active === 1, created, byList: listed === 1 }
        }))
      : undefined,
    synced: parts.syncedAddresses || parts.wallets ? synced : undefined,
    ...{ wallets: parts.wallets ? wallets : undefined, callbacks, hasMore },
    notKept: [
      ...(items.length > askedSubscriptions ? [`Callbacks are those of ${askedSubscriptions} subscriptions`] : []),
      "Callbacks are looked for among the last 50 of each subscription"
    ]
  }
})
