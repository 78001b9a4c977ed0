/**
 * What subscriptions were told, or are about to be told, of coins in mined blocks; and corrections of what was wrong.
 *
 * A callback that was wrong stays as it is, and one correction follows: an event of its own kind that names the wrong
 * callback's key. What is pending was not told yet, and is put right where it stands.
 */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import type { CoinItem, Confirmations } from "@headwater/core/events/CallbackItem"
import * as Filter from "@headwater/core/events/Filter"
import * as Hash from "@headwater/core/Hash"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Kysely, type RawBuilder, sql } from "kysely"
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Tables } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as CoinSubscribers from "./CoinSubscribers.ts"
import * as LeftMatches from "./LeftMatches.ts"
import type { Subscriber } from "./PendingConfirmations.ts"
import * as UndoneBlocks from "./UndoneBlocks.ts"

/** `data.item` of a callback; an each-confirmation event has the counts. */
type ToldItem = CoinItem & Partial<Confirmations>

/** A callback, or what is pending of one, or left to steps: then it has no key yet. */
export interface Told {
  /** Of the row; undefined for what is left to steps. */
  readonly id: number | undefined
  readonly subscriber: CoinSubscribers.CoinSubscriber
  readonly item: ToldItem
  readonly idempotencyKey: string | undefined
  /**
   * Whether the callback's block has left the chain: it was taken back, or stays as it was told, where the account wants no
   * retractions.
   */
  readonly takenBack: boolean
  /** Whether a correction of the callback is there. */
  readonly corrected: boolean
}

/** What is true instead of something that was told. */
export interface Correction {
  readonly told: { readonly id: number } & Pick<Told, "idempotencyKey">
  readonly item: CoinItem
  /** The occurrence of the true movement: part of the keys of its callbacks. */
  readonly occurrence: string
}

/** A block whose callbacks are looked at. */
interface AuditedBlock {
  readonly height: number
  readonly hash: Uint8Array
}

/**
 * Blocks above `after` and up to `to` that coins were told of, are pending of or are left to steps of, the lowest first, no
 * more than `limit`.
 */
export const heights = Effect.fn("ToldCoins.heights")(function* (
  chain: Chain.Chain,
  { after, to }: { readonly after: number; readonly to: number },
  limit: number
) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return []
  // From one height to the next: planners would read all callbacks of the chain, of which a block may have very many.
  const lowest = (above: RawBuilder<unknown>) => sql`
    (select min(height) from every_callback where chain = ${row.id} and height > ${above} and height <= ${to})`
  const told = yield* read(
    rows(sql<{ height: number }>`
      with recursive told(height) as (
        select ${lowest(sql`${after}`)}
        union all
        select ${lowest(sql`told.height`)} from told where told.height is not null
      )
      select height from told
      where height is not null and exists (
        select 1 from every_callback callback
        where chain = ${row.id} and callback.height = told.height and event in (${sql.join(CoinSubscribers.events)})
      )
      limit ${limit}`)
  )
  const pending = yield* read((db) =>
    db
      .selectFrom("waiting")
      .innerJoin("subscription", "subscription.id", "waiting.subscription")
      .select("waiting.height")
      .distinct()
      .where("waiting.chain", "=", row.id)
      .where("waiting.height", ">", after)
      .where("waiting.height", "<=", to)
      .where("subscription.event", "in", CoinSubscribers.events)
      .orderBy("waiting.height")
      .limit(limit)
  )
  const left = yield* LeftMatches.heights(row.id, { after, to }, limit)
  const all = new Set([...told, ...pending, ...left].map(({ height }) => height!))
  return [...all].sort((a, b) => a - b).slice(0, limit)
})

/**
 * Whether steps are still to take back what a block told that has left the chain, at the height or lower: it would be taken
 * for what the block at that height told.
 */
export const areUnsettled = Effect.fnUntraced(function* (chain: Chain.Chain, height: number) {
  const row = yield* ChainRow.find(chain)
  return row !== undefined && (yield* UndoneBlocks.mayReach(row.id, height))
})

