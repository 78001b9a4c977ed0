/**
 * Movements of coins in doubt: an input that may be the address's own spends an output that nobody has shown. No callback
 * is made of such a movement; a row keeps the movement until the output is known, and the block is entered again.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import type { Occurrence, Subscription, Unresolved } from "@headwater/core/events/Matcher"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { type Kysely, type RawBuilder, sql } from "kysely"
import * as BlockRange from "../chain/BlockRange.ts"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row, Tables } from "../database/Tables.ts"

/** A movement in doubt. */
export interface UnresolvedEvent {
  readonly height: number
  readonly transactionId: Uint8Array
  readonly address: AddressBytes
  /** Why the movement is in doubt, for people. */
  readonly reason: string
}

/** The remedies for movements in doubt, for the operator. */
export const remedy =
  "The callbacks follow by themselves once a node of the chain has an index of transactions (txindex=1). With a node that " +
  "shows prevouts (Bitcoin Core 23, Bitcoin Cash Node 28, Dash Core 23) no movement comes to be in doubt, and few do with one that " +
  "searches coins (scantxoutset)"

const reasonNotUnderstood = "a part of the transaction is not understood"

const reason = "an input may spend coins of the address that are neither recorded nor shown by the node"

type Found = ReadonlyArray<Unresolved<Subscription>>

/** The rows for what was found in a block: one for each transaction and address. */
export const rowsOf = (chain: number, { height }: Pick<Block, "height">, found: Found) => {
  const rows = new Map<string, Row<"unresolved_event">>()
  for (const { address, notUnderstood, transactionId } of found) {
    const key = `${Bytes.key(transactionId)} ${Bytes.key(address)}`
    const why = notUnderstood ? reasonNotUnderstood : reason
    rows.set(key, { chain, height, transaction_id: transactionId, address, reason: why })
  }
  return [...rows.values()]
}

/** Keeps what is in doubt in a block that is entered again. */
export const add = Effect.fnUntraced(function* (chain: number, block: Pick<Block, "height">, found: Found) {
  const { insertMany } = yield* Database
  yield* insertMany("unresolved_event", rowsOf(chain, block, found), "on conflict do nothing")
})

const eventOf = ({ address, height, reason, transaction_id }: Row<"unresolved_event">): UnresolvedEvent => ({
  ...{ height, reason, transactionId: transaction_id },
  address: address as AddressBytes
})

/** The events that a movement in doubt keeps back. */
const events = [...eventsOfClass("coin", "block")]
/** Of a subscription that is called `s`. */
const isOfCoins = sql<boolean>`s.event in (${sql.join(events.map((event) => sql.lit(event)))})`

/**
 * Whether a subscription is on the address of a movement `u`, by itself or by its list; `where`: which one, called `s`.
 * Each by an index of its own, which a join with the view of both would not use.
 */
const isSubscribed = (where: RawBuilder<unknown>) => sql<boolean>`(
  exists (select 1 from subscription s where s.chain = u.chain and s.address = u.address and ${where})
  or exists (
    select 1 from listed_address a join subscription s on s.id = a.subscription
    where a.chain = u.chain and a.address = u.address and a.left_revision is null and ${where}))`

/**
 * Those of the addresses, by their key, with a subscription that nothing is parked for: its event is kept until it is
 * active again, and on a list until the address has begun again.
 */
const withoutParking = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query(
      rows(sql<{ readonly address: Uint8Array }>`
        select s.address from subscription s
        where s.chain = ${chain} and s.address in (${sql.join(some)}) and not (${isMatched("s")}) and ${isOfCoins}
        union all
        select a.address from listed_address a join subscription s on s.id = a.subscription
        where a.chain = ${chain} and a.address in (${sql.join(some)}) and a.left_revision is null
          and (not (${isMatched("s")}) or a.revision < s.active_from) and ${isOfCoins}`)
    )
  )
  return new Set(found.map(({ address }) => Bytes.key(address)))
})

/**
 * In the transaction that enters a block again: forgets what is not in doubt any more, which is the answer. A movement of
 * a subscription that nothing is parked for stays.
 */
export const keepOnly = Effect.fnUntraced(function* (chain: number, { height }: Pick<Block, "height">, found: Found) {
  const { defer, query } = yield* Database
  const stored = yield* query((db) =>
    db.selectFrom("unresolved_event").selectAll().where("chain", "=", chain).where("height", "=", height)
  )
  const inDoubt = new Set(
    found.map(({ address, transactionId }) => `${Bytes.key(transactionId)} ${Bytes.key(address)}`)
  )
  const decided = stored.filter(
    ({ address, transaction_id }) => !inDoubt.has(`${Bytes.key(transaction_id)} ${Bytes.key(address)}`)
  )
  const kept = yield* withoutParking(
    chain,
    decided.map(({ address }) => address)
  )
  for (const { address, transaction_id } of decided) {
    if (kept.has(Bytes.key(address))) continue
    yield* defer((db) =>
      db
        .deleteFrom("unresolved_event")
        .where("chain", "=", chain)
        .where("height", "=", height)
        .where("transaction_id", "=", transaction_id)
        .where("address", "=", address)
    )
  }
  return decided.map(eventOf)
})

