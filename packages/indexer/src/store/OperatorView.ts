/**
 * The store as an operator sees it in the console: of all accounts, by queries that read a page of an index and no more,
 * so that looking slows nobody down. Secrets are not read at all.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Hash from "@headwater/core/Hash"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type SqlBool, sql } from "kysely"
import * as ChainRow from "./database/ChainRow.ts"
import { Database } from "./database/Database.ts"

const pageSize = 50
/** Accounts that a search looks through, the oldest first. */
const accountLimit = 500
/** Of these, whose names are alike, so many are shown. */
const namedLimit = 10
/** Subscriptions with the same address, host or beginning of a reference that are put in order. */
const sameLimit = 1_000
/** Entries that the credit chart sums up, the newest. */
const entryLimit = 20_000
const dayMillis = 86_400_000

const chainOf = (name: string): Chain.Chain | undefined => {
  const [blockchain = "", network = ""] = name.split("/")
  return Result.getOrUndefined(Chain.find(blockchain, network))
}

type Condition = ReturnType<typeof sql<SqlBool>>

/** A condition that an index finds, but not in the order of ids. */
const some = (where: Condition): Condition =>
  sql<SqlBool>`subscription.id in (select id from subscription where ${where} limit ${sql.raw(String(sameLimit))})`

interface SubscriptionRow {
  readonly id: number
  readonly reference_id: string
  readonly account: number
  readonly account_name: string
  readonly chain_name: string
  readonly event: EventType
  readonly address: Uint8Array | null
  readonly callback_url: string
  readonly confirmations: number
  readonly created: number
  readonly active: number
  readonly deactivation_reasons: string
  readonly last_sequence: number
  readonly signed: SqlBool
}

const shownSubscription = (row: SubscriptionRow) => {
  const chain = chainOf(row.chain_name)
  return {
    referenceId: row.reference_id,
    account: row.account_name,
    chain: row.chain_name,
    event: row.event,
    address:
      row.address === null || chain === undefined ? null : (Address.encode(chain, row.address as AddressBytes) ?? null),
    callbackUrl: row.callback_url,
    confirmations: row.confirmations,
    created: row.created,
    active: row.active === 1,
    deactivationReasons: JSON.parse(row.deactivation_reasons) as unknown,
    lastSequence: row.last_sequence,
    signed: Boolean(row.signed)
  }
}

