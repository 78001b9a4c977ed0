/** Changes that the console makes, each with its entry in the audit log. */
import { Database, type DatabaseError } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Effect from "effect/Effect"
import type * as Access from "./Access.ts"

/** Why a change was not made. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** Enters that a change was refused, and why. */
const orRefused =
  (actor: AuditLog.Actor, deed: AuditLog.Deed) =>
  <A, E extends Refusal, R>(change: Effect.Effect<A, E, R>) =>
    Effect.tapError(change, (error) =>
      error._tag === "DatabaseError"
        ? Effect.void
        : Effect.ignore(AuditLog.count(actor, { ...deed, outcome: "refused", detail: error.message || error._tag }, 1))
    )

export const make = Effect.gen(function* () {
  const database = yield* Database
  const stored = Effect.provideService(Database, database)
  return {
    /** Runs a change of the store and enters the deed in one transaction. */
    change: <A, E extends Refusal>(
      { actor }: Access.Visitor,
      deed: AuditLog.Deed,
      change: Effect.Effect<A, E>
    ): Effect.Effect<A, E | DatabaseError> => stored(orRefused(actor, deed)(AuditLog.during(actor, deed, change))),
    /** Runs a change that is several transactions: `also` is to be done in the one that makes the change. */
    changeWith: <A, E extends Refusal>(
      { actor }: Access.Visitor,
      deed: AuditLog.Deed,
      change: (also: Effect.Effect<void, DatabaseError>) => Effect.Effect<A, E>
    ): Effect.Effect<A, E> => stored(orRefused(actor, deed)(change(stored(AuditLog.write(actor, deed)))))
  }
})

export type Audited = Effect.Success<typeof make>