/** The movements of a chain in doubt, but for those whose subscriptions nothing is parked for. */
const ofChain = (db: Kysely<Tables>, chain: Chain.Chain) =>
  db
    .selectFrom("unresolved_event as u")
    .innerJoin("chain", "chain.id", "u.chain")
    .where("chain.name", "=", Chain.nameOf(chain))
    .where(isSubscribed(sql`${isMatched("s")} and ${isOfCoins}`))

/** The occurrences that are of these movements. */
export const occurrencesOf = <O extends Occurrence<Subscription>>(
  movements: ReadonlyArray<UnresolvedEvent>,
  occurrences: ReadonlyArray<O>
): ReadonlyArray<O> => {
  const wanted = new Set(
    movements.map(
      ({ address, transactionId }) => `coin:${Buffer.from(transactionId).toString("hex")} ${Bytes.key(address)}`
    )
  )
  return occurrences.filter(({ occurrence, subscription: { address } }) => {
    const [kind, transaction] = occurrence.split(":", 2)
    return address !== undefined && wanted.has(`${kind}:${transaction} ${Bytes.key(address)}`)
  })
}

/** Forgets what was in doubt in the blocks above `fork`, which leave the chain. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("unresolved_event").where("chain", "=", chain).where("height", ">", fork))
})

/** Blocks above `height` with a movement in doubt, the lowest first; no more than `limit`. */
export const heightsAbove = Effect.fn("UnresolvedEvents.heightsAbove")(function* (
  chain: Chain.Chain,
  height: number,
  limit: number
) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    ofChain(db, chain).select("u.height").distinct().where("u.height", ">", height).orderBy("u.height").limit(limit)
  )
  return found.map(({ height }) => height)
})

/** The movements of one block in doubt. */
export const at = Effect.fn("UnresolvedEvents.at")(function* (chain: Chain.Chain, height: number) {
  const { read } = yield* Database
  const found = yield* read((db) => ofChain(db, chain).selectAll("u").where("u.height", "=", height))
  return found.map(eventOf)
})

/** Forgets movements of addresses that nobody is subscribed to any more, nor has in a list. */
export const forgetUnsubscribed = Effect.fn("UnresolvedEvents.forgetUnsubscribed")(function* (chain: Chain.Chain) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("unresolved_event as u")
      .where("u.chain", "=", (row) => row.selectFrom("chain").select("id").where("name", "=", Chain.nameOf(chain)))
      .where(({ not }) => not(isSubscribed(sql`1 = 1`)))
  )
})

/** A subscription's movements in doubt, which have no callback: a page, oldest first, and how many there are in all. */
export const ofSubscription = Effect.fn("UnresolvedEvents.ofSubscription")(function* (
  subscription: number,
  { limit, offset }: { readonly limit: number; readonly offset: number }
) {
  const { read } = yield* Database
  const kept = (db: Kysely<Tables>) =>
    db
      .selectFrom("unresolved_event as u")
      .where("u.chain", "=", (row) => row.selectFrom("subscription").select("chain").where("id", "=", subscription))
      .where(
        sql<boolean>`(
          exists (
            select 1 from subscription s
            where s.id = ${subscription} and s.address = u.address and ${isOfCoins}
              and (s.from_height is null or s.from_height < u.height))
          or exists (
            select 1 from listed_address a join subscription s on s.id = a.subscription
            where a.subscription = ${subscription} and a.address = u.address and a.left_revision is null and ${isOfCoins}
              and (a.from_height is null or a.from_height < u.height)))`
      )
  const [count] = yield* read((db) => kept(db).select(({ fn }) => fn.countAll<number>().as("total")))
  const found = yield* read((db) =>
    kept(db).selectAll("u").orderBy("u.height").orderBy("u.transaction_id").limit(limit).offset(offset)
  )
  return { total: count!.total, events: found.map(eventOf) }
})

/** The movements of a chain in doubt, oldest first. */
export const list = Effect.fn("UnresolvedEvents.list")(function* (chain: Chain.Chain, limit: number) {
  const { read } = yield* Database
  const found = yield* read((db) => ofChain(db, chain).selectAll("u").orderBy("u.height").limit(limit))
  return found.map(eventOf)
})

/** Movements in doubt: how many, and the first and the last of their blocks. */
export interface Count extends BlockRange.BlockRange {
  readonly events: number
}

/** Movements in doubt, why they are, and what decides them: for the operator. */
export const describe = (count: Count): string => {
  const one = count.events === 1
  return (
    `${one ? "1 movement" : `${count.events} movements`} of coins in ${BlockRange.describe(count)} ` +
    `${one ? "is in doubt and has" : "are in doubt and have"} no callback yet: ${reason}. ${remedy}`
  )
}

/** How many movements of a chain are in doubt; undefined where none is. */
export const count = Effect.fn("UnresolvedEvents.count")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    ofChain(db, chain).select(({ fn }) => [
      fn.countAll<number>().as("events"),
      fn.min("u.height").as("from"),
      fn.max("u.height").as("to")
    ])
  )
  if (row === undefined || row.events === 0) return undefined
  return { events: row.events, from: row.from, to: row.to } satisfies Count
})
