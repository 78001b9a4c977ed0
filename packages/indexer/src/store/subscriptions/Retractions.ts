/**
 * The callbacks of a block that is undone. A callback that was not sent is deleted; one that was sent stays
 * in its subscription's feed, and where the account wants it, a retraction follows that names its key. What
 * is much is left to steps (`UndoneBlocks`).
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as PastCallbacks from "./internal/PastCallbacks.ts"

type Sent = Pick<Row<"callback">, "id" | "subscription" | "host" | "idempotency_key" | "event" | "body"> &
  Pick<Row<"subscription">, "reference_id" | "active" | "account">

/** The blocks that leave a chain: those above `fork`. */
interface Left {
  readonly chain: number
  readonly fork: number
}

/** Callbacks leave the chain with blocks, the last of which is `tip`. */
interface Undone {
  readonly chain: number
  readonly tip: Uint8Array
}

const ofBlocks = ({ chain, fork }: Left) => sql`chain = ${chain} and height > ${fork}`

/** What a retraction may follow, with a number: of the newest block first, as the blocks left the chain. */
const numbered = Effect.fnUntraced(function* (left: Left) {
  const { query } = yield* Database
  const found = yield* query(
    rows(sql<{ id: number }>`
      select id from callback
      where ${ofBlocks(left)} and state in ('due', 'held', 'delivered', 'expired') order by height desc, id desc`)
  )
  return found.map(({ id }) => id)
})

/** Callbacks that a retraction may follow, of accounts that want retractions; a retracted callback is not retracted again. */
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
        and callback.state in ('due', 'held', 'delivered', 'expired')
      order by callback.height desc, callback.id desc`)
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

/**
 * Keeps senders from the callbacks: a lease has the lock of its subscription, and what was leased before has a number. Past
 * callbacks are recalled.
 */
const lockSubscriptions = Effect.fnUntraced(function* (callbacks: RawBuilder<unknown>) {
  const { lockRows } = yield* Database
  yield* lockRows((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where(sql<boolean>`id in (select subscription from every_callback where ${callbacks})`)
      .orderBy("id")
  )
  yield* PastCallbacks.recall(callbacks)
})

/** In a transaction: forgets those of the callbacks that nobody was told yet. */
export const withdrawSome = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const { numbers } = yield* Database
  const some = sql`id in ${numbers(ids)}`
  yield* lockSubscriptions(some)
  yield* CallbackState.apply("withdraw", some)
})

/** In the transaction that undoes the blocks above `fork`: forgets what nobody was told yet. */
export const withdraw = Effect.fnUntraced(function* (chain: number, fork: number) {
  const undone = ofBlocks({ chain, fork })
  yield* lockSubscriptions(undone)
  yield* CallbackState.apply("withdraw", undone)
})

/** In a transaction: callbacks are retracted where their accounts want that, and else not sent any more. */
export const takeBackSome = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, undone: Undone, now: number) {
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
  yield* withdraw(chain, fork)
  yield* takeBackSome(yield* numbered({ chain, fork }), { chain, tip }, now)
})
