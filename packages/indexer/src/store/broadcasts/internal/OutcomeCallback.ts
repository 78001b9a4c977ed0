/** Callbacks that tell what became of a transaction that was broadcast, and the subscription that they belong to. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { type BroadcastEvent, broadcastSubscription } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../../subscriptions/CallbackState.ts"
import { Subscriptions } from "../../subscriptions/Subscriptions.ts"

/** Who is told the outcome, and where; without `callback` nobody is. */
export interface Subscriber {
  readonly account: number
  readonly chain: Chain
  readonly callback: { readonly url: string; readonly secret: string | undefined } | undefined
}

/** In a transaction: the subscription for the outcome of one broadcast. */
export const subscribe = Effect.fnUntraced(function* ({ account, callback, chain }: Subscriber) {
  if (callback === undefined) return null
  const { create } = yield* Subscriptions
  const made = yield* create({
    ...{ account, chain, event: broadcastSubscription, address: undefined, confirmations: 0, allowDuplicates: true },
    ...{ callbackUrl: callback.url, secret: callback.secret }
  })
  return made.id
})

/**
 * In a transaction that has the chain's lock: tells the outcome of a broadcast by its event, where that is another one
 * than was told last. Gives what the row has of it from now on.
 */
export const tell = Effect.fnUntraced(function* (
  chain: Chain,
  row: Row<"broadcast">,
  event: BroadcastEvent | undefined,
  now: number
) {
  const { query } = yield* Database
  if (event === undefined || event === row.told || row.subscription === null) return {}
  const subscription = row.subscription
  const [subscriber] = yield* query((db) => db.selectFrom("subscription").selectAll().where("id", "=", subscription))
  if (subscriber === undefined) return {}
  const tellings = row.tellings + 1
  const failed = event === "BROADCAST_TRANSACTION_FAIL" ? (row.error ?? "no node has the transaction") : undefined
  const callback = CallbackState.make({
    ...{ subscriber, active: subscriber.active === 1, chain: row.chain, event, height: null, now },
    key: {
      blockHash: undefined,
      occurrence: `broadcast:${Buffer.from(row.transaction_id).toString("hex")}`,
      confirmation: tellings
    },
    item: { ...Callback.broadcastItem(chain, row.transaction_id, failed) }
  })
  yield* CallbackState.enter("added", [callback])
  return { told: event, tellings }
})
