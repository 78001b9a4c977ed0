/** The end of a subscription's activity, for a reason that its account can read. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Kysely, SelectQueryBuilder } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { callbacksAtOnce } from "../database/SmallSteps.ts"
import type { Tables } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as SubscriptionRow from "./internal/SubscriptionRow.ts"

/**
 * Deactivates those of a chain's subscriptions whose ids `which` selects, and parks what happens from now on, in a
 * transaction; how many. What they were to send is parked too: some of it at once, the rest by who would send it. A
 * subscription that is inactive already keeps its reason.
 */
export const deactivate = Effect.fnUntraced(function* (
  chain: number,
  reason: string,
  which: (db: Kysely<Tables>) => SelectQueryBuilder<Tables, "subscription", { readonly id: number }>
) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const deactivation_reasons = SubscriptionRow.reasonsText([{ reason, timestamp: Math.floor(now / 1000) }])
  const { revision } = yield* ChainRow.lockAndBumpRevision(chain)
  const changed = yield* query((db) =>
    db
      .updateTable("subscription")
      .set({ active: 0, parking: 1, inactive_since: now, revision, deactivation_reasons })
      .where("id", "in", which(db))
      .where("active", "=", 1)
      .returning(["id", "host"])
  )
  let most = callbacksAtOnce
  for (const subscription of changed) {
    if (most > 0) most -= yield* CallbackState.park(subscription, most)
  }
  return changed.length
})
