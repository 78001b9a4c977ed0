/** Activates and deactivates subscriptions, and with them what they have to send. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as CallbackState from "../CallbackState.ts"
import type { HostPermission } from "../HostPermission.ts"
import { SubscriptionActive, type SubscriptionKey } from "../Subscription.ts"
import * as SubscriptionRow from "./SubscriptionRow.ts"

/** In a transaction: the subscription as it is then. */
export const activate = Effect.fnUntraced(function* (key: SubscriptionKey, mayReceive: typeof HostPermission.Service) {
  const { query } = yield* Database
  const { id, revision } = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* SubscriptionRow.find(key, id, query)
  if (row.active === 1) return yield* new SubscriptionActive({ referenceId: key.referenceId })
  const changed = { active: 1, deactivation_reasons: SubscriptionRow.reasonsText([]), revision }
  yield* query((db) => db.updateTable("subscription").set(changed).where("id", "=", row.id))
  if (yield* mayReceive(row.account, row.host)) {
    yield* CallbackState.resume(sql`${row.id}`, yield* Clock.currentTimeMillis)
  }
  return yield* SubscriptionRow.toSubscription(key.chain, { ...row, ...changed })
})

/** In a transaction. A subscription that is inactive already keeps its reason. */
export const deactivate = Effect.fnUntraced(function* (id: number, reason: string) {
  const { query } = yield* Database
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const [at] = yield* query((db) => db.selectFrom("subscription").select("chain").where("id", "=", id))
  if (at === undefined) return
  const { revision } = yield* ChainRow.lockAndBumpRevision(at.chain)
  const [changed] = yield* query((db) =>
    db
      .updateTable("subscription")
      .set({ active: 0, revision, deactivation_reasons: SubscriptionRow.reasonsText([{ reason, timestamp }]) })
      .where("id", "=", id)
      .where("active", "=", 1)
      .returning(["id", "host"])
  )
  if (changed !== undefined) yield* CallbackState.park(changed)
})
