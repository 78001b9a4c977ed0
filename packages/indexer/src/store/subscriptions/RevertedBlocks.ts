/** Blocks that leave the chain, as the callbacks of the subscriptions that ask for them. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import { Database } from "../database/Database.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

/** A block that leaves the chain; its time is in seconds since the Unix epoch. */
export type RevertedBlock = Pick<Row<"block">, "height" | "hash" | "time">

type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "account" | "host" | "event" | "active">

const events = [...eventsOfClass("block", "reorganisation")]

const subscribed = (db: Kysely<Tables>, chain: number) =>
  db
    .selectFrom("subscription as s")
    .where("s.chain", "=", chain)
    .where("s.event", "in", events)
    .where("s.address", "is", null)

const columns = ["id", "reference_id", "account", "host", "event", "active"] as const

/** Up to `most` of the subscriptions that ask for the blocks that leave a chain. */
export const subscribersOf = Effect.fnUntraced(function* (chain: number, most: number) {
  const { query } = yield* Database
  return yield* query((db) => subscribed(db, chain).select(columns).where(isMatched("s")).orderBy("id").limit(most))
})

/** The accounts of these subscriptions. */
export const accountsOf = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const found = yield* query((db) => subscribed(db, chain).select("account").distinct().where(isMatched("s")))
  return found.map(({ account }) => account)
})

/** The blocks above `fork`, the newest first, in the transaction that undoes them and before they are gone. */
export const above = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("block")
      .select(["height", "hash", "time"])
      .where("chain", "=", chain)
      .where("height", ">", fork)
      .orderBy("height", "desc")
  )
})

/** Enters a callback for each of the subscriptions and blocks. */
const enter = Effect.fnUntraced(function* (
  chain: Chain,
  id: number,
  some: ReadonlyArray<{ readonly block: RevertedBlock; readonly subscriber: Subscriber }>,
  now: number
) {
  const callback = (subscriber: Subscriber, block: RevertedBlock, times: number) =>
    CallbackState.make({
      ...{ subscriber, active: subscriber.active === 1, chain: id, event: subscriber.event, now },
      // No reorganisation takes back that a block has left.
      height: null,
      key: { blockHash: block.hash, occurrence: "reverted", confirmation: times },
      item: Callback.blockItem(chain, block)
    })
  let callbacks = some.map(({ block, subscriber }) => callback(subscriber, block, 1))
  let told = yield* CallbackState.known(callbacks.map(({ idempotency_key }) => idempotency_key))
  for (let times = 2; told.size > 0; times++) {
    callbacks = callbacks.map((one, i) =>
      told.has(one.idempotency_key) ? callback(some[i]!.subscriber, some[i]!.block, times) : one
    )
    told = yield* CallbackState.known(callbacks.map(({ idempotency_key }) => idempotency_key))
  }
  yield* CallbackState.enter("added", callbacks)
})

/**
 * Tells subscriptions of blocks that leave the chain, the newest first. A block that has left before, and come back, is told
 * again under another key.
 */
export const tell = Effect.fn("RevertedBlocks.tell")(function* (
  chain: Chain,
  id: number,
  blocks: ReadonlyArray<RevertedBlock>,
  now: number
) {
  if (blocks.length === 0) return
  const subscribers = yield* subscribersOf(id, Number.MAX_SAFE_INTEGER)
  const all = blocks.flatMap((block) => subscribers.map((subscriber) => ({ block, subscriber })))
  if (all.length > 0) yield* enter(chain, id, all, now)
})

/**
 * Tells up to `most` subscriptions of an account of a block that has left, those that were active at the chain's revision
 * of that time and whose ids are above `after`; their ids.
 */
export const tellSome = Effect.fnUntraced(function* (
  chain: Chain,
  { account, chain: id, revision }: { readonly account: number; readonly chain: number; readonly revision: number },
  block: RevertedBlock & { readonly after: number; readonly at: number },
  most: number
) {
  const { query } = yield* Database
  const subscribers = yield* query((db) =>
    subscribed(db, id)
      .select(columns)
      .where("s.account", "=", account)
      .where("s.id", ">", block.after)
      .where(sql<boolean>`s.active_from <= ${revision} and (${isMatched("s")} or s.revision > ${revision})`)
      .orderBy("s.id")
      .limit(most)
  )
  const told = subscribers.map((subscriber) => ({ block, subscriber }))
  if (told.length > 0) yield* enter(chain, id, told, block.at)
  return subscribers.map(({ id }) => id)
})
