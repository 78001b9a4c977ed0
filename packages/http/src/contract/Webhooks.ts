/** The callbacks, as `webhooks` of the OpenAPI document: one for each event that a subscription can be for. */
import { callbackBodies } from "@headwater/core/events/CallbackBody"
import { broadcastKinds, type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import { BroadcastEvent, EventType } from "@headwater/core/events/EventType"
import type { FamilyName } from "@headwater/core/families/families"
import * as Schema from "effect/Schema"
import * as FamilyExample from "./internal/FamilyExample.ts"

const header = (name: string, description: string, example: string, type: "string" | "integer" = "string") => ({
  ...{ name, in: "header", required: name === "x-callback-sequence", description, schema: { type } },
  example: type === "integer" ? Number(example) : example
})

const signed = "Only where the subscription has a `callbackSecretKey`"

const headers = [
  header("x-callback-sequence", "Number of the callback within the subscription, from 1 without gaps", "17", "integer"),
  header(
    "x-signature",
    `Lower-case hexadecimal HMAC-SHA256 of the body. ${signed}`,
    "2d1b9ae7a9a4e9e4f8a76b2d1f4d0a6e7b1f54f7b2a4f2b1e7e1c0e6b2f1a9c3"
  ),
  header("webhook-id", `The callback's \`idempotencyKey\`. ${signed}`, "9d6e1c4a5b7f40e2a3c8d1f0b6e5a794"),
  header("webhook-timestamp", `Of the attempt, in seconds since the Unix epoch. ${signed}`, "1764158402", "integer"),
  header(
    "webhook-signature",
    `Standard Webhooks: \`v1,\` and base64 of HMAC-SHA256 over \`id.timestamp.body\`; two of them, separated by a space, while a secret is rotated. ${signed}`,
    "v1,iBvfDRLoLAGKcIq2OlqbGx682HVQBLZEE/behf7G5Ag="
  )
]

const responses = {
  "2XX": { description: "The callback is accepted. Answer within the operator's time, which is 5 seconds by default" },
  "410": { description: "The subscription is deactivated at once" },
  "429": { description: "The callback is sent again, after the seconds that the header Retry-After says" },
  default: {
    description: "The callback is sent again later, and after the last attempt the subscription is deactivated"
  }
}

const webhook = (
  event: EventType | BroadcastEvent,
  { families, words }: Pick<EventKind, "families" | "words">,
  receiver: string,
  exampleOf: (family: FamilyName) => string
) => {
  const examples = families.map((family) => {
    const value = JSON.parse(exampleOf(family)) as {
      readonly data: { readonly item: { readonly blockchain: string } }
    }
    return [value.data.item.blockchain, { value }] as const
  })
  const schema = { $ref: `#/components/schemas/CallbackBody.${event}` }
  return {
    post: {
      operationId: `webhooks.${event}`,
      tags: ["callbacks"],
      summary: `Sent for ${words}`,
      description: `To the \`callbackUrl\` of ${receiver}.`,
      security: [],
      parameters: headers,
      requestBody: {
        required: true,
        content: { "application/json": { schema, examples: Object.fromEntries(examples) } }
      },
      responses
    }
  }
}

/** `webhooks`, by the names of the events. */
export const webhooks = Object.fromEntries([
  ...EventType.literals.map((event) => {
    const exampleOf = (family: FamilyName) => FamilyExample.callback(family, event)
    return [event, webhook(event, eventKinds[event], `a subscription to ${event}`, exampleOf)] as const
  }),
  ...BroadcastEvent.literals.map((event) => {
    const exampleOf = (family: FamilyName) => FamilyExample.broadcastCallback(family, event)
    return [event, webhook(event, broadcastKinds[event], "the broadcast", exampleOf)] as const
  })
])

/** The schemas that the webhooks refer to, by their names. A receiver lets fields pass that it does not know. */
export const webhookSchemas: Readonly<Record<string, Record<string, unknown>>> = Object.assign(
  {},
  ...Object.values(callbackBodies).map((body) => {
    const { definitions } = Schema.toJsonSchemaDocument(body)
    return JSON.parse(JSON.stringify(definitions).replaceAll('"#/$defs/', '"#/components/schemas/'))
  })
)
