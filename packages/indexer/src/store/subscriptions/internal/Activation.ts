/** Activates a subscription, and resumes its parked callbacks. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Completeness from "../../chain/Completeness.ts"
import { isOfTransaction } from "../../chain/TransactionSubscriptions.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as CallbackState from "../CallbackState.ts"
import type { HostPermission } from "../HostPermission.ts"
import * as ListActivation from "../ListActivation.ts"
import { SubscriptionActive, type SubscriptionKey } from "../Subscription.ts"
import * as DeferredMatches from "./DeferredMatches.ts"
import * as Gaps from "./Gaps.ts"
import * as SubscriptionRow from "./SubscriptionRow.ts"

/** In a transaction: the subscription as it is then. */
export const activate = Effect.fnUntraced(function* (of: SubscriptionKey, mayReceive: typeof HostPermission.Service) {
  const { query, secrets } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(of.chain)
  const { id, revision } = chain
  const row = yield* SubscriptionRow.find(of, id, query)
  if (row.active === 1) return yield* new SubscriptionActive({ referenceId: of.referenceId })
  const isParking = row.parking === 1
  const isOfAddress = row.address !== null && !isOfTransaction(row)
  if (!isParking && isOfAddress) yield* Completeness.begin(chain, [row.address!], chain.height)
  const isListAgain = !isParking && row.address === null && (yield* ListActivation.begin(chain, row))
  const key = row.address === null ? "" : Buffer.from(row.address).toString("hex")
  const isBehind = !isListAgain && (yield* DeferredMatches.pendingAddresses(id)).has(key)
  // A list goes on missing blocks until all of its addresses have begun again.
  const gap_from = isListAgain ? (chain.height ?? -1) + 1 : isParking ? row.gap_from : null
  const changed = {
    ...{ active: 1, parking: 0, inactive_since: null, gap_from, revision },
    deactivation_reasons: SubscriptionRow.reasonsText([])
  }
  yield* query((db) =>
    db
      .updateTable("subscription")
      .set(changed)
      // While matches of the address are yet to be told, the subscription keeps its part in those of its earlier activity.
      .$if(!isBehind && !isParking, (update) => update.set({ active_from: revision }))
      .where("id", "=", row.id)
  )
  if (!isParking) yield* Gaps.enter(of.chain, chain, row)
  if (yield* mayReceive(row.account, row.host)) {
    yield* CallbackState.resume(row.id, yield* Clock.currentTimeMillis)
  }
  // A failure from now on is a new one, with a notice of its own.
  yield* query((db) => db.deleteFrom("failing_subscription").where("subscription", "=", row.id))
  return yield* SubscriptionRow.toSubscription(of.chain, { ...row, ...changed }, secrets)
})
