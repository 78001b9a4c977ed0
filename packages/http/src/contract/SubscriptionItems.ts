/** What a subscription is made of, in requests and in answers: by the kind of its event, where it is made (interface section 4.1). */
import { type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import { EventType, SubscribedEvent } from "@headwater/core/events/EventType"
import { CoinFilter, ContractEventFilter, Filter, TokenFilter } from "@headwater/core/events/Filter"
import * as Signature from "@headwater/core/events/Signature"
import * as Schema from "effect/Schema"
import { AddressText, HashText, PrefixedHashParam, printable, Timestamp } from "./Common.ts"

const address = Schema.String.check(
  Schema.isBetweenLength(1, 200, { message: "must have 1 to 200 characters" })
).annotate({
  description:
    "Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone",
  examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
})

export const callbackUrl = Schema.String.check(
  Schema.isBetweenLength(1, 2048, { message: "must have 1 to 2048 characters" })
).annotate({
  description: "Where callbacks are sent: https, with a DNS name as host",
  examples: ["https://example.com/callbacks"]
})

export const callbackSecretKey = Schema.String.check(
  Schema.isBetweenLength(1, 512, { message: "must have 1 to 512 characters" }),
  // An annotation behind the checks is the last one's, and a filter has no place in the document.
  Schema.makeFilter(
    (secret) => Signature.isSecret(secret) || "must have base64 behind whsec_, with its padding, of one byte or more"
  ),
  ...printable
).annotate({ description: "Secret that callbacks are signed with", examples: ["yourSecretString"] })

const confirmations = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }, { message: "must be from 1 to 100" })).annotate({
    description,
    examples: [3]
  })

const allowDuplicates = Schema.Boolean.annotate({
  description: "Whether the account may have the same subscription twice; false if not given"
})

const DeactivationReason = Schema.Struct({
  reason: Schema.String.annotate({
    description:
      "`maximum_retry_attempts_reached`: a callback was not accepted by any attempt; `receiver_gone`: the receiver answered " +
      "410; `callback_url_not_allowed`: the operator allows the URL no more; `insufficient_credits`: the account could not " +
      "pay for a day; `callback_secret_lost`: the operator has lost the key of the secret; `deactivated_by_operator`, or the " +
      "operator's own words",
    examples: ["maximum_retry_attempts_reached"]
  }),
  timestamp: Timestamp
}).annotate({ identifier: "DeactivationReason" })

export const UrlText = Schema.String.annotate({ examples: ["https://example.com/callbacks"] })
const SecretText = Schema.String.annotate({ examples: ["yourSecretString"] })
export const ReferenceText = Schema.String.annotate({ examples: ["7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1"] })

/** In answers whose clients require the field. */
const SecretOrEmpty = SecretText.annotate({ description: "Empty where there is none" })

const created = {
  callbackSecretKey: SecretOrEmpty,
  callbackUrl: UrlText,
  createdTimestamp: Timestamp,
  isActive: Schema.Boolean,
  referenceId: ReferenceText
}
/** What the subscription means, where it was made with a filter. */
export const filter = Schema.optionalKey(Filter)
const ofAddress = { address: AddressText, eventType: EventType, filter, ...created }

/** A subscription as the answer to its creation: with the confirmation number that the event has, if any. */
export const CreatedAddressSubscription = Schema.Struct(ofAddress).annotate({
  identifier: "CreatedAddressSubscription"
})
export const CreatedConfirmationSubscription = Schema.Struct({
  ...ofAddress,
  receiveCallbackOn: Schema.Int
}).annotate({ identifier: "CreatedConfirmationSubscription" })
export const CreatedEachConfirmationSubscription = Schema.Struct({
  ...ofAddress,
  confirmationsCount: Schema.Int
}).annotate({ identifier: "CreatedEachConfirmationSubscription" })
export const CreatedTransactionSubscription = Schema.Struct({
  transactionId: HashText,
  eventType: EventType,
  ...created
}).annotate({ identifier: "CreatedTransactionSubscription" })
export const CreatedBlockSubscription = Schema.Struct(created).annotate({ identifier: "CreatedBlockSubscription" })

const AddressOrEmpty = AddressText.annotate({ description: "Empty for an event that is not about an address" })
const ConfirmationOrNone = Schema.Int.annotate({
  description: "The wanted confirmation, or the last one for an each-confirmation event; 0 where there is none"
})

/** A subscription as a list shows it. */
export const SubscriptionListItem = Schema.Struct({
  address: AddressOrEmpty,
  callbackSecretKey: Schema.optionalKey(SecretText),
  callbackUrl: UrlText,
  confirmationsCount: ConfirmationOrNone,
  createdTimestamp: Timestamp,
  deactivationReasons: Schema.optionalKey(Schema.Array(DeactivationReason)),
  eventType: SubscribedEvent,
  filter,
  isActive: Schema.Boolean,
  referenceId: ReferenceText,
  transactionId: Schema.optionalKey(HashText)
}).annotate({ identifier: "SubscriptionListItem" })

