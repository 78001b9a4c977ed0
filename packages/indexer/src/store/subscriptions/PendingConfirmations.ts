/**
 * Confirmation waits: an occurrence whose wanted confirmation is yet to come is a row that the block which brings it
 * turns into a callback. An each-confirmation wait goes on to its next count, one count a block.
 */
import type { Block, BlockHeader } from "@headwater/core/Block"
import * as Callback from "@headwater/core/events/Callback"
import * as Confirmations from "@headwater/core/events/Confirmations"
import { isEachConfirmation } from "@headwater/core/events/EventType"
import type { Occurrence, Subscription } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import { type Insertable, sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Row, Tables } from "../database/Tables.ts"

/** A subscription as its callbacks name it. */
export type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "event" | "confirmations" | "host"> &
  Subscription

type CallbackRow = Insertable<Tables["callback"]>
type WaitingRow = Insertable<Tables["waiting"]>

const callbackRow = (options: {
  readonly chain: number
  readonly subscriber: Pick<Subscriber, "id" | "reference_id" | "event" | "host">
  readonly block: Pick<BlockHeader, "height" | "hash">
  readonly occurrence: string
  readonly item: Callback.Item
  readonly confirmation: number
  readonly state: "due" | "held"
  readonly now: number
}): CallbackRow => {
  const { block, chain, confirmation, item, now, occurrence, state } = options
  const { event, host, id, reference_id: referenceId } = options.subscriber
  const idempotencyKey = Callback.idempotencyKey({
    referenceId,
    event,
    blockHash: block.hash,
    occurrence,
    confirmation
  })
  return {
    subscription: id,
    host,
    chain,
    height: block.height,
    idempotency_key: idempotencyKey,
    event,
    body: Callback.body({ referenceId, idempotencyKey, event, item }),
    state,
    due: now,
    created: now
  }
}

/** A wait for the confirmation `next`. */
const waitingRow = (options: {
  readonly chain: number
  readonly subscriber: Subscriber
  readonly block: Pick<BlockHeader, "height" | "hash">
  readonly occurrence: string
  readonly item: Callback.Item
  readonly next: number
}): WaitingRow => {
  const { block, chain, item, next, occurrence, subscriber } = options
  return {
    subscription: subscriber.id,
    chain,
    height: block.height,
    due_height: Confirmations.dueHeight(block.height, next),
    confirmation: next,
    target: subscriber.confirmations,
    each_confirmation: isEachConfirmation(subscriber.event) ? 1 : 0,
    block_hash: block.hash,
    occurrence,
    item: JSON.stringify(item)
  }
}

/**
 * Takes the waits whose confirmation comes with the tip at `height`: their callbacks, oldest block first, and the height
 * that the next wait is due at.
 */
export const release = Effect.fnUntraced(function* (chain: number, height: number, now: number) {
  const { query, defer } = yield* Database
  const rows = yield* query((db) =>
    db
      .selectFrom("waiting")
      .innerJoin("subscription", "subscription.id", "waiting.subscription")
      .selectAll("waiting")
      .select(["subscription.reference_id", "subscription.event", "subscription.active", "subscription.host"])
      .where("waiting.chain", "=", chain)
      .where("waiting.due_height", "<=", height)
      .orderBy("waiting.height")
      .orderBy("waiting.id")
  )
  if (rows.length > 0) {
    yield* defer((db) =>
      db
        .deleteFrom("waiting")
        .where("chain", "=", chain)
        .where("due_height", "<=", height)
        .where(sql<boolean>`(each_confirmation = 0 or confirmation >= target)`)
    )
    yield* defer((db) =>
      db
        .updateTable("waiting")
        .set({ confirmation: sql`confirmation + 1`, due_height: sql`due_height + 1` })
        .where("chain", "=", chain)
        .where("due_height", "<=", height)
    )
  }
  const [next] = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select((select) => select.fn.min("due_height").as("height"))
      .where("chain", "=", chain)
  )
  const released = rows.map((row) => {
    const item = JSON.parse(row.item) as Callback.Item
    const { confirmation, occurrence, target } = row
    return callbackRow({
      ...{ chain, occurrence, confirmation, now },
      subscriber: { id: row.subscription, reference_id: row.reference_id, event: row.event, host: row.host },
      block: { height: row.height, hash: row.block_hash },
      item: row.each_confirmation === 1 ? Callback.withConfirmations(item, confirmation, target) : item,
      state: row.active === 1 ? "due" : "held"
    })
  })
  return { released, nextDue: next?.height ?? Number.POSITIVE_INFINITY }
})

/** What a block's occurrences become: callbacks that are due at once, and waits for later confirmations. */
export const sort = (
  chain: number,
  block: Block,
  occurrences: ReadonlyArray<Occurrence<Subscriber>>,
  now: number
): { readonly due: ReadonlyArray<CallbackRow>; readonly waiting: ReadonlyArray<WaitingRow> } => {
  const due: Array<CallbackRow> = []
  const waiting: Array<WaitingRow> = []
  for (const { item, occurrence, subscription: subscriber } of occurrences) {
    const each = isEachConfirmation(subscriber.event)
    const target = subscriber.confirmations
    if (each || target === 1) {
      due.push(
        callbackRow({
          ...{ chain, subscriber, block, occurrence, now, confirmation: 1, state: "due" },
          item: each ? Callback.withConfirmations(item, 1, target) : item
        })
      )
    }
    if (target === 1) continue
    const next = each ? 2 : target
    waiting.push(waitingRow({ chain, subscriber, block, occurrence, item, next }))
  }
  return { due, waiting }
}

/**
 * What the occurrences of a block below the tip have become by now: the callbacks of every confirmation that has come,
 * and a wait for the next one.
 */
export const caughtUp = (
  chain: number,
  block: Block,
  occurrences: ReadonlyArray<Occurrence<Subscriber>>,
  tip: number,
  now: number
): { readonly due: ReadonlyArray<CallbackRow>; readonly waiting: ReadonlyArray<WaitingRow> } => {
  const reached = Confirmations.at(tip, block.height)
  const due: Array<CallbackRow> = []
  const waiting: Array<WaitingRow> = []
  for (const { item, occurrence, subscription: subscriber } of occurrences) {
    const each = isEachConfirmation(subscriber.event)
    const target = subscriber.confirmations
    for (let confirmation = each ? 1 : target; confirmation <= Math.min(target, reached); confirmation++) {
      due.push(
        callbackRow({
          ...{ chain, subscriber, block, occurrence, now, confirmation, state: "due" },
          item: each ? Callback.withConfirmations(item, confirmation, target) : item
        })
      )
    }
    if (reached < target) {
      waiting.push(waitingRow({ chain, subscriber, block, occurrence, item, next: each ? reached + 1 : target }))
    }
  }
  return { due, waiting }
}
