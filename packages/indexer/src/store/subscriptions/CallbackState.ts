/**
 * The life of a callback: every birth and every transition of its state, in one table. Each statement that makes a
 * callback, or changes its state, attempts, time, lease or number, is made from this table; `docs/callbacks.md` prints
 * the table for receivers.
 */
import { hash } from "node:crypto"
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { callbacksAtOnce } from "../database/SmallSteps.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { CallbackState } from "../database/tables/CallbackTables.ts"
import * as CallbackIndexes from "./internal/CallbackIndexes.ts"
import * as PastCallbacks from "./internal/PastCallbacks.ts"
import * as Returns from "./internal/Returns.ts"
import * as TransitionSql from "./internal/TransitionSql.ts"

export type State = CallbackState

/** The states by their names in the store, in the feed and in the console. A parked callback is called `held` there. */
export const states: Readonly<Record<State, string>> = {
  due: "to be sent, or sent again, when its time comes",
  held: "parked: the subscription is inactive, or its host is not verified",
  delivered: "accepted by the receiver",
  expired: "given up: parked for too long, or among too many",
  orphaned: "not sent while the block is not part of the chain; no retraction follows, since the account wants none",
  retracted: "followed by a retraction, since the block left the chain: the key has ended"
}

interface BirthRule {
  readonly when: string
  /** The transition where the callback exists already. */
  readonly again: "return" | undefined
  /** The first state, where the activity of the subscription does not matter. */
  readonly state?: State
}

/** How a callback is born: `due` where its subscription is active, else `held`. */
export const births = {
  matched: {
    when: "A committed block has an event, or confirms an earlier event",
    /** After a retraction a new callback tells the event again. */
    again: "return"
  },
  added: {
    when:
      "The mempool has unconfirmed coins; a block leaves the chain; a retraction or a test is sent; a replay adds a missing " +
      "callback",
    again: undefined
  },
  corrected: {
    when: "An audit finds that a callback told a wrong movement of coins, and corrections are wanted",
    /** Its block may have left the chain and come back, and with the block the callback that it corrects. */
    again: "return"
  },
  missed: {
    when: "A subscription is activated that blocks were not matched against, since too much was parked or for too long",
    again: undefined,
    /** Not sent: receivers that do not know the event would refuse it. The feed shows the entry behind the number. */
    state: "expired"
  },
  noticed: {
    when: "Half of the retries of a callback have failed, for the first time since the subscription fails",
    again: undefined,
    /** Not sent: who would receive it fails. */
    state: "expired"
  }
} as const satisfies Readonly<Record<string, BirthRule>>

/**
 * What happens to a callback. `given`: the value comes with the statement.
 *
 * @example
 * ```ts
 * import { transitions } from "@headwater/indexer/store/subscriptions/CallbackState"
 *
 * transitions.park.from // => ["due"]
 * transitions.park.to // => "held"
 * ```
 */
