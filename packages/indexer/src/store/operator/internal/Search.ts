/**
 * What a text may mean, of everything that the store has: each meaning is looked up by one index, and some rows of it are
 * shown. What no index has is looked for among the newest.
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { sql } from "kysely"
import * as BlockRow from "../../database/BlockRow.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import * as AddressStory from "./AddressStory.ts"
import * as BlockStory from "./BlockStory.ts"
import * as CallbackSummary from "./CallbackSummary.ts"
import * as HashText from "./HashText.ts"
import * as Page from "./Page.ts"
import * as Parts from "./Parts.ts"
import * as Scope from "./Scope.ts"
import * as SubscriptionList from "./SubscriptionList.ts"
import * as SubscriptionSearch from "./SubscriptionSearch.ts"

/** Where the console shows more. */
export type Target =
  | { readonly view: "callback"; readonly key: string }
  | { readonly view: "subscription"; readonly reference: string }
  | { readonly view: "block"; readonly chain: string; readonly block: string }
  | { readonly view: "transaction"; readonly chain: string; readonly id: string }
  | { readonly view: "address"; readonly chain: string; readonly address: string }
  | { readonly view: "account"; readonly account: string }
  | { readonly view: "host"; readonly account: string; readonly host: string }
  | { readonly view: "deliveries" | "chains" | "domains" }

export interface Hit {
  readonly kind:
    | "callback"
    | "subscription"
    | "address"
    | "transaction"
    | "block"
    | "account"
    | "wallet"
    | "host"
    | "domain"
  readonly title: string
  readonly detail: string
  readonly to: Target
}

/** Rows of one kind. */
const ofKind = 10
/** Blocks of all chains among which one is looked for by its hash. */
const blockLimit = 20_000

const hit = (kind: Hit["kind"], title: string, detail: string, to: Target): Hit => ({ kind, title, detail, to })

const callbacks = Effect.fnUntraced(function* (text: string, scope: Scope.Scope) {
  const { read } = yield* Database
  const found = yield* read(
    rows(
      sql<CallbackSummary.SummaryRow>`${CallbackSummary.select(
        sql`select id from every_callback where idempotency_key in (${text}, ${text.toLowerCase()})`
      )} ${Scope.filter(scope, "s.account")}`
    )
  )
  return found.map((row) =>
    hit("callback", row.idempotency_key, `${row.event}, ${row.state}, of ${row.account_name}`, {
      ...{ view: "callback", key: row.idempotency_key }
    })
  )
})

const subscriptions = Effect.fnUntraced(function* (text: string, scope: Scope.Scope) {
  const { items } = yield* SubscriptionList.newest(text, scope)
  const found = items
    .slice(0, ofKind)
    .map(({ shown: { account, address, chain, event, referenceId, transactionId } }) =>
      hit("subscription", referenceId, [event, chain, ...[transactionId ?? address ?? []].flat(), account].join(", "), {
        ...{ view: "subscription", reference: referenceId }
      })
    )
  return { found, hasMore: items.length > ofKind }
})

const addresses = Effect.fnUntraced(function* (
  chains: ReadonlyArray<ChainRow.ChainRow>,
  text: string,
  scope: Scope.Scope,
  parts: Parts.Parts
) {
  const hits: Array<Hit> = []
  for (const { id, name } of chains) {
    const chain = Chain.ofName(name)
    const address = chain === undefined ? undefined : Result.getOrUndefined(Address.decodeWithTag(chain, text))
    if (chain === undefined || address === undefined) continue
    if (!(yield* AddressStory.isKnown(id, address, scope, parts))) continue
    const written = Address.encode(chain, address) ?? text
    hits.push(hit("address", written, `watched on ${name}`, { view: "address", chain: name, address: written }))
  }
  return hits
})

/** Blocks and transactions by a hash, or blocks by a height. */
const blocks = Effect.fnUntraced(function* (
  chains: ReadonlyArray<ChainRow.ChainRow>,
  text: string,
  scope: Scope.Scope,
  parts: Parts.Parts
) {
  const { read } = yield* Database
  const hits: Array<Hit> = []
  const hash = HashText.decode(text)
  if (/^\d{1,15}$/.test(text)) {
    const height = Number(text)
    for (const { id, name } of chains) {
      const block = yield* BlockRow.find(id, height)
      if (block === undefined) continue
      const time = new Date(block.time * 1000).toISOString()
      hits.push(hit("block", `Block ${height}`, `${name}, ${time}`, { view: "block", chain: name, block: text }))
    }
  }
  if (hash === undefined) return hits
  for (const { id, name } of chains) {
    const chain = Chain.ofName(name)
    if (chain === undefined) continue
    const written = Hash.encode(chain, hash)
    const [named] = yield* read(
      rows(sql<{ place: string }>`
        select place from (
          select 'broadcast' as place from broadcast
          where chain = ${id} and transaction_id = ${hash} ${Scope.filter(scope, "account")}
            and ${parts.broadcasts ? sql`1 = 1` : sql`1 = 0`}
          union all
          select 'has unspent outputs' as place from unspent_output
          where chain = ${id} and transaction_id = ${hash} and ${scope === undefined ? sql`1 = 1` : sql`1 = 0`}
        ) named limit 1`)
    )
    const height =
      named === undefined ? yield* BlockStory.heightOfHash(id, hash, Math.ceil(blockLimit / chains.length)) : undefined
    if (height !== undefined) {
      hits.push(hit("block", written, `block ${height} of ${name}`, { view: "block", chain: name, block: written }))
      continue
    }
    // Each family writes its hashes in its own way: a text in another one is none of the chain's.
    if (named === undefined && !isWrittenAs(written, text)) continue
    const detail = named === undefined ? `on ${name}, by the newest callbacks` : `on ${name}, ${named.place}`
    hits.push(hit("transaction", written, detail, { view: "transaction", chain: name, id: written }))
  }
  return hits
})

