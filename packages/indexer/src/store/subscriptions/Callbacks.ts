/**
 * A subscription's callbacks as its account sees them: a feed numbered 1, 2, 3 … that can be read beside, or instead
 * of, what is sent; what became of each; and the two that an account asks for itself, one again and one as a test.
 *
 * A callback gets its number when it is first sent or first shown, whichever comes first.
 */
import { randomUUID } from "node:crypto"
import * as Callback from "@headwater/core/events/Callback"
import * as CallbackExample from "@headwater/core/events/CallbackExample"
import { broadcastSubscription, isEachConfirmation } from "@headwater/core/events/EventType"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { type LimitReached, Limits } from "../accounts/Limits.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackCopies from "./CallbackCopies.ts"
import * as CallbackState from "./CallbackState.ts"
import type { PositionRefused } from "./FeedPosition.ts"
import * as AttemptLog from "./internal/AttemptLog.ts"
import * as DeliveryStatus from "./internal/DeliveryStatus.ts"
import * as FeedPage from "./internal/FeedPage.ts"
import * as LongPoll from "./internal/LongPoll.ts"
import * as PastCallbacks from "./internal/PastCallbacks.ts"
import { Outbox, Retention } from "./Outbox.ts"
import * as ReceiverHealth from "./ReceiverHealth.ts"
import * as Recovery from "./Recovery.ts"
import { type Subscription, type SubscriptionKey, SubscriptionNotFound } from "./Subscription.ts"
import { Subscriptions } from "./Subscriptions.ts"

export type { Page } from "./internal/FeedPage.ts"

