/** The callbacks of a subscription: a numbered feed of sent and pending callbacks, and sending by hand. */

import { testEvent } from "@headwater/core/events/Callback"
import { SubscribedEvent } from "@headwater/core/events/EventType"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  body,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  emptyBody,
  HashText,
  Millis,
  pageErrors,
  referenceIdParam,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { Count, feedPage, feedQuery, offsetPage, offsetQuery } from "./Paging.ts"
import { ReceiverHealth } from "./Receivers.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { callbackSecretKey, SubscriptionDetails, UrlText } from "./SubscriptionItems.ts"

const KeyText = Schema.String.annotate({ examples: ["9d6e1c4a5b7f40e2a3c8d1f0b6e5a794"] })

const State = Schema.Literals(["due", "held", "delivered", "orphaned", "expired", "retracted"]).annotate({
  description:
    "`due`: to be sent, or sent again; `held`: the subscription is inactive or its domain unverified; `delivered`: " +
    "accepted; `orphaned`: not sent while the block is not part of the chain; `expired`: parked for too long or among " +
    "too many, or an entry of the feed that is not sent; `retracted`: followed by a retraction, since the block left the chain"
})

const Attempt = Schema.Struct({
  timestamp: Millis,
  duration: Schema.Int.annotate({ description: "Milliseconds until the answer or the failure", examples: [84] }),
  statusCode: Schema.optionalKey(Schema.Int.annotate({ examples: [200] })),
  error: Schema.optionalKey(Schema.String.annotate({ description: "Why the callback was not accepted" }))
}).annotate({ identifier: "CallbackAttempt" })

export const Callback = Schema.Struct({
  sequence: Schema.optionalKey(
    Schema.Int.annotate({
      description:
        "Number of the callback within the subscription, from 1 without gaps, as in the header x-callback-sequence",
      examples: [17]
    })
  ),
  position: Schema.optionalKey(
    Schema.String.annotate({
      description: "Place of the callback in the feed that is read: what `startingAfter` takes to read on behind it",
      examples: ["17-5f0d3a9b71c2-e19ac04d"]
    })
  ),
  idempotencyKey: KeyText,
  event: Schema.String.annotate({ examples: ["ADDRESS_COINS_TRANSACTION_CONFIRMED"] }),
  state: State,
  createdTimestamp: Millis,
  deliveredTimestamp: Schema.optionalKey(Millis),
  nextAttemptTimestamp: Schema.optionalKey(Millis),
  attempts: Schema.Array(Attempt).annotate({ description: "The last ones, oldest first" }),
  body: Schema.String.annotate({ description: "The JSON text that is signed and sent" })
}).annotate({ identifier: "Callback" })

const sequence = (description: string, example: number) => Schema.Int.annotate({ description, examples: [example] })

/** How far the callbacks of a subscription are sent again in bulk. */
export const Recovery = Schema.Struct({
  afterSequence: sequence("The last number that has been looked at: later ones are still to be sent again", 0),
  lastSequence: sequence("The last number that is sent again", 17),
  callbacks: Schema.Int.annotate({ description: "How many are sent again so far", examples: [0] }),
  callbackUrl: Schema.optionalKey(
    UrlText.annotate({ description: "Where they are sent, if not to the subscription's own URL" })
  ),
  error: Schema.optionalKey(
    Schema.String.annotate({ description: "Why the last attempt at another URL failed", examples: ["answered 500"] })
  ),
  nextAttemptTimestamp: Schema.optionalKey(
    Millis.annotate({
      description:
        "When something is sent to another URL next, in milliseconds since the Unix epoch; missing there where the attempts have run out"
    })
  )
}).annotate({ identifier: "CallbackRecovery" })

