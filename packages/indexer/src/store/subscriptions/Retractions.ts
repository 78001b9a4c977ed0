/**
 * What becomes of a block's callbacks when the block is undone. One that has not left is gone; one that has left stays
 * in its subscription's feed, and where the account wants it, a retraction follows that names its key.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { chunksOf, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

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

/** Callbacks that are retracted together: others have their turns on the event loop between. */
const atOnce = 500

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

/**
 * Keeps senders from the callbacks of the undone blocks: a lease has the lock of its subscription, and what was leased
 * before has a number.
 */
const lockSubscriptions = Effect.fnUntraced(function* ({ chain, fork }: Left) {
  const { lockRows } = yield* Database
  yield* lockRows((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where("id", "in", (of) =>
        of.selectFrom("callback").select("subscription").where("chain", "=", chain).where("height", ">", fork)
      )
      .orderBy("id")
  )
})

/** In the transaction that undoes the blocks above `fork`: forgets what nobody was told yet. */
export const withdraw = Effect.fnUntraced(function* (chain: number, fork: number) {
  const undone = { chain, fork }
  yield* lockSubscriptions(undone)
  yield* CallbackState.apply("withdraw", ofBlocks(undone))
})

/** In the transaction that undoes the blocks above `fork`, the last of which was `tip`. */
export const takeBack = Effect.fnUntraced(function* (chain: number, fork: number, tip: Uint8Array, now: number) {
  const { numbers } = yield* Database
  const undone = { chain, fork, tip }
  yield* withdraw(chain, fork)
  for (const ids of chunksOf(yield* numbered(undone), atOnce)) {
    const originals = yield* wanted(ids)
    if (originals.length === 0) continue
    yield* CallbackState.enter(
      "added",
      originals.map((original) => retraction(original, undone, now))
    )
    yield* CallbackState.apply("retract", sql`id in ${numbers(originals.map(({ id }) => id))}`)
  }
  yield* CallbackState.apply("orphan", ofBlocks(undone))
})