/** A callback with everything that happened to it. */
export interface FeedCallback {
  /** Its number; undefined in the answer to `test`, until it is sent. */
  readonly sequence: number | undefined
  readonly idempotencyKey: string
  readonly event: string
  readonly state: CallbackState.State
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

export interface SubscriptionStatus extends DeliveryStatus.DeliveryStatus {
  /** How long, and how many, callbacks are kept that wait for the verification of their host. */
  readonly parkedMillis: number
  readonly parkedCount: number
  /** How far callbacks are sent again in bulk; undefined where none are. */
  readonly recovery: Recovery.Recovery | undefined
  /** How far callbacks are sent to another URL; undefined where none are. */
  readonly copy: CallbackCopies.CallbackCopy | undefined
  readonly health: ReceiverHealth.ReceiverHealth
}

/** The subscription has no callback with this key. */
export class CallbackNotFound extends Schema.TaggedError<CallbackNotFound>()("CallbackNotFound", {
  idempotencyKey: Schema.String
}) {}

/** The callback cannot be sent as things are. */
export class CallbackNotSendable extends Schema.TaggedError<CallbackNotSendable>()("CallbackNotSendable", {
  message: Schema.String
}) {}

export interface Feed {
  /** In the order of their numbers. */
  readonly callbacks: ReadonlyArray<FeedCallback>
  readonly hasMore: boolean
  /** Of the store, which a reader keeps with the number of the last callback. */
  readonly epoch: string
}

type Failure = SubscriptionNotFound | DatabaseError

/**
 * The feed of a subscription.
 *
 * @example
 * ```ts
 * import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
 * import type { SubscriptionKey } from "@headwater/indexer/store/subscriptions/Subscription"
 * import * as Effect from "effect/Effect"
 *
 * export const undelivered = Effect.fn(function* (key: SubscriptionKey) {
 *   const feed = yield* Callbacks
 *   const page = yield* feed.list(key, { after: 0, limit: 100 })
 *   return page.callbacks.filter(({ state }) => state !== "delivered")
 * })
 * ```
 */
export class Callbacks extends Context.Service<
  Callbacks,
  {
    /** The callbacks with the numbers after `page.after`. Where there are none yet, waits for some, up to `waitMillis`. */
    readonly list: (
      key: SubscriptionKey,
      page: FeedPage.Page,
      waitMillis?: number
    ) => Effect.Effect<Feed, PositionRefused | Failure>
    /** Makes a callback due again, in any state; its attempts are counted anew. */
    readonly redeliver: (
      key: SubscriptionKey,
      idempotencyKey: string
    ) => Effect.Effect<FeedCallback, CallbackNotFound | CallbackNotSendable | Failure>
    /** Sends all again that were told since a number or a time, in steps and in their order. */
    readonly recover: (key: SubscriptionKey, since: Recovery.Since) => Effect.Effect<Recovery.Recovery, Failure>
    /** As {@link recover}, to another URL: what was told, also to a subscription that is inactive now. */
    readonly copy: (
      key: SubscriptionKey,
      callbackUrl: string,
      since: Recovery.Since
    ) => Effect.Effect<CallbackCopies.CallbackCopy, LimitReached | Failure>
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

/** A row of the feed as its readers have it. */
export const toFeedCallback = (row: FeedPage.FeedRow): Effect.Effect<FeedCallback> =>
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

const byKey = Effect.fnUntraced(function* (subscription: number, idempotencyKey: string) {
  const { forUpdate, query } = yield* Database
  const [row] = yield* query(
    rows(sql<FeedPage.FeedRow & { readonly id: number }>`
      select id, ${FeedPage.columns} from every_callback
      where idempotency_key = ${idempotencyKey} and subscription = ${subscription} ${forUpdate}`)
  )
  return row ?? (yield* new CallbackNotFound({ idempotencyKey }))
})

const redeliverable: ReadonlySet<CallbackState.State> = new Set(CallbackState.transitions.redeliver.from)

/** The subscription, which stays as it is found until the transaction ends. */
const lock = Effect.fnUntraced(function* ({ id, referenceId }: Subscription) {
  const { forUpdate, query } = yield* Database
  const [row] = yield* query(
    rows(sql<
      Pick<Row<"subscription">, "id" | "reference_id" | "account" | "chain" | "host" | "active" | "last_sequence">
    >`
      select id, reference_id, account, chain, host, active, last_sequence from subscription where id = ${id} ${forUpdate}`)
  )
  return row ?? (yield* new SubscriptionNotFound({ referenceId }))
})

/** The callback as it is then, in a transaction. */
const redeliver = Effect.fnUntraced(function* (subscription: Subscription, idempotencyKey: string) {
  const refuse = (message: string) => new CallbackNotSendable({ message })
  const { active, id } = yield* lock(subscription)
  const row = yield* byKey(id, idempotencyKey)
  if (row.sequence === null) return yield* refuse("The callback has not been sent for the first time yet")
  if (!redeliverable.has(row.state)) return yield* refuse("The block of this callback is no longer part of the chain")
  if (active === 0) return yield* refuse("The subscription is inactive; activate it first")
  const due = yield* Clock.currentTimeMillis
  const which = sql`id = ${row.id}`
  yield* PastCallbacks.recall(which)
  yield* CallbackState.apply("redeliver", which, { due })
  return yield* toFeedCallback({ ...row, state: "due", due })
})

/**
 * The newest block with the wanted confirmation; made up where none is recorded yet, and for an event of the mempool,
 * which has 0 confirmations. `now` is in milliseconds.
 */
const confirmedBlock = Effect.fnUntraced(function* (chain: number, confirmations: number, now: number) {
  const { query } = yield* Database
  const madeUp = { height: 0, hash: CallbackExample.madeUpHash("block"), time: Math.floor(now / 1000) }
  if (confirmations === 0) return madeUp
  const [block] = yield* query(
    rows(sql<Pick<Row<"block">, "height" | "hash" | "time">>`
      select height, hash, time from block where chain = ${chain}
      order by height desc limit 1 offset ${confirmations - 1}`)
  )
  return block ?? madeUp
})

const broadcastSuccess = "BROADCAST_TRANSACTION_SUCCESS"

/**
 * A test of the subscription, made in a transaction. It looks like a callback of the chain's newest block; the amount is
 * the smallest that there is, so that a receiver that overlooks the event's name books next to nothing.
 */
const makeTest = Effect.fnUntraced(function* (subscription: Subscription) {
  const subscriber = yield* lock(subscription)
  const { address, chain, confirmations, event, transactionId } = subscription
  const uuid = yield* Effect.sync(() => randomUUID())
  const now = yield* Clock.currentTimeMillis
  const of =
    event === broadcastSubscription
      ? { event: broadcastSuccess, item: CallbackExample.broadcastItem(chain, broadcastSuccess, uuid) }
      : yield* Effect.map(
          confirmedBlock(subscriber.chain, isEachConfirmation(event) ? 1 : confirmations, now),
          (block) => ({
            event,
            item: CallbackExample.item(chain, event, {
              ...{ address, transactionId, amount: 1n, block, confirmations, seed: uuid }
            })
          })
        )
  const callback = CallbackState.make({
    ...{ subscriber, chain: subscriber.chain, active: subscriber.active === 1 },
    ...{ event: Callback.testEvent(of.event), height: null },
    key: { blockHash: undefined, occurrence: `test:${uuid}`, confirmation: 0 },
    item: { ...of.item },
    now
  })
  yield* CallbackState.enter("added", [callback])
  return yield* toFeedCallback({ ...callback, sequence: null, delivered: null, attempt_log: "[]" })
})

const make = Effect.gen(function* () {
  const subscriptions = yield* Subscriptions
  const outbox = yield* Outbox
  const { parkedCount, parkedMillis } = yield* Retention
  const database = yield* Database
  const limits = yield* Limits
  const stored = Effect.provideService(Database, database)
  const health = yield* ReceiverHealth.make

  return Callbacks.of({
    list: Effect.fn("Callbacks.list")(function* (key, page, waitMillis = 0) {
      const { id } = yield* subscriptions.get(key)
      const epoch = yield* FeedPage.check(id, page)
      const found = yield* LongPoll.until(
        FeedPage.read(id, page),
        ({ length }) => length > 0,
        waitMillis,
        outbox.nextWakeup
      )
      const callbacks = yield* Effect.forEach(found.slice(0, page.limit), toFeedCallback)
      return { callbacks, hasMore: found.length > page.limit, epoch }
    }, stored),
    redeliver: Effect.fn("Callbacks.redeliver")(function* (key, idempotencyKey) {
      const subscription = yield* subscriptions.get(key)
      return yield* database.transaction(redeliver(subscription, idempotencyKey))
    }),
    recover: Effect.fn("Callbacks.recover")(function* (key, since) {
      const subscription = yield* subscriptions.get(key)
      return yield* database.transaction(Effect.flatMap(lock(subscription), (row) => Recovery.begin(row, since)))
    }),
    copy: Effect.fn("Callbacks.copy")(function* (key, callbackUrl, since) {
      const subscription = yield* subscriptions.get(key)
      return yield* database
        .transaction(Effect.flatMap(lock(subscription), (row) => CallbackCopies.begin(row, callbackUrl, since)))
        .pipe(Effect.provideService(Limits, limits))
    }),
    test: Effect.fn("Callbacks.test")(function* (key) {
      const subscription = yield* subscriptions.get(key)
      return yield* database.transaction(makeTest(subscription))
    }),
    status: Effect.fn("Callbacks.status")(function* (key) {
      const { active, callbackUrl, id } = yield* subscriptions.get(key)
      const row = { id, account: key.account, host: new URL(callbackUrl).hostname, active: active ? 1 : 0 }
      const status = yield* DeliveryStatus.read(row)
      const recovery = yield* Recovery.of(id)
      const copy = yield* CallbackCopies.of(id)
      return { ...status, parkedMillis, parkedCount, recovery, copy, health: yield* health.ofSubscription(row) }
    }, stored)
  })
})
