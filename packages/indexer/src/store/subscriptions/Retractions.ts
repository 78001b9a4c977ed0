/**
 * What becomes of a block's callbacks when the block is undone. One that has not left is gone; one that has left stays
 * in its subscription's feed, and where the account wants it, a retraction follows that names its key. Of very many the
 * most are taken back before the block is undone, in small steps: who sends may still send what no step has reached, as
 * if the block had left the chain a little later.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Clock from "effect/Clock"
import { type RawBuilder, sql } from "kysely"
import type { UndoStep } from "../chain/Projection.ts"
import { Database } from "../database/Database.ts"
import { callbacksAtOnce, whileMore } from "../database/SmallSteps.ts"
import { chunksOf, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"

type Sent = Pick<Row<"callback">, "id" | "subscription" | "host" | "idempotency_key" | "event" | "body"> &
  Pick<Row<"subscription">, "reference_id" | "active" | "account">

/** The blocks that leave a chain: those above `fork`. */
interface Left {
  readonly chain: number
  readonly fork: number
}

/** With the last of them. */
interface Undone extends Left {
  readonly tip: Uint8Array
}

const ofBlocks = ({ chain, fork }: Left) => sql`chain = ${chain} and height > ${fork}`

/** Callbacks that are retracted together: others have their turns on the event loop, and at the store, between. */
const atOnce = 500
/** Rows that the undoing of blocks takes back by itself. */
const few = 1_000

const unsent = sql`sequence is null and state in ('due', 'held')`

/** What a retraction may follow, with a number: of the newest block first, as the blocks left the chain. */
const numbered = Effect.fnUntraced(function* (undone: Undone) {
  const { query } = yield* Database
  const found = yield* query(
    rows(sql<{ id: number }>`
      select id from callback
      where ${ofBlocks(undone)} and state in ('due', 'held', 'delivered', 'expired') order by id desc`)
  )
  return found.map(({ id }) => id)
})

/** Those of the callbacks whose accounts want retractions. */
const wanted = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const { numbers, query } = yield* Database
  return yield* query(
    rows(sql<Sent>`
      select callback.id, subscription, callback.host, idempotency_key, callback.event, body, reference_id, active,
        subscription.account
      from callback
      join subscription on subscription.id = callback.subscription
      join account on account.id = subscription.account
      where callback.id in ${numbers(ids)} and account.retractions = 1
      order by callback.id desc`)
  )
})

const retraction = (original: Sent, { chain, tip }: Undone, now: number): CallbackState.NewCallback => {
  const { account, active, body, host, id, reference_id, subscription } = original
  const revertedIdempotencyKey = original.idempotency_key
  return CallbackState.make({
    subscriber: { id: subscription, reference_id, host, account },
    ...{ active: active === 1, chain, now },
    event: Callback.revertedEvent(original.event),
    // A retraction is no event of a block: no reorganisation takes it back.
    height: null,
    key: { blockHash: tip, occurrence: revertedIdempotencyKey, confirmation: 0 },
    item: { ...Callback.itemOf(body), revertedIdempotencyKey },
    original: id
  })
}

/** Keeps senders from the callbacks: a lease has the lock of its subscription, and what was leased before has a number. */
const lockSubscriptions = Effect.fnUntraced(function* (callbacks: RawBuilder<unknown>) {
  const { lockRows } = yield* Database
  yield* lockRows((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where(sql<boolean>`id in (select subscription from callback where ${callbacks})`)
      .orderBy("id")
  )
})

/** In the transaction that undoes the blocks above `fork`: forgets what nobody was told yet. */
export const withdraw = Effect.fnUntraced(function* (chain: number, fork: number) {
  const undone = { chain, fork }
  yield* lockSubscriptions(ofBlocks(undone))
  yield* CallbackState.apply("withdraw", ofBlocks(undone))
})

/** In a transaction: callbacks are retracted where their accounts want that, and else not sent any more. */
const takeBackSome = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, undone: Undone, now: number) {
  const { numbers } = yield* Database
  const originals = yield* wanted(ids)
  if (originals.length > 0) {
    yield* CallbackState.enter(
      "added",
      originals.map((original) => retraction(original, undone, now))
    )
    yield* CallbackState.apply("retract", sql`id in ${numbers(originals.map(({ id }) => id))}`)
  }
  yield* CallbackState.apply("orphan", sql`id in ${numbers(ids)}`)
})

/** In the transaction that undoes the blocks above `fork`, the last of which was `tip`. */
export const takeBack = Effect.fnUntraced(function* (chain: number, fork: number, tip: Uint8Array, now: number) {
  const undone = { chain, fork, tip }
  yield* withdraw(chain, fork)
  for (const ids of chunksOf(yield* numbered(undone), atOnce)) yield* takeBackSome(ids, undone, now)
})

/** Whether the blocks above `fork` have more than the undoing takes back by itself. */
export const areMany = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  const undone = ofBlocks({ chain, fork })
  const found = yield* query(
    rows(sql`
      select 1 from (select id from callback where ${undone} limit ${few + 1}) callbacks
      union all
      select 1 from (select id from waiting where ${undone} limit ${few + 1}) pending`)
  )
  return found.length > few
})

/**
 * Takes back what the blocks above `fork` have, before they are undone, each step by `step`: in a transaction in which they
 * are still to be undone. Nothing may be told of the blocks meanwhile.
 */
export const takeBackMany = Effect.fnUntraced(function* (undone: Undone, step: UndoStep) {
  const now = yield* Clock.currentTimeMillis
  const ofUndone = ofBlocks(undone)
  const forget = Effect.map(PendingConfirmations.removeSome(ofUndone, callbacksAtOnce), (n) => n === callbacksAtOnce)
  yield* whileMore(step(forget))
  const withdrawSome = Effect.gen(function* () {
    const { numbers, query } = yield* Database
    const found = yield* query(
      rows(sql<{ id: number }>`select id from callback where ${ofUndone} and ${unsent} limit ${callbacksAtOnce}`)
    )
    const some = sql`id in ${numbers(found.map(({ id }) => id))}`
    yield* lockSubscriptions(some)
    yield* CallbackState.apply("withdraw", some)
    return found.length === callbacksAtOnce
  })
  yield* whileMore(step(withdrawSome))
  const left = [...chunksOf(yield* numbered(undone), atOnce)].reverse()
  const retractSome = Effect.suspend(() => {
    const ids = left.pop()
    return ids === undefined ? Effect.succeed(false) : Effect.as(takeBackSome(ids, undone, now), left.length > 0)
  })
  yield* whileMore(step(retractSome))
})