/** Callbacks with their subscriptions, oldest first. */
const callbacks = (db: Kysely<Tables>) =>
  db
    .selectFrom("every_callback as callback")
    .innerJoin("subscription", "subscription.id", "callback.subscription")
    .select(["callback.id", "callback.idempotency_key", "callback.body", "callback.state", ...CoinSubscribers.columns])
    .orderBy("callback.id")

interface Body {
  readonly data: { readonly item: ToldItem }
}

/** Of what a list was told, the item alone names the address. */
const subscriberOfItem = (chain: Chain.Chain, row: CoinSubscribers.Columns, { address }: ToldItem) =>
  CoinSubscribers.fromRow(
    row,
    row.address === null ? Result.getOrThrow(Address.decodeWithTag(chain, address)) : undefined
  )

const takenBack: ReadonlySet<CallbackState.State> = new Set(["orphaned", "retracted"])

/** The parts of a correction's key: the same for every correction of one callback. */
const correctionKey = ({ hash }: Pick<AuditedBlock, "hash">, corrected: string) => ({
  blockHash: hash,
  occurrence: corrected,
  confirmation: 0
})

const keyOfCorrection = (block: AuditedBlock, { event, reference_id: referenceId }: Subscriber, corrected: string) =>
  Callback.idempotencyKey({
    referenceId,
    event: Callback.correctedEvent(event),
    ...correctionKey(block, corrected)
  })

/** Coins of a block that steps are still to tell. */
const leftToSteps = Effect.fnUntraced(function* (chain: number, { height }: AuditedBlock) {
  const { read } = yield* Database
  const left = yield* LeftMatches.ofCoins(chain, height)
  const ids = [...new Set(left.flatMap(({ subscriptions }) => subscriptions))]
  const rows = yield* inChunks(ids, (some) =>
    read((db) => db.selectFrom("subscription").select(CoinSubscribers.columns).where("subscription.id", "in", some))
  )
  const byId = new Map(rows.map((row) => [row.subscription, row]))
  return left.flatMap(({ address, matches, subscriptions }) =>
    subscriptions.flatMap((id) => {
      const row = byId.get(id)
      if (row === undefined) return []
      const subscriber = CoinSubscribers.fromRow(row, address)
      const meant = matches.filter(({ item }) => Filter.passes(subscriber.filter, item))
      return meant.map(
        ({ item }): Told => ({
          ...{ id: undefined, subscriber, idempotencyKey: undefined, takenBack: false, corrected: false },
          item: item as CoinItem
        })
      )
    })
  )
})

/** Tells what a subscription is told of a movement from every other: a list has many addresses. */
export const keyOf = (
  { address, id }: Pick<CoinSubscribers.CoinSubscriber, "address" | "id">,
  { transactionId }: Pick<CoinItem, "transactionId">
) => `${id} ${Bytes.key(address)} ${transactionId}`

