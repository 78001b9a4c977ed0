/**
 * The life of a callback: every birth and every transition of its state, in one table. Each statement that makes a
 * callback, or changes its state, attempts, time, lease or number, is made from this table; `docs/callbacks.md` prints
 * the table for receivers.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { CallbackState, Row } from "../database/Tables.ts"
import * as CallbackIndexes from "./internal/CallbackIndexes.ts"
import * as TransitionSql from "./internal/TransitionSql.ts"

export type State = CallbackState

/** The states by their names in the store, in the feed and in the console. A parked callback is called `held` there. */
export const states: Readonly<Record<State, string>> = {
  due: "to be sent, or sent again, when its time comes",
  held: "parked: the subscription is inactive, or its host is not verified",
  delivered: "accepted by the receiver",
  expired: "given up: parked for longer, or among more, than is kept",
  orphaned: "taken back: the block left the chain before the receiver accepted the callback",
  retracted: "accepted, and followed by a retraction, since the block left the chain"
}

/** How a callback is born: `due` where its subscription is active, else `held`. */
export const births = {
  matched: {
    when: "A block that is committed brings an event, or a confirmation of one",
    /** The transition of a callback that is there already. */
    again: "return"
  },
  added: {
    when: "Unconfirmed coins are seen; a retraction or a test is sent; a replay finds that a callback is missing",
    again: undefined
  }
} as const

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
    when: "Its block is part of the chain again",
    from: ["orphaned", "retracted"],
    to: "due",
    changes: { due: "given", attempts: 0 }
  },
  number: {
    when: "The feed shows it for the first time",
    from: TransitionSql.anyState,
    numbered: false,
    changes: { sequence: "given" }
  },
  lease: {
    when: "A sender takes it for an attempt",
    from: ["due"],
    changes: { leased_until: "given", sequence: "given" }
  },
  release: {
    when: "Its sender hands it back without an attempt, or is no more",
    from: TransitionSql.anyState,
    changes: { leased_until: 0 }
  },
  accept: {
    when: "The receiver accepts it",
    from: ["due", "held", "delivered", "expired"],
    to: "delivered",
    // The block left the chain while the callback was on its way.
    unmoved: ["orphaned", "retracted"],
    changes: { delivered: "given", attempts: "given", attempt_log: "given", leased_until: 0 }
  },
  fail: {
    when: "An attempt fails",
    // The block or the subscription may have gone while the callback was on its way.
    from: TransitionSql.anyState,
    changes: { due: "given", attempts: "given", attempt_log: "given", leased_until: 0 }
  },
  redeliver: {
    when: "The account asks for it again",
    from: ["due", "held", "delivered", "expired"],
    to: "due",
    numbered: true,
    changes: { due: "given", attempts: 0 }
  },
  park: {
    when: "Its subscription is deactivated, or a sender finds that its host is not verified",
    from: ["due"],
    to: "held",
    changes: {}
  },
  resume: {
    when: "Its subscription is activated and its host is verified, whichever comes last",
    from: ["held"],
    to: "due",
    changes: { due: "given", attempts: 0, leased_until: 0 }
  },
  expire: {
    when: "It waits for the verification of its host for longer, or among more, than is kept",
    from: ["held"],
    to: "expired",
    changes: { sequence: "given" }
  },
  withdraw: {
    when: "Its block leaves the chain before it has a number",
    from: ["due", "held"],
    to: "gone",
    numbered: false,
    changes: {}
  },
  orphan: {
    when: "Its block leaves the chain before it is accepted",
    from: ["due", "held"],
    to: "orphaned",
    changes: {}
  },
  retract: {
    when: "Its block leaves the chain after it was accepted, and the account wants retractions",
    from: ["delivered"],
    to: "retracted",
    changes: {}
  },
  prune: {
    when: "It is older than finished callbacks are kept",
    from: ["delivered", "expired", "orphaned", "retracted"],
    to: "gone",
    changes: {}
  },
  remove: { when: "Its subscription is deleted", from: TransitionSql.anyState, to: "gone", changes: {} }
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
  "subscription" | "host" | "chain" | "height" | "idempotency_key" | "event" | "body" | "state" | "due" | "created"
>

/** A callback as it is born. The same event of the same subscription has the same key every time. */
export const make = (options: {
  readonly subscriber: Pick<Row<"subscription">, "id" | "reference_id" | "host">
  readonly active: boolean
  readonly chain: number
  readonly event: string
  /** Of the block with which it leaves the chain; null where it is in none. */
  readonly height: number | null
  /** What, beside the subscription and the event, its key is made of. */
  readonly key: Omit<Parameters<typeof Callback.idempotencyKey>[0], "referenceId" | "event">
  readonly item: Parameters<typeof Callback.body>[0]["item"]
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}): NewCallback => {
  const { active, chain, event, height, item, key, now, subscriber } = options
  const { host, id, reference_id: referenceId } = subscriber
  const idempotencyKey = Callback.idempotencyKey({ referenceId, event, ...key })
  return {
    subscription: id,
    host,
    chain,
    height,
    idempotency_key: idempotencyKey,
    event,
    body: Callback.body({ referenceId, idempotencyKey, event, item }),
    state: active ? "due" : "held",
    due: now,
    created: now
  }
}

/** Enters new callbacks. A callback that is there already stays as it is, unless the birth names a transition. */
export const enter = Effect.fnUntraced(function* (birth: Birth, callbacks: ReadonlyArray<NewCallback>) {
  const { insertMany } = yield* Database
  const { again } = births[birth]
  const conflict = again === undefined ? "do nothing" : TransitionSql.onConflict(transitions[again])
  yield* insertMany("callback", callbacks, `on conflict (idempotency_key) ${conflict}`)
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
  Effect.flatMap(Database, ({ query }) =>
    Effect.asVoid(query(rows(TransitionSql.statement(transitions[transition], which, given ?? {}))))
  )

/** As {@link apply}, with values of its own for each callback, and deferred. */
export const applyEach = <T extends Transition>(
  transition: T,
  callbacks: ReadonlyArray<{ readonly id: number } & Given<T>>
): Effect.Effect<void, DatabaseError, Database> =>
  Effect.flatMap(Database, ({ updateEach }) => {
    const { condition, same } = TransitionSql.forEach(transitions[transition])
    return updateEach("callback", callbacks, same, condition)
  })

/** Parks everything that a subscription was to send. */
export const park = (subscription: Pick<Row<"subscription">, "id" | "host">) =>
  // Two statements for the two indexes of what is due: the subscription's callbacks of all times may be millions.
  Effect.forEach(CallbackIndexes.dueOf(subscription), (which) => apply("park", which), { discard: true })

/** Lets the parked callbacks of these subscriptions go again, each as if it had never been sent. */
export const resume = (subscriptions: RawBuilder<unknown>, now: number) =>
  apply("resume", sql`subscription in (${subscriptions})`, { due: now })
