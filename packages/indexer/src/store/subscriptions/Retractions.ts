/**
 * What becomes of a block's callbacks when the block is undone. One that has not left is gone; one that has left stays
 * in its subscription's feed, and where the account wants it, a retraction follows that names its key.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

/** A callback's body, as far as its retraction repeats it. */
interface Body {
  readonly data: { readonly item: Callback.Item }
}

type Sent = Pick<Row<"callback">, "id" | "subscription" | "host" | "idempotency_key" | "event" | "body"> &
  Pick<Row<"subscription">, "reference_id" | "active" | "account">

/** The blocks that leave a chain: those above `fork`, of which the last was `tip`. */
interface Undone {
  readonly chain: number
  readonly fork: number
  readonly tip: Uint8Array
}

const ofBlocks = ({ chain, fork }: Undone) => sql`chain = ${chain} and height > ${fork}`

/** Ids that are looked at together: others have their turns on the event loop between. */
const idsAtOnce = 500

/** The first and the last of the callbacks, by their ids. */
const idsOf = Effect.fnUntraced(function* (undone: Undone) {
  const { query } = yield* Database
  const [ids] = yield* query(
    rows(sql<{ first: number | null; last: number | null }>`
      select min(id) as first, max(id) as last from callback where ${ofBlocks(undone)}`)
  )
  return { first: ids?.first ?? 0, last: ids?.last ?? -1 }
})

/**
 * Callbacks with a number, up to an id, of accounts that want retractions: the newest block goes first, as it left the
 * chain. The chain is an expression, or the index of heights would be read for each of many looks.
 */
const sentUpTo = Effect.fnUntraced(function* ({ chain, fork }: Undone, last: number) {
  const { query } = yield* Database
  return yield* query(
    rows(sql<Sent>`
      select callback.id, subscription, callback.host, idempotency_key, callback.event, body, reference_id, active,
        subscription.account
      from callback
      join subscription on subscription.id = callback.subscription
      join account on account.id = subscription.account
      where callback.id > ${last - idsAtOnce} and callback.id <= ${last}
        and callback.chain + 0 = ${chain} and callback.height > ${fork} and state in ('due', 'held', 'delivered')
        and account.retractions = 1
      order by callback.id desc`)
  )
})

const retraction = (original: Sent, { chain, tip }: Undone, now: number): CallbackState.NewCallback => {
  const { account, active, body, host, idempotency_key: revertedIdempotencyKey, reference_id, subscription } = original
  return CallbackState.make({
    subscriber: { id: subscription, reference_id, host, account },
    ...{ active: active === 1, chain, now },
    event: Callback.revertedEvent(original.event),
    // A retraction is no event of a block: no reorganisation takes it back.
    height: null,
    key: { blockHash: tip, occurrence: revertedIdempotencyKey, confirmation: 0 },
    item: { ...(JSON.parse(body) as Body).data.item, revertedIdempotencyKey }
  })
}

/**
 * Keeps senders from the callbacks of the undone blocks: a lease has the lock of its subscription, and what was leased
 * before has a number.
 */
const lockSubscriptions = Effect.fnUntraced(function* ({ chain, fork }: Undone) {
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

/** In the transaction that undoes the blocks above `fork`, the last of which was `tip`. */
export const takeBack = Effect.fnUntraced(function* (chain: number, fork: number, tip: Uint8Array, now: number) {
  const { numbers } = yield* Database
  const undone = { chain, fork, tip }
  yield* lockSubscriptions(undone)
  yield* CallbackState.apply("withdraw", ofBlocks(undone))
  const { first, last } = yield* idsOf(undone)
  for (let id = last; id >= first; id -= idsAtOnce) {
    const originals = yield* sentUpTo(undone, id)
    if (originals.length === 0) continue
    yield* CallbackState.enter(
      "added",
      originals.map((original) => retraction(original, undone, now))
    )
    // Those that were not accepted are orphaned below.
    yield* CallbackState.apply("retract", sql`id in ${numbers(originals.map(({ id }) => id))}`)
  }
  yield* CallbackState.apply("orphan", ofBlocks(undone))
})
