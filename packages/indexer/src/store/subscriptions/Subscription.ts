/** A subscription as its account knows it, and the reasons why it cannot be made, found or changed. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import type { SubscribedEvent } from "@headwater/core/events/EventType"
import type { Filter } from "@headwater/core/events/Filter"
import * as Schema from "effect/Schema"

export const DeactivationReason = Schema.Struct({ reason: Schema.String, timestamp: Schema.Int })
export type DeactivationReason = typeof DeactivationReason.Type

export interface Subscription {
  /** The store's own id. */
  readonly id: number
  /** The id that its account knows. */
  readonly referenceId: string
  readonly chain: Chain.Chain
  readonly event: SubscribedEvent
  /** Absent for an event that is not about an address. */
  readonly address: AddressBytes | undefined
  /** Of an event that is about a transaction. */
  readonly transactionId?: Uint8Array | undefined
  readonly callbackUrl: string
  readonly secret: string | undefined
  /** The wanted confirmation, or the last one for an each-confirmation event. */
  readonly confirmations: number
  /** Undefined where everything is meant. */
  readonly filter: Filter | undefined
  /** Seconds since the Unix epoch. */
  readonly created: number
  readonly active: boolean
  readonly deactivationReasons: ReadonlyArray<DeactivationReason>
}

export interface NewSubscription
  extends Pick<Subscription, "chain" | "event" | "address" | "callbackUrl" | "secret" | "confirmations"> {
  readonly transactionId?: Uint8Array | undefined
  readonly filter?: Filter | undefined
  readonly account: number
  readonly allowDuplicates: boolean
}

/** What blocks are looked through for, as the column `address` of the subscription's row has it. */
export const lookedFor = ({ address, transactionId }: Pick<NewSubscription, "address" | "transactionId">) =>
  address ?? transactionId

/** Fields of a new subscription that the request does not name. */
export type CreatedSubscription = Pick<Subscription, "referenceId" | "created">

/** Where a subscription is: nobody but its account finds it, and only under its own chain. */
export interface SubscriptionKey {
  readonly account: number
  readonly chain: Chain.Chain
  readonly referenceId: string
}

/** The subscription is active already. */
export class SubscriptionActive extends Schema.TaggedError<SubscriptionActive>()("SubscriptionActive", {
  referenceId: Schema.String
}) {}

/** The account has the same subscription already. */
export class DuplicateSubscription extends Schema.TaggedError<DuplicateSubscription>()("DuplicateSubscription", {
  referenceId: Schema.String
}) {}

/** The account has no such subscription on this chain. */
export class SubscriptionNotFound extends Schema.TaggedError<SubscriptionNotFound>()("SubscriptionNotFound", {
  referenceId: Schema.String
}) {}

/** A filter as its subscription's row keeps it: equal filters have equal texts. */
export const filterText = (filter: Filter | undefined): string | null => {
  if (filter === undefined) return null
  const parts = Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))
  return parts.length === 0 ? null : JSON.stringify(Object.fromEntries(parts))
}

/** Written by {@link filterText} only. */
export const readFilter = (text: string | null): Filter | undefined =>
  text === null ? undefined : (JSON.parse(text) as Filter)