export const transitions = {
  return: {
    when: "The callback's block is part of the chain again",
    from: ["orphaned"],
    to: "due",
    changes: { due: "given", attempts: 0 }
  },
  number: {
    when: "The feed shows the callback for the first time",
    from: TransitionSql.anyState,
    numbered: false,
    changes: { sequence: "given" }
  },
  place: {
    when: "The account's feed shows the callback for the first time",
    from: TransitionSql.anyState,
    changes: { feed_position: "given", sequence: "given" }
  },
  lease: {
    when: "A sender leases the callback for an attempt",
    from: ["due"],
    changes: { leased_until: "given", sequence: "given" }
  },
  release: {
    when: "The sender releases the callback without an attempt, or has stopped",
    from: TransitionSql.anyState,
    changes: { leased_until: 0 }
  },
  accept: {
    when: "The receiver accepts the callback",
    from: ["due", "held", "delivered", "expired"],
    to: "delivered",
    // The block left the chain during the attempt.
    unmoved: ["orphaned", "retracted"],
    changes: { delivered: "given", attempts: "given", attempt_log: "given", leased_until: 0 }
  },
  fail: {
    when: "An attempt fails",
    // The block may have left the chain, or the subscription may have been deactivated, during the attempt.
    from: TransitionSql.anyState,
    changes: { due: "given", attempts: "given", attempt_log: "given", leased_until: 0 }
  },
  hasten: {
    when: "The time of the next attempt was set by a clock that was ahead, and is further off than any pause",
    from: ["due"],
    changes: { due: "given" }
  },
  redeliver: {
    when: "The account asks for the callback again",
    from: ["due", "held", "delivered", "expired"],
    to: "due",
    numbered: true,
    changes: { due: "given", attempts: 0 }
  },
  park: {
    when: "The subscription is deactivated, or a sender finds that it is inactive or its host is not verified",
    from: ["due"],
    to: "held",
    changes: {}
  },
  resume: {
    when: "The subscription is activated and the host is verified, whichever comes last; of very many the oldest first",
    from: ["held"],
    to: "due",
    changes: { due: "given", attempts: 0, leased_until: 0 }
  },
  expire: {
    when: "The host is not verified within `heldDays`, or the subscription has more than `heldCount` such callbacks",
    from: ["held"],
    to: "expired",
    changes: { sequence: "given" }
  },
  withdraw: {
    when: "The block leaves the chain before the callback has a number",
    from: ["due", "held"],
    to: "gone",
    numbered: false,
    changes: {}
  },
  orphan: {
    when: "The block leaves the chain before the receiver accepts the callback, and the account wants no retractions",
    from: ["due", "held"],
    to: "orphaned",
    changes: {}
  },
  retract: {
    when: "The block leaves the chain after the callback got its number, and the account wants retractions",
    from: ["due", "held", "delivered", "expired"],
    numbered: true,
    to: "retracted",
    changes: {}
  },
  prune: {
    when: "The callback was finished more than `keepDays` ago",
    from: ["delivered", "expired", "orphaned", "retracted"],
    to: "gone",
    changes: {}
  },
  remove: { when: "The subscription is deleted", from: TransitionSql.anyState, to: "gone", changes: {} }
} as const satisfies Readonly<Record<string, TransitionSql.Rule>>

export type Birth = keyof typeof births
export type Transition = keyof typeof transitions

type Changes<T extends Transition> = (typeof transitions)[T]["changes"]

/** The columns that a transition needs values for. */
export type Given<T extends Transition> = {
  readonly [C in keyof Changes<T> as Changes<T>[C] extends "given" ? C : never]: C extends keyof Row<"callback">
    ? NonNullable<Row<"callback">[C]>
    : never
}

export type NewCallback = Pick<
  Row<"callback">,
  | "subscription"
  | "host"
  | "account"
  | "chain"
  | "height"
  | "idempotency_key"
  | "event"
  | "body"
  | "state"
  | "due"
  | "created"
  | "original"
>

const sha256: Callback.Sha256 = (text) => hash("sha256", text)

/** A new callback. The same event of the same subscription has the same key every time. */
export const make = (options: {
  readonly subscriber: Pick<Row<"subscription">, "id" | "reference_id" | "host" | "account">
  readonly active: boolean
  readonly chain: number
  readonly event: string
  /** Of the block with which the callback leaves the chain; null for a callback about no block. */
  readonly height: number | null
  /** The parts of the idempotency key beside the subscription and the event. */
  readonly key: Omit<Parameters<typeof Callback.idempotencyKey>[0], "referenceId" | "event">
  readonly item: Parameters<typeof Callback.body>[0]["item"]
  /** Of a retraction: the callback that it takes back, after which it is sent. */
  readonly original?: number
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}): NewCallback => {
  const { active, chain, event, height, item, key, now, original = null, subscriber } = options
  const { account, host, id, reference_id: referenceId } = subscriber
  const idempotencyKey = Callback.idempotencyKey({ referenceId, event, ...key }, sha256)
  return {
    subscription: id,
    host,
    account,
    chain,
    height,
    idempotency_key: idempotencyKey,
    event,
    body: Callback.body({ referenceId, idempotencyKey, event, item }),
    state: active ? "due" : "held",
    due: now,
    created: now,
    original
  }
}

/** Tells senders, and readers of feeds, of callbacks that a transaction has made due. */
const told = Effect.flatMap(Database, ({ signals }) => signals.send("callbacks"))

