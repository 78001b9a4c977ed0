/**
 * Occurrences whose wanted confirmation is yet to come: each is a row that the block which brings the confirmation turns
 * into a callback. For an each-confirmation event the row goes on to the next count, one count a block.
 */
import type { BlockHeader } from "@headwater/core/Block"
import * as Callback from "@headwater/core/events/Callback"
import * as Confirmations from "@headwater/core/events/Confirmations"
import { isEachConfirmation } from "@headwater/core/events/EventType"
import type { Occurrence, Subscription } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import { type Insertable, sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

/** A subscription as its callbacks name it. */
export type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "event" | "confirmations" | "host"> &
  Subscription

type PendingRow = Insertable<Tables["waiting"]>

/** The callback for one confirmation of an occurrence. */
const callback = (options: {
  readonly chain: number
  readonly subscriber: Pick<Subscriber, "id" | "reference_id" | "event" | "confirmations" | "host">
  readonly active: boolean
  readonly block: Pick<BlockHeader, "height" | "hash">
  readonly occurrence: string
  readonly item: Callback.Item
  readonly confirmation: number
  readonly now: number
}) => {
  const { block, confirmation, item, occurrence, subscriber, ...rest } = options
  const { confirmations, event } = subscriber
  return CallbackState.make({
    ...{ ...rest, subscriber, event, height: block.height },
    key: { blockHash: block.hash, occurrence, confirmation },
    item: isEachConfirmation(event) ? Callback.withConfirmations(item, confirmation, confirmations) : item
  })
}

/**
 * What the occurrences of a block are by the time that the chain's tip is at `tip`: the callbacks of every confirmation
 * that has come, and a row for the next one. A block that is committed is the tip itself.
 */
export const schedule = (
  chain: number,
  block: BlockHeader,
  occurrences: ReadonlyArray<Occurrence<Subscriber>>,
  tip: number,
  now: number
): { readonly due: ReadonlyArray<CallbackState.NewCallback>; readonly pending: ReadonlyArray<PendingRow> } => {
  const reached = Confirmations.at(tip, block.height)
  const due: Array<CallbackState.NewCallback> = []
  const pending: Array<PendingRow> = []
  for (const { item, occurrence, subscription: subscriber } of occurrences) {
    const each = isEachConfirmation(subscriber.event)
    const target = subscriber.confirmations
    for (let confirmation = each ? 1 : target; confirmation <= Math.min(target, reached); confirmation++) {
      due.push(callback({ chain, subscriber, active: true, block, occurrence, item, confirmation, now }))
    }
    if (reached >= target) continue
    const next = each ? reached + 1 : target
    pending.push({
      subscription: subscriber.id,
      chain,
      height: block.height,
      due_height: Confirmations.dueHeight(block.height, next),
      confirmation: next,
      target,
      each_confirmation: each ? 1 : 0,
      block_hash: block.hash,
      occurrence,
      item: JSON.stringify(item)
    })
  }
  return { due, pending }
}

export const add = Effect.fnUntraced(function* (pending: ReadonlyArray<PendingRow>) {
  const { insertMany } = yield* Database
  yield* insertMany("waiting", pending)
})

/** Takes the rows away whose last confirmation has come with the tip at `height`; the others go on to the next one. */
const advance = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
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
})

/** The height at which the next confirmation is due; infinity where none is pending. */
const nextDue = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const [next] = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select((select) => select.fn.min("due_height").as("height"))
      .where("chain", "=", chain)
  )
  return next?.height ?? Number.POSITIVE_INFINITY
})

/** The callbacks of one confirmation of each occurrence that has one due, and the height at which the next one is. */
const confirmOne = Effect.fnUntraced(function* (chain: number, height: number, now: number) {
  const { query } = yield* Database
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
  if (rows.length > 0) yield* advance(chain, height)
  const callbacks = rows.map(({ active, block_hash: hash, subscription: id, target: confirmations, ...row }) => {
    const { confirmation, event, host, occurrence, reference_id } = row
    return callback({
      ...{ chain, occurrence, confirmation, now },
      active: active === 1,
      subscriber: { id, reference_id, event, confirmations, host },
      block: { height: row.height, hash },
      item: JSON.parse(row.item) as Callback.Item
    })
  })
  return { callbacks, nextDue: yield* nextDue(chain) }
})

/**
 * The callbacks whose confirmation comes with the tip at `height`, those of the oldest block first, and the height at
 * which the next one is due. Behind blocks that were skipped several of one occurrence are due at once.
 */
export const confirm = Effect.fnUntraced(function* (chain: number, height: number, now: number) {
  const callbacks: Array<CallbackState.NewCallback> = []
  while (true) {
    const confirmed = yield* confirmOne(chain, height, now)
    callbacks.push(...confirmed.callbacks)
    if (confirmed.callbacks.length === 0 || confirmed.nextDue > height) return { callbacks, nextDue: confirmed.nextDue }
  }
})

/** Forgets what is pending for a subscription. */
export const remove = Effect.fnUntraced(function* (subscription: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("waiting").where("subscription", "=", subscription))
})

/** Forgets what is pending for the blocks above `fork`, which leave the chain. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("waiting").where("chain", "=", chain).where("height", ">", fork))
})
