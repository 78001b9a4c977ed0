/** The rows of subscriptions: one by its key, those that are like new ones, and how many there are. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { isOfTransaction } from "../../chain/TransactionSubscriptions.ts"
import { Database } from "../../database/Database.ts"
import { prepared } from "../../database/Prepared.ts"
import type { Row } from "../../database/Tables.ts"
import {
  DeactivationReason,
  filterText,
  lookedFor,
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
    ...(isOfTransaction(row)
      ? { address: undefined, transactionId: row.address! }
      : { address: (row.address ?? undefined) as AddressBytes | undefined }),
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

/** The account's subscriptions that a new one is compared with. */
export interface Existing {
  /** The reference of a subscription that is the same. */
  readonly same: string | null
  /** How many there are to the same event of the same address, counted up to `most`. */
  readonly alike: number
}

/** `address`: what follows the column's name. The expressions are those of the index `subscription_alike`. */
const existingOf = (account: number, chain: number, address: string, most: number) => {
  const own = `subscription where account + 0 = ${account} and chain + 0 = ${chain} and event = :event and address ${address}`
  return `
    select :position as position,
      (select reference_id from ${own} and confirmations = :confirmations
        and coalesce(filter, '') = :filter and callback_url = :url limit 1) as same,
      (select count(*) from (select 1 as one from ${own} limit ${most}) counted) as alike`
}

/** For each of some new subscriptions of one account to one chain, in their order. */
export const existing = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  subscriptions: ReadonlyArray<
    Pick<NewSubscription, "address" | "callbackUrl" | "confirmations" | "event" | "filter" | "transactionId">
  >,
  most: number
) {
  const { selectEach } = yield* Database
  const asked = subscriptions.map((subscription, position) => ({
    ...{ position, event: subscription.event, confirmations: subscription.confirmations },
    ...{ filter: filterText(subscription.filter) ?? "", url: subscription.callbackUrl },
    address: lookedFor(subscription)
  }))
  const types = { position: "bigint", event: "text", confirmations: "bigint", filter: "text", url: "text" } as const
  const ofAddress = asked.filter(({ address }) => address !== undefined)
  const ofBlocks = asked.filter(({ address }) => address === undefined)
  const found = [
    ...(yield* selectEach<Existing & { readonly position: number }>(
      { ...types, address: "bytea" },
      ofAddress,
      existingOf(account, chain, "= :address", most)
    )),
    ...(yield* selectEach<Existing & { readonly position: number }>(
      types,
      ofBlocks,
      existingOf(account, chain, "is null", most)
    ))
  ]
  const inOrder = new Array<Existing>(subscriptions.length)
  for (const one of found) inOrder[Number(one.position)] = { same: one.same, alike: Number(one.alike) }
  return inOrder
})

/** Counts the account's subscriptions on the chain up or down, those of broadcasts not among them. */
export const count = Effect.fnUntraced(function* (account: number, chain: number, change: number) {
  if (change === 0) return
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .insertInto("subscription_count")
      .values({ account, chain, total: change })
      .onConflict((on) =>
        on.columns(["account", "chain"]).doUpdateSet({ total: sql<number>`subscription_count.total + ${change}` })
      )
  )
})
