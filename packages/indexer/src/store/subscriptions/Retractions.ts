/**
 * What becomes of a block's callbacks when the block is undone. One that has not left is gone; one that has left stays
 * in its subscription's feed, and where the account wants it, a retraction follows that names its key.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import type { Insertable } from "kysely"
import { Database } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"

/** A callback's body, as far as its retraction repeats it. */
interface Body {
  readonly referenceId: string
  readonly data: { readonly item: Callback.Item }
}

/** In the transaction that undoes the blocks above `fork`, the last of which was `tip`. */
export const takeBack = Effect.fnUntraced(function* (chain: number, fork: number, tip: Uint8Array, now: number) {
  const { insertMany, query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("callback")
      .where("chain", "=", chain)
      .where("height", ">", fork)
      .where("sequence", "is", null)
      .where("state", "in", ["due", "held"])
  )
  const left = yield* query((db) =>
    db
      .selectFrom("callback")
      .innerJoin("subscription", "subscription.id", "callback.subscription")
      .innerJoin("account", "account.id", "subscription.account")
      .select(["callback.subscription", "callback.host", "callback.idempotency_key", "callback.event"])
      .select(["callback.body", "subscription.active"])
      .where("callback.chain", "=", chain)
      .where("callback.height", ">", fork)
      .where("callback.state", "in", ["due", "held", "delivered"])
      .where("account.retractions", "=", 1)
      // The newest block goes first, as it left the chain.
      .orderBy("callback.id", "desc")
  )
  const retractions = left.map((row): Insertable<Tables["callback"]> => {
    const { data, referenceId } = JSON.parse(row.body) as Body
    const event = Callback.revertedEvent(row.event)
    const idempotencyKey = Callback.idempotencyKey({
      ...{ referenceId, event, blockHash: tip },
      ...{ occurrence: row.idempotency_key, confirmation: 0 }
    })
    const item = { ...data.item, revertedIdempotencyKey: row.idempotency_key }
    return {
      subscription: row.subscription,
      host: row.host,
      chain,
      // It is no event of a block, so no reorganisation takes it back.
      height: null,
      idempotency_key: idempotencyKey,
      event,
      body: Callback.body({ referenceId, idempotencyKey, event, item }),
      state: row.active === 1 ? "due" : "held",
      due: now,
      created: now
    }
  })
  yield* insertMany("callback", retractions, "on conflict (idempotency_key) do nothing")
  yield* query((db) =>
    db
      .updateTable("callback")
      .set({ state: "orphaned" })
      .where("chain", "=", chain)
      .where("height", ">", fork)
      .where("state", "in", ["due", "held"])
  )
  const keys = left.map((row) => row.idempotency_key)
  for (let i = 0; i < keys.length; i += 500) {
    yield* query((db) =>
      db
        .updateTable("callback")
        .set({ state: "retracted" })
        .where("idempotency_key", "in", keys.slice(i, i + 500))
        .where("state", "=", "delivered")
    )
  }
})
