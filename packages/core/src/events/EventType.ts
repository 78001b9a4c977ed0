/** The events a subscription can be for, by the names of interface section 6.1 and their each-confirmation twins. */
import * as Schema from "effect/Schema"

export const EventType = Schema.Literals([
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED",
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION",
  "ADDRESS_COINS_TRANSACTION_UNCONFIRMED",
  "ADDRESS_COINS_TRANSACTION_CONFIRMED",
  "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION",
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED",
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION",
  "BLOCK_MINED"
])
export type EventType = typeof EventType.Type

/** Whether callbacks are sent at every confirmation up to the target, not only at the wanted one. */
export const isEachConfirmation = (event: EventType): boolean => event.endsWith("_EACH_CONFIRMATION")
