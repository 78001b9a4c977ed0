/**
 * The subscriptions that tell what becomes of broadcasts, one of each. Nobody has subscribed to that: they are in no list and no
 * count, and cost nothing a day.
 */
import { broadcastSubscription, type SubscribedEvent } from "@headwater/core/events/EventType"
import { sql } from "kysely"

/** Whether a subscription is one of a broadcast. */
export const isOne = ({ event }: { readonly event: SubscribedEvent }): boolean => event === broadcastSubscription

/** The others, as a condition; the literal is that of the index `subscription_own`. */
export const isNone = sql<boolean>`event <> ${sql.lit(broadcastSubscription)}`