/**
 * Enters new callbacks, in a transaction that has the lock of their chain where their keys may have been told before. A callback that exists already stays as it is, unless the birth names a transition; where a
 * retraction has ended its key, the event is told again under a new one.
 */
export const enter = Effect.fnUntraced(function* (birth: Birth, callbacks: ReadonlyArray<NewCallback>) {
  if (callbacks.length === 0) return
  const { insertMany, signals } = yield* Database
  const { again, state }: BirthRule = births[birth]
  const conflict = again === undefined ? "do nothing" : TransitionSql.onConflict(transitions[again])
  const past = yield* PastCallbacks.mayHave(callbacks)
  const told =
    again === undefined ? callbacks : yield* Returns.toldAgain(callbacks, past ? "every_callback" : "callback")
  const own = past ? yield* PastCallbacks.without(told, again === undefined ? [] : transitions[again].from) : told
  const born = state === undefined ? own : own.map((callback) => ({ ...callback, state }))
  yield* insertMany("callback", born, `on conflict (idempotency_key) ${conflict}`)
  yield* signals.sendDue(born.filter(({ state }) => state === "due"))
})

/** Those of the keys that a callback has, in whatever state. */
export const known = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  const { query } = yield* Database
  const found = yield* inChunks(keys, (some) =>
    query((db) => db.selectFrom("every_callback").select("idempotency_key").where("idempotency_key", "in", some))
  )
  return new Set(found.map(({ idempotency_key }) => idempotency_key))
})

/**
 * Makes a transition of the callbacks that `which` names. A callback in a state that the table does not list for the
 * transition stays as it is.
 */
export const apply = <T extends Transition>(
  transition: T,
  which: RawBuilder<unknown>,
  ...[given]: keyof Given<T> extends never ? [] : [Given<T>]
): Effect.Effect<void, DatabaseError, Database> =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const { to }: TransitionSql.Rule = transitions[transition]
    yield* query(rows(TransitionSql.statement(transitions[transition], which, given ?? {})))
    if (to === "due") yield* told
  })

/** As {@link apply}, with values of its own for each callback, and deferred. */
export const applyEach = <T extends Transition>(
  transition: T,
  callbacks: ReadonlyArray<{ readonly id: number } & Given<T>>
): Effect.Effect<void, DatabaseError, Database> =>
  Effect.flatMap(Database, ({ updateEach }) => {
    const { condition, same } = TransitionSql.forEach(transitions[transition])
    return updateEach("callback", callbacks, same, condition)
  })

/**
 * As {@link apply}, to the first of the callbacks that `which` finds, `most` of them; how many there were. What `which`
 * finds has to be in a state that the transition is from.
 */
export const applySome = Effect.fnUntraced(function* <T extends Transition>(
  transition: T,
  which: RawBuilder<unknown>,
  most: number,
  ...given: keyof Given<T> extends never ? [] : [Given<T>]
) {
  const { numbers, query } = yield* Database
  const found = yield* query(rows(sql<{ id: number }>`select id from callback where ${which} limit ${most}`))
  if (found.length > 0) yield* apply(transition, sql`id in ${numbers(found.map(({ id }) => id))}`, ...given)
  return found.length
})

/** Parks what a subscription was to send, `most` callbacks; how many. Who sends parks the others as they come up. */
export const park = Effect.fnUntraced(function* (
  subscription: Pick<Row<"subscription">, "id" | "host">,
  most: number = callbacksAtOnce
) {
  let parked = 0
  // Two statements for the two indexes of what is due: the subscription's callbacks of all times may be millions.
  for (const which of CallbackIndexes.dueOf(subscription)) {
    if (parked < most) parked += yield* applySome("park", which, most - parked)
  }
  return parked
})

/**
 * Lets the oldest parked callbacks of a subscription go again, each as if it had never been sent, `most` of them; how
 * many. Who sends lets the others go, as they come up.
 */
export const resume = (subscription: number, now: number, most: number = callbacksAtOnce) =>
  applySome("resume", sql`${CallbackIndexes.parked} and subscription = ${subscription} order by id`, most, { due: now })
