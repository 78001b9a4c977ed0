/** How the receivers of callbacks do: the hosts of an account, and each subscription. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { body, bodyErrors, context, Millis, pageErrors } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { offsetPage, offsetQuery } from "./Paging.ts"

const State = Schema.Literals(["healthy", "recovering", "failing", "paused", "unverified", "inactive"]).annotate({
  description:
    "`unverified`: the account has not verified the host, and nothing is sent; `inactive`: deactivated, of a host all " +
    "subscriptions; `paused`: several attempts had no answer, and the host is left alone for a moment; `failing`: the last " +
    "attempt failed, of a host that of any subscription; `recovering`: the last attempt was accepted, and callbacks that were " +
    "not are still to be sent again; `healthy`: nothing of these",
  examples: ["failing"]
})

const since = "When the first attempt failed after the last one that was accepted"

const fields = {
  state: State,
  failingSinceTimestamp: Schema.optionalKey(
    Millis.annotate({ description: `${since}; milliseconds since the Unix epoch` })
  ),
  error: Schema.optionalKey(
    Schema.String.annotate({
      description: "Why the last attempt failed; of a subscription, its own one",
      examples: ["answered 500"]
    })
  ),
  pausedUntilTimestamp: Schema.optionalKey(
    Millis.annotate({ description: "Until when the host is left alone; milliseconds since the Unix epoch" })
  ),
  nextAttemptTimestamp: Schema.optionalKey(
    Millis.annotate({ description: "When a callback is sent again; milliseconds since the Unix epoch" })
  ),
  oldestTimestamp: Schema.optionalKey(
    Millis.annotate({
      description: "When the oldest callback was made that is still to be sent; milliseconds since the Unix epoch"
    })
  ),
  attempts: Schema.Int.annotate({
    description:
      "Attempts that the following figures are of: a host's of the last hour, those of a subscription's last 100 callbacks",
    examples: [250]
  }),
  successRate: Schema.optionalKey(
    Schema.Finite.annotate({
      description: "The part of the attempts that was accepted, from 0 to 1",
      examples: [0.992]
    })
  ),
  p50Millis: Schema.optionalKey(
    Schema.Int.annotate({
      description: "Milliseconds within which half of the answers came, rounded up to one of a few bounds",
      examples: [40]
    })
  ),
  p99Millis: Schema.optionalKey(
    Schema.Int.annotate({
      description: "Milliseconds within which 99 of 100 answers came, rounded up",
      examples: [400]
    })
  )
}

/** How a subscription's receiver does. */
export const ReceiverHealth = Schema.Struct(fields).annotate({ identifier: "ReceiverHealth" })

export const Receiver = Schema.Struct({
  host: Schema.String.annotate({ description: "Host of callback URLs", examples: ["hooks.example.com"] }),
  ...fields,
  waiting: Schema.Int.annotate({ description: "Callbacks before their first attempt", examples: [2] }),
  retrying: Schema.Int.annotate({ description: "Callbacks that were not accepted yet", examples: [1] }),
  failingSubscriptions: Schema.Int.annotate({ description: "Subscriptions whose last attempt failed", examples: [1] }),
  inactiveSubscriptions: Schema.Int.annotate({ description: "Subscriptions that are inactive", examples: [0] })
}).annotate({ identifier: "Receiver" })

export const RecoveredReceivers = Schema.Struct({
  subscriptions: Schema.Int.annotate({ description: "Subscriptions whose callbacks are sent again", examples: [3] })
}).annotate({ identifier: "RecoveredReceivers" })

export class ReceiversGroup extends HttpApiGroup.make("receivers")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: { ...context, ...offsetQuery(10) },
      success: offsetPage(Receiver),
      error: [Failures.invalidData, ...pageErrors]
    })
      .annotate(ExampleValues, { pausedUntilTimestamp: undefined })
      .annotate(OpenApi.Summary, "List the hosts that callbacks go to, and how each one does"),
    HttpApiEndpoint.post("recover", "/recover", {
      query: context,
      payload: body({
        host: Schema.optionalKey(
          Schema.String.check(Schema.isBetweenLength(1, 253, { message: "must have 1 to 253 characters" })).annotate({
            description: "Only subscriptions whose callbacks go to this host; all of the account, if not given",
            examples: ["hooks.example.com"]
          })
        ),
        sinceTimestamp: Schema.optionalKey(
          Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a whole number from 0 on" })).annotate({
            description: "Only callbacks that were made at this time or later, in milliseconds since the Unix epoch",
            examples: [1_764_158_400_000]
          })
        )
      }),
      success: item(RecoveredReceivers).pipe(HttpApiSchema.status(201)),
      error: [Failures.invalidData, ...bodyErrors]
    }).annotate(
      OpenApi.Summary,
      "Send all callbacks of a host or of the account again, since a time; the status of each subscription shows how far that is"
    )
  )
  .prefix("/receivers")
  .annotateMerge(
    OpenApi.annotations({ title: "Receivers", description: "How the hosts do that callbacks are sent to" })
  ) {}