const isWrittenAs = (written: string, text: string) => written.startsWith("0x") === /^0x/i.test(text)

const accountsNamed = Effect.fnUntraced(function* (text: string, scope: Scope.Scope) {
  const { read } = yield* Database
  const lower = text.toLowerCase()
  const { accounts: among, searched } = yield* SubscriptionSearch.accountsOf(scope)
  const [exact] = yield* read((db) =>
    db
      .selectFrom("account")
      .select(["id", "name"])
      .where("name", "=", text)
      .$if(scope !== undefined, (select) => select.where("id", "=", scope!))
  )
  const found = new Map(among.filter(({ name }) => name.toLowerCase().includes(lower)).map((one) => [one.id, one]))
  if (exact !== undefined) found.set(exact.id, exact)
  return {
    ...{ among, searched },
    hits: [...found.values()]
      .slice(0, ofKind)
      .map(({ name }) => hit("account", name, "account", { view: "account", account: name }))
  }
})

interface OfAccount {
  readonly account: string
  readonly name: string | null
}

/** The first host, and the first domain, of each account that begin with the text: one look into an index for each. */
const hosts = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<{ readonly id: number }>,
  text: string,
  parts: Parts.Parts
) {
  const { numbers, read } = yield* Database
  const host = SubscriptionSearch.hostOf(text.toLowerCase())
  if (!/^[a-z0-9.-]{2,253}$/.test(host)) return []
  const ids = numbers(accounts.map(({ id }) => id))
  const first = (table: "subscription" | "domain", column: "host" | "name") =>
    read(
      rows(sql<OfAccount>`
        select account, name from (
          select a.name as account, (
            select ${sql.ref(column)} from ${sql.table(table)} t
            where t.account = a.id and t.${sql.ref(column)} >= ${host}
              and t.${sql.ref(column)} < ${SubscriptionSearch.after(host)}
            order by t.${sql.ref(column)} limit 1
          ) as name from account a where a.id in ${ids}
        ) found where name is not null order by account limit ${ofKind}`)
    )
  const receivers = parts.subscriptions ? yield* first("subscription", "host") : []
  const domains = parts.domains ? yield* first("domain", "name") : []
  return [
    ...receivers.map(({ account, name }) =>
      hit("host", name!, `receives callbacks of ${account}`, { view: "host", account, host: name! })
    ),
    ...domains.map(({ account, name }) => hit("domain", name!, `domain of ${account}`, { view: "account", account }))
  ]
})

/** Wallets by the beginning of their extended public key. */
const wallets = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<{ readonly id: number }>,
  chains: ReadonlyArray<ChainRow.ChainRow>,
  text: string
) {
  const { numbers, read } = yield* Database
  if (!/^[a-zA-Z]{1,3}ub[1-9A-HJ-NP-Za-km-z]{4,120}$/.test(text)) return []
  const [of, on] = [numbers(accounts.map(({ id }) => id)), numbers(chains.map(({ id }) => id))]
  const find = (table: "wallet" | "synced_wallet") =>
    read(
      rows(sql<{ account: string; chain: string; key: string }>`
        select a.name as account, c.name as chain, w.public_key as key from ${sql.table(table)} w
        inner join account a on a.id = w.account inner join chain c on c.id = w.chain
        where w.account in ${of} and w.chain in ${on} and w.public_key >= ${text}
          and w.public_key < ${SubscriptionSearch.after(text)} limit ${ofKind}`)
    )
  const found = [...(yield* find("wallet")), ...(yield* find("synced_wallet"))]
  return found.map(({ account, chain, key }) =>
    hit("wallet", key, `wallet of ${account} on ${chain}`, { view: "account", account })
  )
})

/**
 * What the text may mean, the most certain first; of one account's own alone where there is a scope. `accountsSearched` is as
 * that of {@link SubscriptionList.newest}.
 */
export const hits = Effect.fnUntraced(function* (search: string, scope: Scope.Scope, parts = Parts.all) {
  const text = search.trim()
  if (text === "" || text.includes("\0")) return { items: [], hasMore: false, accountsSearched: null }
  const chains = yield* ChainRow.all
  const { among, hits, searched } = yield* accountsNamed(text, scope)
  const { found, hasMore } = parts.subscriptions ? yield* subscriptions(text, scope) : { found: [], hasMore: false }
  const page = Page.of([
    ...(parts.callbacks ? yield* callbacks(text, scope) : []),
    ...(yield* addresses(chains, text, scope, parts)),
    ...(yield* blocks(chains, text, scope, parts)),
    ...hits,
    ...(yield* hosts(among, text, parts)),
    ...(parts.wallets ? yield* wallets(among, chains, text) : []),
    ...found
  ])
  return { items: page.items, hasMore: hasMore || page.hasMore, accountsSearched: searched }
})