/** A subscription in full. */
export const SubscriptionDetails = Schema.Struct({
  address: Schema.optionalKey(AddressText),
  blockchain: Schema.String,
  callbackSecretKey: Schema.optionalKey(SecretText),
  callbackUrl: UrlText,
  confirmationsCount: Schema.optionalKey(Schema.Int),
  createdTimestamp: Timestamp,
  deactivationReasons: Schema.optionalKey(Schema.Array(DeactivationReason)),
  eventType: SubscribedEvent,
  filter,
  isActive: Schema.Boolean,
  network: Schema.String,
  referenceId: ReferenceText,
  transactionId: Schema.optionalKey(HashText)
}).annotate({ identifier: "SubscriptionDetails" })

/** A subscription that was deleted, or activated again: in full, with every field that clients require. */
export const ChangedSubscription = Schema.Struct({
  ...SubscriptionDetails.fields,
  address: AddressOrEmpty,
  callbackSecretKey: SecretOrEmpty,
  confirmationsCount: ConfirmationOrNone,
  transactionId: HashText.annotate({ description: "Empty for an event that is not about one transaction" })
}).annotate({ identifier: "ChangedSubscription" })

const optional = {
  allowDuplicates: Schema.optionalKey(allowDuplicates),
  callbackSecretKey: Schema.optionalKey(callbackSecretKey),
  callbackUrl
}
export const receiveCallbackOn = {
  receiveCallbackOn: Schema.optionalKey(
    confirmations("Confirmation on which the callback is wanted, 1 to 100; 1 if not given")
  )
}
export const eachConfirmation = {
  address,
  confirmationsCount: confirmations("Confirmations up to which callbacks are sent, 1 to 100")
}

export const NewBlockSubscription = Schema.Struct(optional)

const NewTransactionSubscription = Schema.Struct({
  transactionId: PrefixedHashParam.annotate({
    description:
      "Id of the transaction, which may be mined already: 64 hexadecimal characters in any case, with 0x or without",
    examples: ["0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"]
  }),
  ...optional
})

/** A request item of any kind of event. */
export const NewItem = Schema.Struct({
  ...NewTransactionSubscription.fields,
  ...receiveCallbackOn,
  address: Schema.optionalKey(address),
  confirmationsCount: Schema.optionalKey(eachConfirmation.confirmationsCount),
  filter: Schema.optionalKey(Filter.annotate({ description: "The filter that the operation of the event takes" })),
  transactionId: Schema.optionalKey(NewTransactionSubscription.fields.transactionId)
})
export type NewItem = typeof NewItem.Type

/** Request and answer of the operations that subscribe to an address, by how the event has confirmations. */
const formsOf = <Own extends typeof CoinFilter | typeof TokenFilter | typeof ContractEventFilter>(own: Own) => {
  const filter = Schema.optionalKey(own)
  return {
    none: { request: Schema.Struct({ address, ...optional, filter }), answer: CreatedAddressSubscription },
    receiveCallbackOn: {
      request: Schema.Struct({ address, ...optional, ...receiveCallbackOn, filter }),
      answer: CreatedConfirmationSubscription
    },
    confirmationsCount: {
      request: Schema.Struct({ ...eachConfirmation, ...optional, filter }),
      answer: CreatedEachConfirmationSubscription
    },
    /** Every field of interface section 4.1 is required, as that lists. */
    everyFieldRequired: {
      request: Schema.Struct({ ...eachConfirmation, allowDuplicates, callbackSecretKey, callbackUrl, filter }),
      answer: CreatedEachConfirmationSubscription
    }
  } as const
}

/** The same, by the class of the event. */
const forms = {
  coin: formsOf(CoinFilter),
  internal: formsOf(CoinFilter),
  token: {
    ...formsOf(TokenFilter),
    // Of tokens alone the wider interface has the field optional.
    confirmationsCount: {
      request: Schema.Struct({
        address,
        confirmationsCount: Schema.optionalKey(
          confirmations("Confirmations up to which callbacks are sent, 1 to 100; 1 if not given")
        ),
        ...optional,
        filter: Schema.optionalKey(TokenFilter)
      }),
      answer: CreatedEachConfirmationSubscription
    }
  },
  log: formsOf(ContractEventFilter),
  transaction: { none: { request: NewTransactionSubscription, answer: CreatedTransactionSubscription } },
  block: { none: { request: NewBlockSubscription, answer: CreatedBlockSubscription } }
} as const

/** Classes of events that are about no address. */
type Unaddressed = "transaction" | "block"

/** Request and answer of the operation of an event. */
export type FormOf<K extends EventKind> = K extends { readonly class: Unaddressed }
  ? (typeof forms)[K["class"]]["none"]
  : K extends { readonly everyFieldRequired: true }
    ? (typeof forms)[Exclude<K["class"], Unaddressed>]["everyFieldRequired"]
    : (typeof forms)[Exclude<K["class"], Unaddressed>][K["confirmations"]]

/** As {@link FormOf} has the type. */
export const formOf = ({ class: eventClass, confirmations, everyFieldRequired }: EventKind) =>
  eventClass === "block" || eventClass === "transaction"
    ? forms[eventClass].none
    : forms[eventClass][everyFieldRequired === true ? "everyFieldRequired" : confirmations]

/** What the operation of an event takes. */
export const requestOf = (event: EventType): Schema.ConstraintDecoder<NewItem> => formOf(eventKinds[event]).request

/** A filter in examples, of events about coins. */
export const coinFilter = { direction: "incoming", minimumAmount: "0.5" }
