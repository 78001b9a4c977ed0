/**
 * A subscription's callbacks as its account sees them: a feed numbered 1, 2, 3 … that can be read beside, or instead
 * of, what is sent; what became of each; and the two that an account asks for itself, one again and one as a test.
 *
 * A callback gets its number when it is first sent or first shown, whichever comes first.
 */
import { randomUUID } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import * as Callback from "@headwater/core/events/Callback"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { CallbackState, Row } from "../database/Tables.ts"
import * as AttemptLog from "./internal/AttemptLog.ts"
import { Outbox, Retention } from "./Outbox.ts"
import { type SubscriptionKey, type SubscriptionNotFound, Subscriptions } from "./Subscriptions.ts"

/** A callback with everything that happened to it. */
export interface FeedCallback {
  /** Its number; undefined in the answer to `test`, until it is sent. */
  readonly sequence: number | undefined
  readonly idempotencyKey: string
  readonly event: string
  readonly state: CallbackState
  /** The JSON text that is signed and sent. */
  readonly body: string
  /** Milliseconds since the Unix epoch, as all times here. */
  readonly created: number
  readonly delivered: number | undefined
  /** When it is sent next; undefined where it is not going to be as things are. */
  readonly nextAttempt: number | undefined
  /** The last ones, oldest first. */
  readonly attempts: ReadonlyArray<AttemptLog.Attempt>
}

export interface SubscriptionStatus {
  /** The last block that was matched; undefined where there was none yet. */
  readonly evaluatedHeight: number | undefined
  readonly lastMatch: number | undefined
  readonly lastDelivery: number | undefined
  /** The highest number given. */
  readonly lastSequence: number
  /** Callbacks whose first attempt is to come, and that are sent again. */
  readonly waiting: number
  readonly retrying: number
  /** Callbacks held back, because it is inactive or its host is unverified; and since when. */
  readonly held: number
  readonly heldSince: number | undefined
  /** How long, and how many, callbacks are kept that wait for the verification of their host. */
  readonly heldMillis: number
  readonly heldCount: number
}

/** The subscription has no callback with this key. */
export class CallbackNotFound extends Schema.TaggedError<CallbackNotFound>()("CallbackNotFound", {
  idempotencyKey: Schema.String
}) {}

/** The callback cannot be sent as things are. */
export class CallbackNotSendable extends Schema.TaggedError<CallbackNotSendable>()("CallbackNotSendable", {
  message: Schema.String
}) {}

export interface Page {
  /** The number of the last callback before the page; 0 for the first page. */
  readonly after: number
  readonly limit: number
}

export interface Feed {
  /** In the order of their numbers. */
  readonly callbacks: ReadonlyArray<FeedCallback>
  readonly hasMore: boolean
}

type Failure = SubscriptionNotFound | DatabaseError

export class Callbacks extends Context.Service<
  Callbacks,
  {
    /** The callbacks with the numbers after `page.after`. Where there are none yet, waits for some, up to `waitMillis`. */
    readonly list: (key: SubscriptionKey, page: Page, waitMillis?: number) => Effect.Effect<Feed, Failure>
    /** Sends one again now, in whatever state it is; its attempts are counted anew. */
    readonly redeliver: (
      key: SubscriptionKey,
      idempotencyKey: string
    ) => Effect.Effect<FeedCallback, CallbackNotFound | CallbackNotSendable | Failure>
    /** Sends a callback that says by its event, `<event type>_TEST`, that it is a test. */
    readonly test: (key: SubscriptionKey) => Effect.Effect<FeedCallback, Failure>
    readonly status: (key: SubscriptionKey) => Effect.Effect<SubscriptionStatus, Failure>
  }
>()("@headwater/indexer/store/subscriptions/Callbacks") {
  static readonly layer = Layer.effect(
    Callbacks,
    Effect.suspend(() => make)
  )
}

/** The event name of a test of a subscription to `event`. */
export const testEvent = (event: string): string => `${event}_TEST`

/** How long a reader waits until it looks for what other processes have brought. */
const lookMillis = 500

type FeedRow = Pick<
  Row<"callback">,
  "sequence" | "idempotency_key" | "event" | "state" | "body" | "created" | "delivered" | "due" | "attempt_log"
>
const columns = sql.raw("sequence, idempotency_key, event, state, body, created, delivered, due, attempt_log")

const toFeedCallback = (row: FeedRow): Effect.Effect<FeedCallback> =>
  Effect.map(AttemptLog.decode(row.attempt_log), (attempts) => ({
    sequence: row.sequence ?? undefined,
    idempotencyKey: row.idempotency_key,
    event: row.event,
    state: row.state,
    body: row.body,
    created: row.created,
    delivered: row.delivered ?? undefined,
    nextAttempt: row.state === "due" ? row.due : undefined,
    attempts
  }))

