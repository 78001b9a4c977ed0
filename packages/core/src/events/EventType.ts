/** The names of the events that a subscription can be for, and the sets of events whose kinds share a fact. */
import * as Schema from "effect/Schema"
import type { FamilyName } from "../families/families.ts"
import { broadcastKinds, type EventKind, eventKinds } from "./EventKinds.ts"

const names = Object.keys(eventKinds) as ReadonlyArray<keyof typeof eventKinds>

export const EventType = Schema.Literals(names)
export type EventType = typeof EventType.Type

/** The events of transactions that were broadcast. */
export const BroadcastEvent = Schema.Literals(Object.keys(broadcastKinds) as ReadonlyArray<keyof typeof broadcastKinds>)
export type BroadcastEvent = typeof BroadcastEvent.Type

/** The event type of a broadcast transaction's subscription, which stands for both of its events. */
export const broadcastSubscription = "BROADCAST_TRANSACTION"

/** The event types of subscriptions, those of broadcast transactions too, which nobody asks for as such. */
export const SubscribedEvent = Schema.Literals([...names, broadcastSubscription])
export type SubscribedEvent = typeof SubscribedEvent.Type

const whose = (holds: (kind: EventKind) => boolean): ReadonlySet<EventType> =>
  new Set(names.filter((name) => holds(eventKinds[name])))

/**
 * The events that chains of a family have.
 *
 * @example
 * ```ts
 * import { eventsOf } from "@headwater/core/events/EventType"
 *
 * eventsOf("utxo").has("ADDRESS_COINS_TRANSACTION_UNCONFIRMED") // => true
 * eventsOf("xrp").has("ADDRESS_TOKENS_TRANSACTION_CONFIRMED") // => false
 * ```
 */
export const eventsOf = (family: FamilyName): ReadonlySet<EventType> =>
  whose(({ families }) => families.includes(family))

/** The events of one class that show in mined blocks, or elsewhere. */
export const eventsOfClass = (
  eventClass: EventKind["class"],
  seenIn: EventKind["seenIn"] = "block"
): ReadonlySet<EventType> => whose((kind) => kind.class === eventClass && kind.seenIn === seenIn)

const eachConfirmation = whose(({ confirmations }) => confirmations === "confirmationsCount")

/**
 * Whether callbacks are sent at every confirmation up to the target, not at the target alone.
 *
 * @example
 * ```ts
 * import { isEachConfirmation } from "@headwater/core/events/EventType"
 *
 * isEachConfirmation("ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION") // => true
 * ```
 */
export const isEachConfirmation = (event: EventType): boolean => eachConfirmation.has(event)
