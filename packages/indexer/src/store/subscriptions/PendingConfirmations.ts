/**
 * Occurrences whose wanted confirmation is yet to come: each is a row that the block which brings the confirmation turns
 * into a callback. For an each-confirmation event the row goes on to the next count, one count a block.
 */
import type { BlockHeader } from "@headwater/core/Block"
import * as Callback from "@headwater/core/events/Callback"
import * as Confirmations from "@headwater/core/events/Confirmations"
import { isEachConfirmation } from "@headwater/core/events/EventType"
import type { Occurrence, Subscription } from "@headwater/core/events/Matcher"
import * as Steps from "@headwater/core/Steps"
import * as Effect from "effect/Effect"
import { type Insertable, type Kysely, type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"

/** A subscription as its callbacks name it. */
export type Subscriber = Pick<
  Row<"subscription">,
  "id" | "account" | "reference_id" | "event" | "confirmations" | "host"
> &
  Subscription & {
    readonly active: boolean
    /** Whether the address is one of the subscription's list. */
    readonly isListed?: boolean
    /** Where the address is below the subscription's extended public key: 0 receiving, 1 change, and the index there. */
    readonly place?: { readonly branch: number; readonly index: number } | undefined
  }

export type PendingRow = Insertable<Tables["waiting"]>

/** The callback for one confirmation of an occurrence. */
const callback = (options: {
  readonly chain: number
  readonly subscriber: Omit<Subscriber, "address">
  readonly block: Pick<BlockHeader, "height" | "hash">
  readonly occurrence: string
  readonly item: Callback.Item
  readonly confirmation: number
  readonly now: number
}) => {
  const { block, chain, confirmation, item, now, occurrence, subscriber } = options
  const { active, confirmations, event } = subscriber
  return CallbackState.make({
    subscriber,
    active,
    chain,
    event,
    height: block.height,
    now,
    key: { blockHash: block.hash, occurrence, confirmation },
    item: isEachConfirmation(event) ? Callback.withConfirmations(item, confirmation, confirmations) : item
  })
}

const rowOf = (
  chain: number,
  { hash, height }: Pick<BlockHeader, "height" | "hash">,
  { item, occurrence, subscription: { account, confirmations, event, id } }: Occurrence<Subscriber>,
  confirmation: number
): PendingRow => ({
  ...{ subscription: id, account, chain, height, due_height: Confirmations.dueHeight(height, confirmation) },
  ...{ confirmation, target: confirmations, each_confirmation: isEachConfirmation(event) ? 1 : 0 },
  ...{ block_hash: hash, occurrence, item: JSON.stringify(item) }
})

/** What of occurrences is due, and what is pending. */
export interface Scheduled {
  readonly due: ReadonlyArray<CallbackState.NewCallback>
  readonly pending: ReadonlyArray<PendingRow>
}

/**
 * What the occurrences of a block are by the time that the chain's tip is at `tip`: the callbacks of every confirmation
 * that has come, and a row for the next one. A block that is committed is the tip itself.
 */
export function* scheduleInSteps(
  chain: number,
  block: BlockHeader,
  occurrences: ReadonlyArray<Occurrence<Subscriber>>,
  tip: number,
  now: number
): Generator<void, Scheduled> {
  const reached = Confirmations.at(tip, block.height)
  const due: Array<CallbackState.NewCallback> = []
  const pending: Array<PendingRow> = []
  for (const { item, occurrence, subscription: subscriber } of occurrences) {
    yield
    const each = isEachConfirmation(subscriber.event)
    const target = subscriber.confirmations
    for (let confirmation = each ? 1 : target; confirmation <= Math.min(target, reached); confirmation++) {
      due.push(callback({ chain, subscriber, block, occurrence, item, confirmation, now }))
    }
    if (reached >= target) continue
    pending.push(rowOf(chain, block, { item, occurrence, subscription: subscriber }, each ? reached + 1 : target))
  }
  return { due, pending }
}

/** As {@link scheduleInSteps}, at once: of few occurrences. */
export const schedule = (...given: Parameters<typeof scheduleInSteps>) => Steps.atOnce(scheduleInSteps(...given))

/** The pending confirmations of a block's occurrences, from the first callback on, due or not. */
export const first = (
  chain: number,
  block: BlockHeader,
  occurrences: ReadonlyArray<Occurrence<Subscriber>>
): ReadonlyArray<PendingRow> =>
  occurrences.map((one) => {
    const { confirmations, event } = one.subscription
    return rowOf(chain, block, one, isEachConfirmation(event) ? 1 : confirmations)
  })

export const add = Effect.fnUntraced(function* (pending: ReadonlyArray<PendingRow>) {
  const { insertMany } = yield* Database
  yield* insertMany("waiting", pending)
})

/** Adds the confirmations of one block that are not there yet: a replay may have added some. */
export const addMissing = Effect.fnUntraced(function* (
  chain: number,
  height: number,
  pending: ReadonlyArray<PendingRow>
) {
  if (pending.length === 0) return
  const { query } = yield* Database
  const ids = [...new Set(pending.map(({ subscription }) => subscription))]
  const present = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select(["subscription", "occurrence"])
      .where("subscription", "in", ids)
      .where("chain", "=", chain)
      .where("height", "=", height)
  )
  const known = new Set(present.map(({ occurrence, subscription }) => `${subscription} ${occurrence}`))
  yield* add(pending.filter(({ occurrence, subscription }) => !known.has(`${subscription} ${occurrence}`)))
})