export const SubscriptionStatus = Schema.Struct({
  eventType: SubscribedEvent,
  isActive: Schema.Boolean,
  evaluatedHeight: Schema.optionalKey(
    Schema.Int.annotate({
      description: "The last block that the subscription was evaluated against",
      examples: [21_000_007]
    })
  ),
  lastMatchTimestamp: Schema.optionalKey(Millis),
  lastDeliveryTimestamp: Schema.optionalKey(Millis),
  lastSequence: Schema.Int.annotate({ description: "Number of the last callback that has one", examples: [17] }),
  waiting: Schema.Int.annotate({ description: "Callbacks before their first attempt", examples: [2] }),
  retrying: Schema.Int.annotate({ description: "Callbacks that were not accepted yet", examples: [1] }),
  unresolved: Schema.Int.annotate({
    description: "Movements of coins without a callback yet, since their net amount is in doubt",
    examples: [0]
  }),
  held: Schema.Int.annotate({
    description: "Parked callbacks: the subscription is inactive, or the domain unverified",
    examples: [0]
  }),
  heldSinceTimestamp: Schema.optionalKey(Millis),
  gapFromHeight: Schema.optionalKey(
    Schema.Int.annotate({
      description: "The first block that the inactive subscription is not evaluated against, since no more is parked",
      examples: [21_000_008]
    })
  ),
  heldSecondsLimit: Schema.Int.annotate({
    description:
      "How long callbacks stay parked until the domain is verified, or are parked for an inactive subscription",
    examples: [604_800]
  }),
  heldCountLimit: Schema.Int.annotate({
    description:
      "How many callbacks stay parked until the domain is verified, or are parked for an inactive subscription",
    examples: [10_000]
  }),
  recovery: Schema.optionalKey(Recovery),
  copy: Schema.optionalKey(Recovery.annotate({ description: "The same of what is sent to another URL" })),
  delivery: ReceiverHealth,
  createdTimestamp: Timestamp
}).annotate({ identifier: "SubscriptionStatus" })

/** A movement of coins that a subscription has no callback of, since its net amount is in doubt. */
export const UnresolvedEvent = Schema.Struct({
  address: AddressText,
  transactionId: HashText,
  minedInBlockHeight: Schema.Int.annotate({ examples: [870_000] }),
  reason: Schema.String.annotate({
    description: "Why the net amount is in doubt",
    examples: ["an input may spend coins of the address that are neither recorded nor shown by the node"]
  }),
  remedy: Schema.String.annotate({
    description: "What the operator of the server can do",
    examples: ["Let the chain's node keep a transaction index"]
  })
}).annotate({ identifier: "UnresolvedEvent" })

/** The longest wait for new callbacks, in seconds. */
const maxWaitSeconds = 60

export const wait = Count.check(
  Schema.isLessThanOrEqualTo(maxWaitSeconds, { message: `must be at most ${maxWaitSeconds}` })
).annotate({
  description:
    `Seconds to wait for callbacks where there are none after \`startingAfter\` yet; at most ${maxWaitSeconds}. ` +
    "Ask for less than a proxy between waits for an answer, which is 60 seconds for many, or it answers 504"
})

/** The longest time for which two secrets are used, in seconds. */
const maxOverlapSeconds = 30 * 86_400

const overlapSeconds = Schema.Int.check(
  Schema.isBetween(
    { minimum: 0, maximum: maxOverlapSeconds },
    { message: `must be a whole number from 0 to ${maxOverlapSeconds}` }
  )
).annotate({
  description: "For how long `webhook-signature` has a signature by the old secret too; a day by default",
  examples: [86_400]
})

const wholeNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a whole number from 0 on" }))

const params = { ...chainParams, ...referenceIdParam }

const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
const ofCoins = {
  eventType: event,
  transactionId: undefined,
  heldSinceTimestamp: undefined,
  gapFromHeight: undefined,
  recovery: undefined,
  copy: undefined,
  pausedUntilTimestamp: undefined
}
const told = FamilyExample.callback("evm", event)
const { idempotencyKey } = JSON.parse(told) as { readonly idempotencyKey: string }
/** What each operation shows: a callback that was accepted, one that is to be sent again, and a test before it is sent. */
export const delivered = {
  body: told,
  idempotencyKey,
  state: "delivered",
  nextAttemptTimestamp: undefined,
  error: undefined
}
const again = {
  body: told,
  idempotencyKey,
  state: "due",
  deliveredTimestamp: undefined,
  statusCode: 500,
  error: "answered 500",
  position: undefined
}
const test = {
  ...{
    body: FamilyExample.callback("evm", event, testEvent(event)),
    idempotencyKey,
    event: testEvent(event),
    state: "due"
  },
  ...{ sequence: undefined, position: undefined, deliveredTimestamp: undefined, attempts: [] }
}

