/** What the outcomes of attempts change in the store. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import type { Outcome } from "../Lease.ts"
import * as AttemptLog from "./AttemptLog.ts"
import * as DeliveryRecord from "./DeliveryRecord.ts"
import * as FailureNotices from "./FailureNotices.ts"

/** A callback that was accepted, and its subscription. */
type Sent = Pick<Row<"callback">, "id" | "subscription">

/** The consequences of an outcome outside of its callback. */
export interface Consequences {
  readonly deactivate: (subscription: number, reason: string) => Effect.Effect<void, DatabaseError>
  /** Takes the price of callbacks that were accepted, in the transaction that notes it. */
  readonly charge: ((sent: ReadonlyArray<Sent>) => Effect.Effect<void, DatabaseError>) | undefined
}

/** The last attempt at a callback has failed: its subscription is deactivated. */
interface Refusal {
  readonly id: number
  readonly subscription: number
  readonly reason: string
}

type Change<T extends CallbackState.Transition> = { readonly id: number } & CallbackState.Given<T>

/** The outcomes as transitions of their callbacks. */
const transitionsOf = (outcomes: ReadonlyArray<Outcome>, now: number) => {
  const accepted: Array<Change<"accept">> = []
  const failed: Array<Change<"fail">> = []
  const released: Array<number> = []
  const refused: Array<Refusal> = []
  for (const outcome of outcomes) {
    const { attemptLog, attempts, id } = outcome.callback
    if (outcome.kind === "released") {
      released.push(id)
      continue
    }
    const { at, duration } = outcome.attempt
    const attempt = {
      id,
      attempts: attempts + 1,
      attempt_log: AttemptLog.append(attemptLog, outcome.attempt)
    }
    if (outcome.kind === "delivered") accepted.push({ ...attempt, delivered: at + duration })
    else failed.push({ ...attempt, due: outcome.kind === "retry" ? outcome.due : now })
    if (outcome.kind === "refused") refused.push({ id, subscription: outcome.subscription, reason: outcome.reason })
  }
  return { accepted, failed, released, refused }
}

/**
 * Subscriptions to deactivate, and why. A process that stood still hears of its attempt after its lease has ended: where another
 * one, or this one itself, has delivered the callback meanwhile, the receiver is there. A delivered callback may be kept elsewhere
 * by then, or no more.
 */
const deactivated = Effect.fnUntraced(function* (
  refused: ReadonlyArray<Refusal>,
  accepted: ReadonlyArray<{ readonly id: number }>
) {
  if (refused.length === 0) return new Map<number, string>()
  const { numbers, query } = yield* Database
  const ids = numbers(refused.map(({ id }) => id))
  const found = yield* query(
    rows(sql<Pick<Sent, "id">>`select id from callback where id in ${ids} and state <> 'delivered'`)
  )
  const open = new Set(found.map(({ id }) => id))
  for (const { id } of accepted) open.delete(id)
  return new Map(
    refused.flatMap(({ id, reason, subscription }) => (open.has(id) ? [[subscription, reason] as const] : []))
  )
})

const chargeFor = Effect.fnUntraced(function* (
  charge: NonNullable<Consequences["charge"]>,
  accepted: ReadonlyArray<{ readonly id: number }>
) {
  const { numbers, query } = yield* Database
  const ids = numbers(accepted.map(({ id }) => id))
  yield* charge(yield* query(rows(sql<Sent>`select id, subscription from callback where id in ${ids}`)))
})

const writeEach = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>, { charge, deactivate }: Consequences) {
  const { numbers } = yield* Database
  const { accepted, failed, refused, released } = transitionsOf(outcomes, yield* Clock.currentTimeMillis)
  for (const [subscription, reason] of yield* deactivated(refused, accepted)) yield* deactivate(subscription, reason)
  yield* CallbackState.applyEach("accept", accepted)
  yield* CallbackState.applyEach("fail", failed)
  if (released.length > 0) yield* CallbackState.apply("release", sql`id in ${numbers(released)}`)
  if (charge !== undefined && accepted.length > 0) yield* chargeFor(charge, accepted)
  // Last, since daemons that send to the same host wait for each other from here on.
  yield* DeliveryRecord.write(outcomes)
  yield* FailureNotices.enter(outcomes)
})

/** Writes outcomes down, all or none. */
export const write = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>, consequences: Consequences) {
  const { transaction } = yield* Database
  yield* transaction(writeEach(outcomes, consequences))
})
