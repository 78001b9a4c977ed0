/** Blocks that leave the chain, as the callbacks of the subscriptions that ask for them. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import { Database } from "../database/Database.ts"
import { chunksOf } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

/** A block that leaves the chain; its time is in seconds since the Unix epoch. */
type RevertedBlock = Pick<Row<"block">, "height" | "hash" | "time">

type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "account" | "host" | "event" | "active">

const events = [...eventsOfClass("block", "reorganisation")]

/** Callbacks that are written together: others have their turns on the event loop between. */
const atOnce = 500

const subscribersOf = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("subscription")
      .select(["id", "reference_id", "account", "host", "event", "active"])
      .where("chain", "=", chain)
      .where("event", "in", events)
      .where("address", "is", null)
      .where(isMatched())
      .orderBy("id")
  )
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
  const subscribers = yield* subscribersOf(id)
  const callback = (subscriber: Subscriber, block: RevertedBlock, times: number) =>
    CallbackState.make({
      ...{ subscriber, active: subscriber.active === 1, chain: id, event: subscriber.event, now },
      // No reorganisation takes back that a block has left.
      height: null,
      key: { blockHash: block.hash, occurrence: "reverted", confirmation: times },
      item: Callback.blockItem(chain, block)
    })
  for (const some of chunksOf(
    blocks.flatMap((block) => subscribers.map((subscriber) => ({ block, subscriber }))),
    atOnce
  )) {
    let callbacks = some.map(({ block, subscriber }) => callback(subscriber, block, 1))
    let told = yield* CallbackState.known(callbacks.map(({ idempotency_key }) => idempotency_key))
    for (let times = 2; told.size > 0; times++) {
      callbacks = callbacks.map((one, i) =>
        told.has(one.idempotency_key) ? callback(some[i]!.subscriber, some[i]!.block, times) : one
      )
      told = yield* CallbackState.known(callbacks.map(({ idempotency_key }) => idempotency_key))
    }
    yield* CallbackState.enter("added", callbacks)
  }
})