const errors = [...chainErrors, Failures.resourceNotFound] as const

export class CallbacksGroup extends HttpApiGroup.make("callbacks")
  .add(
    HttpApiEndpoint.get("list", "/callbacks", {
      params,
      query: { ...context, ...feedQuery, wait: Schema.optionalKey(wait) },
      success: feedPage(Callback),
      error: [...errors, Failures.conflict, ...pageErrors]
    })
      .annotate(ExampleValues, { ...delivered, nextStartingAfter: "17-5f0d3a9b71c2-e19ac04d" })
      .annotate(
        OpenApi.Summary,
        "Read the callbacks of a subscription in the order of their numbers, waiting for new ones if asked to"
      ),
    HttpApiEndpoint.post("redeliver", "/callbacks/:idempotencyKey/redeliver", {
      params: { ...params, idempotencyKey: KeyText.annotate({ description: "Key of the callback" }) },
      query: context,
      payload: emptyBody,
      success: item(Callback).pipe(HttpApiSchema.status(201)),
      error: [...errors, Failures.conflict, ...bodyErrors]
    })
      .annotate(ExampleValues, again)
      .annotate(OpenApi.Summary, "Send a callback again now"),
    HttpApiEndpoint.post("recover", "/recover", {
      params,
      query: context,
      payload: body({
        callbackUrl: Schema.optionalKey(
          UrlText.annotate({
            description:
              "Another URL to which copies are sent, whether or not the subscription is active; its own URL, if not given"
          })
        ),
        afterSequence: Schema.optionalKey(
          wholeNumber.annotate({ description: "The number of the last callback that is not sent again", examples: [0] })
        ),
        sinceTimestamp: Schema.optionalKey(
          wholeNumber.annotate({
            description: "Only callbacks that were made at this time or later, in milliseconds since the Unix epoch",
            examples: [1_764_158_400_000]
          })
        )
      }),
      success: item(Recovery).pipe(HttpApiSchema.status(201)),
      error: [...errors, Failures.callbacksLimitReached, ...bodyErrors]
    })
      .annotate(ExampleValues, { error: undefined })
      .annotate(
        OpenApi.Summary,
        "Send all callbacks of a subscription again, since a number or a time; the status shows how far that is"
      ),
    HttpApiEndpoint.post("test", "/test", {
      params,
      query: context,
      payload: emptyBody,
      success: item(Callback).pipe(HttpApiSchema.status(201)),
      error: [...errors, ...bodyErrors]
    })
      .annotate(ExampleValues, test)
      .annotate(OpenApi.Summary, "Send a callback that is marked as a test"),
    HttpApiEndpoint.post("rotateSecret", "/secret", {
      params,
      query: context,
      payload: body({ callbackSecretKey, overlapSeconds: Schema.optionalKey(overlapSeconds) }),
      success: item(SubscriptionDetails).pipe(HttpApiSchema.status(201)),
      error: [...errors, ...bodyErrors]
    })
      .annotate(ExampleValues, ofCoins)
      .annotate(OpenApi.Summary, "Change the secret of a subscription, with both in use for a while"),
    HttpApiEndpoint.get("status", "/status", {
      params,
      query: context,
      success: item(SubscriptionStatus),
      error: errors
    })
      .annotate(ExampleValues, ofCoins)
      .annotate(OpenApi.Summary, "Read how far a subscription was evaluated, and how many callbacks wait to be sent"),
    HttpApiEndpoint.get("unresolved", "/unresolved", {
      params,
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(UnresolvedEvent),
      error: [...errors, ...pageErrors]
    })
      .annotate(ExampleValues, FamilyExample.values("utxo"))
      .annotate(
        OpenApi.Summary,
        "List the movements of coins that have no callback yet, since their net amount is in doubt; oldest first"
      )
  )
  .middleware(RequestedChain)
  .prefix("/blockchain-events/:blockchain/:network/:referenceId")
  .annotateMerge(
    OpenApi.annotations({ title: "Callbacks", description: "Callbacks of a subscription, sent and pending" })
  ) {}