/** The callbacks about a block, the pending ones, and those that are left to steps. */
export const of = Effect.fn("ToldCoins.of")(function* (chain: Chain.Chain, block: AuditedBlock) {
  const { read } = yield* Database
  const { id } = (yield* ChainRow.find(chain))!
  const told = yield* read((db) =>
    callbacks(db)
      .where("callback.chain", "=", id)
      .where("callback.height", "=", block.height)
      .where("callback.event", "in", CoinSubscribers.events)
  )
  const pending = yield* read((db) =>
    db
      .selectFrom("waiting")
      .innerJoin("subscription", "subscription.id", "waiting.subscription")
      .select(["waiting.id", "waiting.item", ...CoinSubscribers.columns])
      .where("waiting.chain", "=", id)
      .where("waiting.height", "=", block.height)
      .where("subscription.event", "in", CoinSubscribers.events)
      .orderBy("waiting.id")
  )
  const header = yield* BlockRow.find(id, block.height)
  const present = header && Hash.encode(chain, header.hash)
  const hasLeft = ({ minedInBlock }: ToldItem) => present !== undefined && minedInBlock.hash !== present
  const toldOf = told.map((row) => {
    // Written by this room only.
    const { item } = (JSON.parse(row.body) as Body).data
    return { row, item, subscriber: subscriberOfItem(chain, row, item) }
  })
  const pendingOf = pending.map((row) => {
    const item = JSON.parse(row.item) as CoinItem
    return { id: row.id, item, subscriber: subscriberOfItem(chain, row, item) }
  })
  const keys = toldOf.map(({ row, subscriber }) => keyOfCorrection(block, subscriber, row.idempotency_key))
  const corrections = yield* inChunks(keys, (some) =>
    read((db) =>
      db.selectFrom("every_callback").select(["idempotency_key", "state"]).where("idempotency_key", "in", some)
    )
  )
  const left = yield* leftToSteps(id, block)
  const corrected = new Set(
    corrections.flatMap(({ idempotency_key, state }) => (takenBack.has(state) ? [] : [idempotency_key]))
  )
  const isTold = new Set([...toldOf, ...pendingOf].map(({ item, subscriber }) => keyOf(subscriber, item)))
  return [
    ...toldOf.map(
      ({ item, row, subscriber }, i): Told => ({
        ...{ id: row.id, subscriber, item },
        idempotencyKey: row.idempotency_key,
        takenBack: takenBack.has(row.state) || hasLeft(item),
        corrected: corrected.has(keys[i]!)
      })
    ),
    ...pendingOf.map((one): Told => ({ ...one, idempotencyKey: undefined, takenBack: false, corrected: false })),
    // Of a subscription whose turn has begun, some may have been told.
    ...left.filter(({ item, subscriber }) => !isTold.has(keyOf(subscriber, item)))
  ]
})

/** The callbacks of corrections whose wrong callbacks are still there and were not taken back. */
const callbacksOf = Effect.fnUntraced(function* (
  of: Chain.Chain,
  chain: number,
  block: AuditedBlock,
  corrections: ReadonlyArray<Correction>,
  now: number
) {
  const { query } = yield* Database
  const byId = new Map(corrections.map((correction) => [correction.told.id, correction]))
  const rows = yield* inChunks([...byId.keys()], (some) =>
    query((db) => callbacks(db).where("callback.id", "in", some))
  )
  return rows.flatMap((row) => {
    if (takenBack.has(row.state)) return []
    const told = (JSON.parse(row.body) as Body).data.item
    const { currentConfirmations, targetConfirmations } = told
    const subscriber = subscriberOfItem(of, row, told)
    const item = byId.get(row.id)!.item
    const whole =
      currentConfirmations === undefined || targetConfirmations === undefined
        ? item
        : Callback.withConfirmations(item, currentConfirmations, targetConfirmations)
    return CallbackState.make({
      ...{ subscriber, chain, now, active: subscriber.active, height: block.height },
      event: Callback.correctedEvent(subscriber.event),
      key: correctionKey(block, row.idempotency_key),
      item: { ...whole, correctedIdempotencyKey: row.idempotency_key }
    })
  })
})

/**
 * Makes a correction for each wrong callback of a block, once for all time, and puts right what is pending. Nothing
 * happens where the block is not part of the chain any more, or what was told there is still to be taken back; whether
 * anything did.
 */
export const correct = Effect.fn("ToldCoins.correct")(function* (
  chain: Chain.Chain,
  block: AuditedBlock,
  corrections: ReadonlyArray<Correction>
) {
  const { query, transaction } = yield* Database
  const change = Effect.gen(function* () {
    const { id } = (yield* ChainRow.present(chain))!
    yield* ChainRow.lock(id)
    const header = yield* BlockRow.present(id, block.height)
    if (header === undefined || !Bytes.equal(header.hash, block.hash)) return false
    if (yield* UndoneBlocks.mayReach(id, block.height)) return false
    const told = corrections.filter(({ told }) => told.idempotencyKey !== undefined)
    yield* CallbackState.enter("corrected", yield* callbacksOf(chain, id, block, told, yield* Clock.currentTimeMillis))
    for (const { item, occurrence, told } of corrections) {
      if (told.idempotencyKey !== undefined) continue
      yield* query((db) =>
        db
          .updateTable("waiting")
          .set({ item: JSON.stringify(item), occurrence })
          .where("id", "=", told.id)
          .where("block_hash", "=", block.hash)
      )
    }
    return true
  })
  return yield* transaction(change)
})