const make = Effect.gen(function* () {
  const subscriptions = yield* Subscriptions
  const outbox = yield* Outbox
  const { heldCount, heldMillis } = yield* Retention
  const { forUpdate, query, read, transaction, updateEach } = yield* Database

  /** Gives the next numbers to at most `count` callbacks that have none; whether there were any. */
  const number = (subscription: number, count: number) =>
    transaction(
      Effect.gen(function* () {
        const [locked] = yield* query(
          rows(sql<Pick<Row<"subscription">, "last_sequence">>`
            select last_sequence from subscription where id = ${subscription} ${forUpdate}`)
        )
        if (locked === undefined) return false
        const found = yield* query(
          rows(sql<{ id: number }>`
            select id from callback where subscription = ${subscription} and sequence is null order by id limit ${count}`)
        )
        if (found.length === 0) return false
        const last = locked.last_sequence
        yield* updateEach(
          "callback",
          found.map(({ id }, i) => ({ id, sequence: last + i + 1 }))
        )
        yield* updateEach("subscription", [{ id: subscription, last_sequence: last + found.length }])
        return true
      })
    )

  const page = Effect.fnUntraced(function* (subscription: number, { after, limit }: Page) {
    const select = (run: typeof read) =>
      run(
        rows(sql<FeedRow>`
          select ${columns} from callback
          where subscription = ${subscription} and sequence > ${after} order by sequence limit ${limit + 1}`)
      )
    const shown = yield* select(read)
    if (shown.length > limit) return shown
    const [unnumbered] = yield* read(
      rows(sql`select 1 from callback where subscription = ${subscription} and sequence is null limit 1`)
    )
    if (unnumbered === undefined || !(yield* number(subscription, limit + 1 - shown.length))) return shown
    return yield* select(query)
  })

  const list: Callbacks["Service"]["list"] = Effect.fn("Callbacks.list")(function* (key, wanted, waitMillis = 0) {
    const { id } = yield* subscriptions.get(key)
    const end = (yield* Clock.currentTimeMillis) + waitMillis
    while (true) {
      const woken = yield* outbox.nextWake
      const found = yield* page(id, wanted)
      const left = end - (yield* Clock.currentTimeMillis)
      if (found.length > 0 || left <= 0) {
        const callbacks = yield* Effect.forEach(found.slice(0, wanted.limit), toFeedCallback)
        return { callbacks, hasMore: found.length > wanted.limit }
      }
      yield* Effect.timeoutOption(woken, Math.min(left, lookMillis))
    }
  })

  const redeliver: Callbacks["Service"]["redeliver"] = Effect.fn("Callbacks.redeliver")(
    function* (key, idempotencyKey) {
      const subscription = yield* subscriptions.get(key)
      const [row] = yield* query(
        rows(sql<FeedRow & { id: number }>`
          select id, ${columns} from callback
          where idempotency_key = ${idempotencyKey} and subscription = ${subscription.id}`)
      )
      if (row === undefined) return yield* new CallbackNotFound({ idempotencyKey })
      if (row.sequence === null) {
        return yield* new CallbackNotSendable({ message: "The callback has not been sent for the first time yet" })
      }
      if (row.state === "orphaned" || row.state === "retracted") {
        return yield* new CallbackNotSendable({ message: "The block of this callback is no longer part of the chain" })
      }
      if (!subscription.active) {
        return yield* new CallbackNotSendable({ message: "The subscription is inactive; activate it first" })
      }
      const due = yield* Clock.currentTimeMillis
      yield* query(rows(sql`update callback set state = 'due', due = ${due}, attempts = 0 where id = ${row.id}`))
      yield* outbox.wake
      return yield* toFeedCallback({ ...row, state: "due", due })
    }
  )

  const test: Callbacks["Service"]["test"] = Effect.fn("Callbacks.test")(function* (key) {
    const { active, address, callbackUrl, chain, event, id, referenceId } = yield* subscriptions.get(key)
    const idempotencyKey = yield* Effect.sync(() => randomUUID().replaceAll("-", ""))
    const now = yield* Clock.currentTimeMillis
    const { blockchain, network } = chain
    const item = {
      blockchain,
      network,
      ...(address === undefined ? {} : { address: Address.encode(chain, address) })
    }
    const [row] = yield* query((db) =>
      db
        .insertInto("callback")
        .values({
          subscription: id,
          host: new URL(callbackUrl).hostname,
          chain: sql<number>`(select chain from subscription where id = ${id})`,
          height: null,
          idempotency_key: idempotencyKey,
          event: testEvent(event),
          body: Callback.body({ referenceId, idempotencyKey, event: testEvent(event), item }),
          state: active ? "due" : "held",
          due: now,
          sequence: null,
          created: now
        })
        .returningAll()
    )
    yield* outbox.wake
    return yield* toFeedCallback(row!)
  })

  const status: Callbacks["Service"]["status"] = Effect.fn("Callbacks.status")(function* (key) {
    const { callbackUrl, id } = yield* subscriptions.get(key)
    const of = sql`host = ${new URL(callbackUrl).hostname} and subscription = ${id}`
    const [found] = yield* read(
      rows(sql<{
        height: number | null
        last_sequence: number
        waiting: number
        retrying: number
        held: number
        held_since: number | null
        numbered: number | null
        unnumbered: number | null
        delivered: number | null
      }>`
        select
          (select height from chain where chain.id = subscription.chain) as height,
          last_sequence,
          (select count(*) from callback where state = 'due' and attempts = 0 and ${of}) as waiting,
          (select count(*) from callback where state = 'due' and attempts > 0 and ${of}) as retrying,
          (select count(*) from callback where state = 'held' and subscription = ${id}) as held,
          (select created from callback where state = 'held' and subscription = ${id} order by id limit 1)
            as held_since,
          (select created from callback where subscription = ${id} and sequence is not null
            order by sequence desc limit 1) as numbered,
          (select created from callback where subscription = ${id} and sequence is null
            order by id desc limit 1) as unnumbered,
          (select delivered from callback
            where subscription = ${id} and sequence is not null and state = 'delivered'
            order by sequence desc limit 1) as delivered
        from subscription where id = ${id}`)
    )
    return {
      evaluatedHeight: found?.height ?? undefined,
      lastMatch: found?.unnumbered ?? found?.numbered ?? undefined,
      lastDelivery: found?.delivered ?? undefined,
      lastSequence: found?.last_sequence ?? 0,
      waiting: found?.waiting ?? 0,
      retrying: found?.retrying ?? 0,
      held: found?.held ?? 0,
      heldSince: found?.held_since ?? undefined,
      heldMillis,
      heldCount
    }
  })

  return Callbacks.of({ list, redeliver, test, status })
})
