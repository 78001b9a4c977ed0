/** Failed logins on their way to the audit log: counted, and written together every few seconds, however many they are. */
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/**
 * Notes failed logins until the scope closes: `note(user, from)`. Only the names that `isKnown` says are told apart, since those
 * who guess may think of any number.
 */
export const make = Effect.fnUntraced(function* (isKnown: (user: string) => boolean) {
  const database = yield* Database
  let counted = new Map<string, { readonly actor: AuditLog.Actor; times: number }>()

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
    Effect.catch((error) => Effect.logWarning("Failed logins could not be entered in the audit log", error))
  )
  yield* Effect.addFinalizer(() => flush)
  yield* flush.pipe(Effect.repeat(Schedule.spaced("5 seconds")), Effect.forkScoped)

  return (user: string, from: string) =>
    Effect.sync(() => {
      const name = isKnown(user) ? user : "others"
      const entry = counted.get(name) ?? { actor: { user: name, role: "none", from }, times: 0 }
      entry.times++
      counted.set(name, entry)
    })
})
