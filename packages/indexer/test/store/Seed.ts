/** Rows that tests of callbacks begin with. */
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import type { CallbackState } from "@headwater/indexer/store/database/tables/CallbackTables"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

let accounts = 0

/** A new account; its id. */
export const account = Effect.gen(function* () {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .insertInto("account")
      // Without digits: a search for a height finds no account.
      .values({
        name: `account ${String(accounts++).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)]!)}`,
        created: 1
      })
      .returning("id")
  )
  return row!.id
})

/** A new subscription to blocks. */
export const subscription = Effect.fnUntraced(function* (account: number, callbackUrl: string, secret?: string) {
  const subscriptions = yield* Subscriptions
  return yield* subscriptions.create({
    account,
    chain,
    event: "BLOCK_MINED",
    address: undefined,
    callbackUrl,
    secret,
    confirmations: 1,
    allowDuplicates: true
  })
})

/** A subscription of account 1, with a reference of one's own, to a chain that was opened. */
export const subscriptionRow = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  reference: string,
  event: EventType,
  address: Uint8Array | null,
  { confirmations = 1, from = null }: { readonly confirmations?: number; readonly from?: number | null } = {}
) {
  const { query } = yield* Database
  const { id, revision } = yield* ChainRow.lockAndBumpRevision((yield* ChainRow.present(chain))!.id)
  yield* query((db) =>
    db.insertInto("subscription").values({
      ...{ reference_id: reference, account: 1, chain: id, revision, event, confirmations, address },
      ...{ callback_url: "https://receiver.test/", host: "receiver.test", created: 0, from_height: from, active: 1 }
    })
  )
})

/** What a commit leaves for a subscription: callbacks with keys `<referenceId>-<label><n>`; their ids. */
export const callbacks = Effect.fnUntraced(function* (
  { callbackUrl, id, referenceId }: Subscription,
  count: number,
  options: { readonly state?: CallbackState; readonly label?: string; readonly created?: number } = {}
) {
  const { insertMany, query } = yield* Database
  const now = options.created ?? (yield* Clock.currentTimeMillis)
  const [owner] = yield* query((db) => db.selectFrom("subscription").select("account").where("id", "=", id))
  const keys = Array.from({ length: count }, (_, i) => `${referenceId}-${options.label ?? ""}${i}`)
  yield* insertMany(
    "callback",
    keys.map((key, i) => ({
      subscription: id,
      host: new URL(callbackUrl).hostname,
      account: owner!.account,
      chain: 1,
      height: 100 + i,
      idempotency_key: key,
      event: "BLOCK_MINED",
      body: JSON.stringify({ referenceId, idempotencyKey: key, data: { item: { height: 100 + i } } }),
      state: options.state ?? "due",
      due: now,
      created: now
    }))
  )
  const found = yield* query((db) =>
    db.selectFrom("callback").select(["id", "idempotency_key"]).where("idempotency_key", "in", keys)
  )
  const ids = new Map(found.map(({ id, idempotency_key }) => [idempotency_key, id]))
  return keys.map((key) => ids.get(key)!)
})

/** Every callback of a subscription, in the order in which it was made. */
export const rows = Effect.fnUntraced(function* (subscription: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db.selectFrom("every_callback").selectAll().where("subscription", "=", subscription).orderBy("id")
  )
})
