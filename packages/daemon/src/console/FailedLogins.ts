/**
 * Failed logins on their way to the audit log: counted by the name that was tried, and written every few seconds, however many
 * they are. An entry has the place from which the last of its attempts came. Attempts that had to wait count as well.
 */

import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/**
 * Notes failed logins until the scope closes: `note(user, from)`. Only names that `isKnown` says are entered; all others are
 * `others`, since those who guess may think of any number.
 */
export const make = Effect.fnUntraced(function* (isKnown: (user: string) => boolean) {
  const database = yield* Database
  let counted = new Map<string, { readonly actor: AuditLog.Actor; readonly times: number }>()

  const flush = Effect.suspend(() => {
    const failed = [...counted.values()]
    counted = new Map()
    return Effect.forEach(
      failed,
      ({ actor, times }) => AuditLog.count(actor, { action: "login", subject: actor.user, outcome: "failed" }, times),
      { discard: true }
    )
  }).pipe(
    Effect.provideService(Database, database),
    // What was taken to be written is written also where the console ends meanwhile.
    Effect.uninterruptible,
    Effect.catch((error) => Effect.logWarning(`Failed logins could not be entered in the audit log: ${error.message}`))
  )
  yield* Effect.addFinalizer(() => flush)
  yield* flush.pipe(Effect.repeat(Schedule.spaced("5 seconds")), Effect.forkScoped)

  return (user: string, from: string) =>
    Effect.sync(() => {
      const name = isKnown(user) ? user : "others"
      const times = (counted.get(name)?.times ?? 0) + 1
      counted.set(name, { actor: { user: name, role: "none", from }, times })
    })
})
