/** The subscriptions to coins in mined blocks. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { Subscriber } from "./PendingConfirmations.ts"
import { readFilter } from "./Subscription.ts"

/** A subscription to an address's coins in mined blocks. */
export interface CoinSubscriber extends Subscriber {
  readonly address: AddressBytes
  readonly active: boolean
  /** Blocks above this height are evaluated for it; undefined for all that were ever committed. */
  readonly fromHeight: number | undefined
}

/** The events of coins in mined blocks. */
export const events = [...eventsOfClass("coin")]

/** The columns of the table `subscription` that {@link fromRow} reads. */
export const columns = [
  "subscription.id as subscription",
  "subscription.account",
  "subscription.reference_id",
  "subscription.host",
  "subscription.event as subscribed",
  "subscription.confirmations",
  "subscription.address",
  "subscription.filter",
  "subscription.active",
  "subscription.from_height"
] as const

export type Columns = Pick<
  Row<"subscription">,
  "account" | "reference_id" | "host" | "confirmations" | "address" | "filter" | "active" | "from_height"
> & { readonly subscription: number; readonly subscribed: Row<"subscription">["event"] }

/** `listed`: the address, where the subscription is on a list. */
export const fromRow = (row: Columns, listed?: AddressBytes): CoinSubscriber => ({
  id: row.subscription,
  account: row.account,
  reference_id: row.reference_id,
  host: row.host,
  event: row.subscribed,
  confirmations: row.confirmations,
  // An event of an address has one.
  address: (row.address as AddressBytes | null) ?? listed!,
  isListed: row.address === null,
  filter: readFilter(row.filter),
  active: row.active === 1,
  fromHeight: row.from_height ?? undefined
})

/** Every subscription, active or not, to coins of one of these addresses, by the hex of the address. */
export const of = Effect.fn("CoinSubscribers.of")(function* (chain: Chain.Chain, addresses: Iterable<AddressBytes>) {
  const { read } = yield* Database
  const { id } = (yield* ChainRow.find(chain))!
  const rows = yield* inChunks([...addresses], (some) =>
    read((db) =>
      db
        .selectFrom("subscribed_address as subscription")
        .select([...columns, "subscription.is_listed"])
        .where("chain", "=", id)
        .where("address", "in", some)
        .where("event", "in", events)
        .orderBy("id")
    )
  )
  const found = rows.map(({ is_listed, ...row }) => ({ ...fromRow(row), isListed: is_listed === 1 }))
  return Map.groupBy(found, ({ address }) => Buffer.from(address).toString("hex"))
})
