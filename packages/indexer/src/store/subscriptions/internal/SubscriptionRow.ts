/** The rows of subscriptions: one by its key, one that is the same as another, and how many there are. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { prepared } from "../../database/Prepared.ts"
import type { Row } from "../../database/Tables.ts"
import {
  DeactivationReason,
  filterText,
  type NewSubscription,
  readFilter,
  type Subscription,
  type SubscriptionKey,
  SubscriptionNotFound
} from "../Subscription.ts"

const Reasons = Schema.fromJsonString(Schema.Array(DeactivationReason))
const decodeReasons = Schema.decodeUnknownEffect(Reasons)

/** Reasons of deactivation as they are stored. */
export const reasonsText = (reasons: ReadonlyArray<DeactivationReason>): string => JSON.stringify(reasons)

export const toSubscription = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  row: Row<"subscription">,
  { open }: Database["Service"]["secrets"]
) {
  return {
    id: row.id,
    referenceId: row.reference_id,
    chain,
    event: row.event,
    address: (row.address ?? undefined) as AddressBytes | undefined,
    callbackUrl: row.callback_url,
    secret: row.secret === null ? undefined : yield* open(row.secret, row.reference_id),
    confirmations: row.confirmations,
    filter: readFilter(row.filter),
    created: row.created,
    active: row.active === 1,
    // Written by this room only: anything else in there is a defect.
    deactivationReasons:
      row.deactivation_reasons === "[]" ? [] : yield* Effect.orDie(decodeReasons(row.deactivation_reasons))
  } satisfies Subscription
})

const byReference = prepared((db, referenceId: string, account: number, chain: number) =>
  db
    .selectFrom("subscription")
    .selectAll()
    .where("reference_id", "=", referenceId)
    .where("account", "=", account)
    .where("chain", "=", chain)
)

/** By its key, where its chain has this id; undefined for a chain that nothing is stored of. */
export const find = Effect.fnUntraced(function* (
  { account, referenceId }: SubscriptionKey,
  chain: number | undefined,
  run: Database["Service"]["query"]
) {
  const [row] = chain === undefined ? [] : yield* run(byReference(referenceId, account, chain))
  return row ?? (yield* new SubscriptionNotFound({ referenceId }))
})

/** The reference of the account's subscription that is the same, if there is one. */
export const findSame = Effect.fnUntraced(function* (chain: number, subscription: NewSubscription) {
  const { query } = yield* Database
  const { account, address, callbackUrl, confirmations, event, filter } = subscription
  const text = filterText(filter)
  const [found] = yield* query((db) =>
    db
      .selectFrom("subscription")
      .select("reference_id")
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("event", "=", event)
      .where("address", address === undefined ? "is" : "=", address ?? null)
      .where("confirmations", "=", confirmations)
      .where("filter", text === null ? "is" : "=", text)
      // An expression, so that no planner chooses the index on URLs, which may have a million equal ones.
      .where(sql`callback_url || ''`, "=", callbackUrl)
      .limit(1)
  )
  return found?.reference_id
})

/** How many subscriptions the account has to the same event of the same address, counted up to `most`. */
export const alike = Effect.fnUntraced(function* (
  chain: number,
  { account, address, event }: Pick<NewSubscription, "account" | "address" | "event">,
  most: number
) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("event", "=", event)
      .where("address", address === undefined ? "is" : "=", address ?? null)
      .limit(most)
  )
  return found.length
})

/** Counts the account's subscriptions on the chain up or down. */
export const count = Effect.fnUntraced(function* (account: number, chain: number, change: 1 | -1) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .insertInto("subscription_count")
      .values({ account, chain, total: change })
      .onConflict((on) =>
        on.columns(["account", "chain"]).doUpdateSet({ total: sql<number>`subscription_count.total + ${change}` })
      )
  )
})
