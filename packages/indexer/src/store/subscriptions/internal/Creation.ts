/** How subscriptions come to be: one by one and many at a time alike. */
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Insertable } from "kysely"
import * as UnixTime from "../../../UnixTime.ts"
import * as Limits from "../../accounts/Limits.ts"
import * as Completeness from "../../chain/Completeness.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import type { SubscriptionTable } from "../../database/tables/SubscriptionTables.ts"
import * as BroadcastSubscription from "../BroadcastSubscription.ts"
import { DuplicateSubscription, filterText, lookedFor, type NewSubscription } from "../Subscription.ts"
import * as SubscriptionRow from "./SubscriptionRow.ts"

/** The account cannot pay for the subscription. */
export class Unpaid extends Schema.TaggedError<Unpaid>()("Unpaid", {}) {}

/** Why a subscription is not made. */
export type Refusal = DuplicateSubscription | Limits.LimitReached | Unpaid

const targetOf = (subscription: NewSubscription) => {
  const bytes = lookedFor(subscription)
  return `${subscription.event} ${bytes === undefined ? "" : Bytes.key(bytes)}`
}

/** Decides about one subscription after another, as if those before it existed already. */
const decide = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  subscriptions: ReadonlyArray<NewSubscription>,
  limits: Limits.Maxima,
  most: number
) {
  // Those of broadcasts may be very many, and each is its own.
  const isOwn = subscriptions.every(BroadcastSubscription.isOne)
  const existing = isOwn ? [] : yield* SubscriptionRow.existing(account, chain, subscriptions, limits.duplicates)
  const before = yield* Limits.subscriptionsOf(account)
  let count = 0
  /** The subscriptions of this request, by the fields that they share. */
  const made = new Map<string, string>()
  const alike = new Map<string, number>()
  return yield* Effect.forEach(subscriptions, (subscription, i) =>
    Effect.result(
      Effect.gen(function* (): Effect.fn.Return<string, Refusal> {
        const there = existing[i] ?? { same: null, alike: 0 }
        const target = targetOf(subscription)
        const name = `${target} ${subscription.confirmations} ${filterText(subscription.filter)} ${subscription.callbackUrl}`
        const same = there.same ?? made.get(name)
        if (!subscription.allowDuplicates && same !== undefined) {
          return yield* new DuplicateSubscription({ referenceId: same })
        }
        // No limit of subscriptions stops a broadcast.
        if (!BroadcastSubscription.isOne(subscription)) {
          yield* Limits.check("subscriptions", before + count, limits)
          yield* Limits.check("duplicates", there.alike + (alike.get(target) ?? 0), limits)
        }
        if (count >= most) return yield* new Unpaid()
        const referenceId = yield* Effect.sync(() => crypto.randomUUID())
        count++
        alike.set(target, (alike.get(target) ?? 0) + 1)
        made.set(name, referenceId)
        return referenceId
      })
    )
  )
})

/**
 * In a transaction: for each of these subscriptions of one account the row to be inserted, or why there is none. The
 * chain's revision counts up once, and the account's subscriptions are counted. `affordable`: how many of so many the
 * account can pay for.
 */
export const rowsOf = Effect.fnUntraced(function* (
  account: number,
  chain: Chain.Chain,
  subscriptions: ReadonlyArray<NewSubscription>,
  limits: Limits.Maxima,
  affordable: (count: number) => Effect.Effect<number> = Effect.succeed
) {
  const { secrets } = yield* Database
  const created = yield* UnixTime.seconds
  const chainRow = yield* ChainRow.lockAndBumpRevisionOf(chain)
  const { height, id, revision } = chainRow
  yield* Limits.lockAccount(account)
  const most = yield* affordable(subscriptions.length)
  const decided = yield* decide(account, id, subscriptions, limits, most)
  const made = decided.flatMap((one, i) =>
    Result.isSuccess(one) ? [{ ...subscriptions[i]!, referenceId: one.success }] : []
  )
  const addresses = new Map(
    made.flatMap(({ address }) => (address === undefined ? [] : [[Bytes.key(address), address]]))
  )
  if (addresses.size > 0) yield* Completeness.begin(chainRow, [...addresses.values()], height)
  const withSecret = made.flatMap(({ referenceId, secret }) =>
    secret === undefined ? [] : [{ secret, owner: referenceId }]
  )
  const sealed = yield* secrets.sealEach(withSecret)
  const secretOf = new Map(withSecret.map(({ owner }, i) => [owner, sealed[i]!]))
  const rows = new Map(
    made.map(({ callbackUrl, confirmations, event, filter, referenceId, ...rest }) => [
      referenceId,
      {
        // Also what no block is matched against.
        ...{ reference_id: referenceId, account, chain: id, revision, event: event as EventType },
        address: lookedFor(rest) ?? null,
        ...{ callback_url: callbackUrl, host: new URL(callbackUrl).hostname, confirmations, created },
        filter: filterText(filter),
        ...{ secret: secretOf.get(referenceId) ?? null, from_height: height, active: 1, active_from: revision }
      } satisfies Insertable<SubscriptionTable>
    ])
  )
  const counted = made.filter((one) => !BroadcastSubscription.isOne(one))
  yield* SubscriptionRow.count(account, id, counted.length)
  return decided.map((one) => Result.map(one, (referenceId) => rows.get(referenceId)!))
})
