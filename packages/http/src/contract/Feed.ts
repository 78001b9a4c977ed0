/** The feed of an account: the callbacks of all its subscriptions, in the order in which they came about. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { Callback, delivered, wait } from "./Callbacks.ts"
import { context, pageErrors } from "./Common.ts"
import { success } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { feedPageFields, feedQuery } from "./Paging.ts"

const { position, sequence, ...fields } = Callback.fields

/** A callback, with the subscription that it is of. */
export const AccountCallback = Schema.Struct({
  position: Schema.requiredKey(position).annotate({
    description: "Place of the callback in the account's feed: what `startingAfter` takes to read on behind it",
    examples: ["4711-5f0d3a9b71c2-0b6e5a79"]
  }),
  blockchain: Schema.String.annotate({ examples: ["ethereum"] }),
  network: Schema.String.annotate({ examples: ["mainnet"] }),
  referenceId: Schema.String.annotate({
    description: "Of the subscription",
    examples: ["7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1"]
  }),
  sequence: Schema.requiredKey(sequence),
  ...fields
}).annotate({ identifier: "AccountCallback" })

const Missed = Schema.Int.annotate({
  description:
    "Callbacks between `startingAfter` and the last item that are kept no longer: they were finished long ago, or their " +
    "subscription was deleted",
  examples: [0]
})

const { startingAfter, ...query } = feedQuery

const events = [
  "retry: 1000",
  'event: callback\nid: 4711-5f0d3a9b71c2-0b6e5a79\ndata: {"position":"4711-5f0d3a9b71c2-0b6e5a79", …}',
  'event: missed\ndata: {"missed":3}',
  ": nothing new"
]

/** The answer of a reader that stays connected, which the schema of the page does not have. */
const withEvents = (operation: Record<string, unknown>): Record<string, unknown> => {
  const { responses } = operation as { readonly responses: Record<string, { readonly content: object }> }
  const page = responses["200"]!
  const content = { ...page.content, "text/event-stream": { schema: { type: "string" }, example: events.join("\n\n") } }
  return { ...operation, responses: { ...responses, "200": { ...page, content } } }
}

/** The place behind everything that there is at the moment. */
export const now = "now"

export class FeedGroup extends HttpApiGroup.make("feed")
  .add(
    HttpApiEndpoint.get("read", "/callbacks", {
      query: {
        ...context,
        ...query,
        startingAfter: Schema.optionalKey(
          Schema.Union([Schema.Literal(now), startingAfter.schema]).annotate({
            description:
              "The `nextStartingAfter` of the page before, the `position` of a callback, or `now` for what comes from now on; " +
              "the oldest callback that is kept, if not given. A place that was known before the server's store was " +
              "restored, or that is beyond the last one, is refused with 409",
            examples: ["4710-5f0d3a9b71c2-0b6e5a79"]
          })
        ),
        wait: Schema.optionalKey(wait)
      },
      success: success(Schema.Struct({ ...feedPageFields(AccountCallback), missed: Missed })),
      error: [Failures.invalidData, Failures.conflict, ...pageErrors]
    })
      .annotate(ExampleValues, { ...delivered, nextStartingAfter: "4711-5f0d3a9b71c2-0b6e5a79" })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read the callbacks of all subscriptions in one order, waiting for new ones if asked to",
          description:
            "With `accept: text/event-stream` the answer is server-sent events without an end, which go on behind the header " +
            "`Last-Event-ID`; with `upgrade: websocket` the same goes over WebSocket.",
          transform: withEvents
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Feed",
      description: "The callbacks of all subscriptions of the account, in one order"
    })
  ) {}