/** Takes the rows away whose last confirmation has come; the others go on to the next one. */
const advance = Effect.fnUntraced(function* (rows: ReadonlyArray<ConfirmedRow>) {
  const { defer, numbers } = yield* Database
  const [last, others] = [true, false].map((isLast) =>
    rows
      .filter(
        ({ confirmation, each_confirmation, target }) => isLast === (each_confirmation === 0 || confirmation >= target)
      )
      .map(({ id }) => id)
  )
  if (last!.length > 0) yield* defer((db) => db.deleteFrom("waiting").where("id", "in", sql<number>`${numbers(last!)}`))
  if (others!.length === 0) return
  yield* defer((db) =>
    db
      .updateTable("waiting")
      .set({ confirmation: sql`confirmation + 1`, due_height: sql`due_height + 1` })
      .where("id", "in", sql<number>`${numbers(others!)}`)
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

type ConfirmedRow = Row<"waiting"> & Pick<Row<"subscription">, "reference_id" | "event" | "active" | "host">

/** Confirmations that are due at tips up to `tip`, the lowest first, then by the blocks. */
const dueRows = (db: Kysely<Tables>, chain: number, tip: number) =>
  db
    .selectFrom("waiting")
    .innerJoin("subscription", "subscription.id", "waiting.subscription")
    .selectAll("waiting")
    .select(["subscription.reference_id", "subscription.event", "subscription.active", "subscription.host"])
    .where("waiting.chain", "=", chain)
    .where("waiting.due_height", "<=", tip)
    .orderBy("waiting.due_height")
    .orderBy("waiting.height")
    .orderBy("waiting.id")

/** The callbacks of one confirmation of each row; the rows go on to the next one. */
const confirmRows = Effect.fnUntraced(function* (chain: number, rows: ReadonlyArray<ConfirmedRow>, now: number) {
  if (rows.length > 0) yield* advance(rows)
  return rows.map(({ active, block_hash: hash, subscription: id, target: confirmations, ...row }) => {
    const { account, confirmation, event, host, occurrence, reference_id } = row
    return callback({
      ...{ chain, occurrence, confirmation, now },
      subscriber: { id, account, reference_id, event, confirmations, host, active: active === 1 },
      block: { height: row.height, hash },
      item: JSON.parse(row.item) as Callback.Item
    })
  })
})

/** The rows of the lowest tip among rows in the order of their tips: the next tip follows when all of these are told. */
const ofLowestTip = (rows: ReadonlyArray<ConfirmedRow>) =>
  rows.filter(({ due_height }) => due_height === rows[0]!.due_height)

/**
 * The callbacks whose confirmation comes with the tip at `height`, those of the oldest block first, and the height at
 * which the next one is due. Behind blocks that were skipped, and of past blocks, several of one occurrence are due at once.
 * Those of accounts that are `behind` are left, and where there are more than `most` others, these too: `isLeft`.
 */
export const confirm = Effect.fnUntraced(function* (
  chain: number,
  height: number,
  most: number,
  now: number,
  behind: ReadonlySet<number>
) {
  const { numbers, query } = yield* Database
  const others = sql<boolean>`waiting.account not in ${numbers([...behind])}`
  const isBehind = (account: number) => behind.has(account)
  const callbacks: Array<CallbackState.NewCallback> = []
  while (true) {
    const rows = yield* query((db) =>
      dueRows(db, chain, height)
        .$if(behind.size > 0, (due) => due.where(others))
        .limit(most + 1)
    )
    if (rows.length === 0) return { callbacks, nextDue: yield* nextDue(chain), isLeft: isBehind }
    if (callbacks.length + rows.length > most) return { callbacks, nextDue: height, isLeft: () => true }
    const lowest = ofLowestTip(rows)
    callbacks.push(...(yield* confirmRows(chain, lowest, now)))
    if (lowest.length < rows.length) continue
    const next = yield* nextDue(chain)
    if (next > height) return { callbacks, nextDue: next, isLeft: isBehind }
  }
})

/**
 * Some of the callbacks of an account whose confirmation has come by the tip, in their order; `most` at once. Where the
 * account has matches of an address that it was not told yet, later confirmations of its subscriptions to each of them wait for
 * these; those of lists, which have no address of their own, for matches of any.
 */
export const confirmOf = Effect.fnUntraced(function* (
  chain: number,
  account: number,
  tip: number,
  most: number,
  now: number
) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    dueRows(db, chain, tip)
      .where("waiting.account", "=", account)
      .where(
        sql<boolean>`(waiting.each_confirmation = 0 or not exists (
          select 1 from fan_out f join matched m on m.id = f.matched
          where f.chain = waiting.chain and f.account = waiting.account and m.height < waiting.due_height
            and (m.address = subscription.address or subscription.address is null)
        ))`
      )
      .limit(most)
  )
  return rows.length === 0 ? [] : yield* confirmRows(chain, ofLowestTip(rows), now)
})

/** Forgets some of what is pending, `most` rows; how many. */
export const removeSome = Effect.fnUntraced(function* (which: RawBuilder<unknown>, most: number) {
  const { numbers, query } = yield* Database
  const found = yield* query(rows(sql<{ id: number }>`select id from waiting where ${which} limit ${most}`))
  const ids = numbers(found.map(({ id }) => id))
  if (found.length > 0) yield* query(rows(sql`delete from waiting where id in ${ids}`))
  return found.length
})

/** Forgets what is pending for the blocks above `fork`, which leave the chain. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("waiting").where("chain", "=", chain).where("height", ">", fork))
})