/** `https://host/path` for what begins like a host. */
const hostOf = (text: string) => text.replace(/^https?:\/\//, "").replace(/\/.*$/, "")

/** The first text after all that begin with `prefix`, in the order of both stores for plain ASCII. */
const after = (prefix: string) => `${prefix}\u007f`

export const make = Effect.gen(function* () {
  const database = yield* Database
  const { read } = database

  const chains = Effect.provideService(ChainRow.all, Database, database)

  const subscriptionsWhere = (where: Condition) =>
    read((db) =>
      db
        .selectFrom("subscription")
        .innerJoin("chain", "chain.id", "subscription.chain")
        .innerJoin("account", "account.id", "subscription.account")
        .select(["subscription.id", "reference_id", "subscription.account", "account.name as account_name"])
        .select(["chain.name as chain_name", "event", "address", "callback_url", "confirmations"])
        .select(["subscription.created", "active", "deactivation_reasons", "last_sequence"])
        .select(sql<SqlBool>`secret is not null`.as("signed"))
        .where(where)
        .orderBy("subscription.id", "desc")
        .limit(pageSize + 1)
    )

  /** Subscriptions that an address on any chain, a reference, an account's name or a host may mean. */
  const conditions = Effect.fnUntraced(function* (search: string) {
    const rows = yield* chains
    const accounts = yield* read((db) =>
      db.selectFrom("account").select(["id", "name"]).orderBy("id").limit(accountLimit)
    )
    const lower = search.toLowerCase()
    const found: Array<Condition> = []
    for (const { id, name } of rows) {
      const chain = chainOf(name)
      const address = chain === undefined ? undefined : Result.getOrUndefined(Address.decode(chain, search))
      if (address !== undefined) found.push(some(sql<SqlBool>`chain = ${id} and address = ${address}`))
    }
    if (/^[0-9a-f-]{1,36}$/.test(lower)) {
      found.push(some(sql<SqlBool>`reference_id >= ${lower} and reference_id < ${after(lower)}`))
    }
    const host = hostOf(lower)
    if (/^[a-z0-9.-]+$/.test(host) && accounts.length > 0) {
      const ids = sql.join(accounts.map(({ id }) => id))
      found.push(some(sql<SqlBool>`account in (${ids}) and host >= ${host} and host < ${after(host)}`))
    }
    // The index of lists has a chain's subscriptions in the order of their ids: the newest are its end.
    const named = accounts.filter(({ name }) => name.toLowerCase().includes(lower)).slice(0, namedLimit)
    for (const { id: account } of named) {
      for (const { id: chain } of rows) {
        found.push(sql<SqlBool>`subscription.account = ${account} and subscription.chain = ${chain}`)
      }
    }
    return found
  })

  /** The newest subscriptions that `search` may mean; of all where it is empty. */
  const subscriptions = Effect.fn("OperatorView.subscriptions")(function* (search: string) {
    // Each condition reads an index of its own, which no disjunction of them would.
    const wanted = search === "" ? [sql<SqlBool>`1 = 1`] : yield* conditions(search)
    const pages = yield* Effect.forEach(wanted, subscriptionsWhere)
    const byId = new Map(pages.flat().map((row) => [row.id, row]))
    const found = [...byId.values()].sort((a, b) => b.id - a.id)
    return { items: found.slice(0, pageSize).map(shownSubscription), hasMore: found.length > pageSize }
  })

  /** A subscription by its reference, with what its key is made of. */
  const subscription = Effect.fn("OperatorView.subscription")(function* (referenceId: string) {
    const [row] = yield* subscriptionsWhere(sql<SqlBool>`reference_id = ${referenceId}`)
    const chain = row === undefined ? undefined : chainOf(row.chain_name)
    return row === undefined || chain === undefined
      ? undefined
      : { id: row.id, account: row.account, chain, shown: shownSubscription(row) }
  })

  /** A subscription's callbacks, newest first, from below a number on; those without a number come first. */
  const callbacks = Effect.fn("OperatorView.callbacks")(function* (id: number, before: number | undefined) {
    const of = (where: Condition) =>
      read((db) =>
        db
          .selectFrom("callback")
          .select(["sequence", "idempotency_key", "event", "state", "body", "height", "created", "delivered", "due"])
          .select("attempt_log")
          .where("subscription", "=", id)
          .where(where)
          .orderBy("sequence", "desc")
          .orderBy("id", "desc")
          .limit(pageSize + 1)
      )
    const unnumbered = before === undefined ? yield* of(sql<SqlBool>`sequence is null`) : []
    const numbered = yield* of(sql<SqlBool>`sequence < ${before ?? Number.MAX_SAFE_INTEGER}`)
    const found = [...unnumbered, ...numbered]
    const items = found.slice(0, pageSize).map((row) => ({
      sequence: row.sequence,
      idempotencyKey: row.idempotency_key,
      event: row.event,
      state: row.state,
      height: row.height,
      created: row.created,
      delivered: row.delivered,
      nextAttempt: row.state === "due" ? row.due : null,
      attempts: JSON.parse(row.attempt_log) as unknown,
      body: row.body
    }))
    return { items, hasMore: found.length > pageSize }
  })

  const reorganisations = Effect.fn("OperatorView.reorganisations")(function* () {
    const rows = yield* read((db) =>
      db
        .selectFrom("reorganisation")
        .innerJoin("chain", "chain.id", "reorganisation.chain")
        .select(["chain.name", "at", "fork_height", "depth", "old_hash"])
        .orderBy("reorganisation.id", "desc")
        .limit(pageSize)
    )
    return rows.map(({ at, depth, fork_height, name, old_hash }) => {
      const chain = chainOf(name)
      const oldHash = chain === undefined ? "" : Hash.encode(chain, old_hash)
      return { chain: name, at, forkHeight: fork_height, depth, oldHash }
    })
  })

  /** Balances of the accounts. */
  const accounts = read((db) =>
    db
      .selectFrom("account")
      .leftJoin("credit_balance", "credit_balance.account", "account.id")
      .select(["account.name", "credit_balance.balance"])
      .orderBy("account.id")
      .limit(accountLimit)
  ).pipe(Effect.map((rows) => rows.map(({ balance, name }) => ({ name, balance: balance ?? 0 }))))

  /** What an account consumed and was granted on each of the last 30 days, by the newest of its entries. */
  const credits = Effect.fn("OperatorView.credits")(function* (account: string) {
    const now = yield* Clock.currentTimeMillis
    const today = Math.floor(now / dayMillis)
    const rows = yield* read((db) =>
      db
        .selectFrom((from) =>
          from
            .selectFrom("credit_entry")
            .select(["at", "amount"])
            .where("account", "=", (of) => of.selectFrom("account").select("id").where("name", "=", account))
            .orderBy("id", "desc")
            .limit(entryLimit)
            .as("entry")
        )
        .select(sql<number>`(at - at % ${sql.raw(String(dayMillis))}) / ${sql.raw(String(dayMillis))}`.as("day"))
        .select(sql<number | string>`sum(case when amount < 0 then -amount else 0 end)`.as("consumed"))
        .select(sql<number | string>`sum(case when amount > 0 then amount else 0 end)`.as("granted"))
        .select(sql<number | string>`count(*)`.as("entries"))
        .groupBy("day")
    )
    const byDay = new Map(rows.map((row) => [Number(row.day), row]))
    const days = Array.from({ length: 30 }, (_, i) => {
      const row = byDay.get(today - 29 + i)
      return {
        day: (today - 29 + i) * dayMillis,
        consumed: Number(row?.consumed ?? 0),
        granted: Number(row?.granted ?? 0)
      }
    })
    const counted = rows.reduce((sum, { entries }) => sum + Number(entries), 0)
    return { days, complete: counted < entryLimit }
  })

  const domains = Effect.fn("OperatorView.domains")(function* () {
    const rows = yield* read((db) =>
      db
        .selectFrom("domain")
        .innerJoin("account", "account.id", "domain.account")
        .select(["domain.name", "account.name as account", "domain.created", "domain.verified"])
        .orderBy("domain.id", "desc")
        .limit(accountLimit)
    )
    return rows
  })

  return { subscriptions, subscription, callbacks, reorganisations, accounts, credits, domains }
})

export type OperatorView = Effect.Success<typeof make>
