/**
 * The bodies of callbacks (interface section 6.2) as schemas, one for each event that a subscription can be for: what a
 * receiver decodes, and what the OpenAPI document tells of under `webhooks`.
 */
import * as Schema from "effect/Schema"
import { correctedEvent, revertedEvent, testEvent } from "./Callback.ts"
import { broadcastKinds, type EventKind, eventKinds } from "./EventKinds.ts"
import { BroadcastEvent, EventType } from "./EventType.ts"

const revertedIdempotencyKey = Schema.String.annotate({ description: "Key of the callback that is taken back" })
const restoresIdempotencyKey = Schema.optionalKey(
  Schema.String.annotate({
    description: "Key of the callback that a retraction took back: its block is part of the chain again"
  })
)
const correctedIdempotencyKey = Schema.String.annotate({
  description: "Key of the callback that was wrong, in place of which this one is booked"
})

const data = <E extends string, F extends Schema.Struct.Fields>(events: ReadonlyArray<E>, fields: F) =>
  Schema.Struct({
    product: Schema.Literal("BLOCKCHAIN_EVENTS"),
    event: Schema.Literals(events),
    item: Schema.Struct(fields)
  })

const envelope = {
  apiVersion: Schema.String.annotate({ description: "Version of the interface" }),
  referenceId: Schema.String.annotate({ description: "Id of the subscription" }),
  idempotencyKey: Schema.String.annotate({
    description: "The same over retries, restarts and replays of one callback, also in the header webhook-id"
  })
}

const broadcastBody = <E extends BroadcastEvent>(event: E) => {
  const kind: (typeof broadcastKinds)[E] = broadcastKinds[event]
  const fields = kind.item.fields as (typeof broadcastKinds)[E]["item"]["fields"]
  return Schema.Struct({ ...envelope, data: data([event, testEvent(event)], fields) }).annotate({
    identifier: `CallbackBody.${event}`,
    description: `Told of ${kind.words}`
  })
}

const body = <E extends string, F extends Schema.Struct.Fields>(event: E, fields: F, kind: EventKind) => {
  const isOfBlock = kind.seenIn === "block"
  const again = isOfBlock ? { ...fields, restoresIdempotencyKey } : fields
  const told = data([event, testEvent(event)], again as F & { restoresIdempotencyKey: typeof restoresIdempotencyKey })
  const reverted = data([revertedEvent(event)], { ...fields, restoresIdempotencyKey, revertedIdempotencyKey })
  const corrected = data([correctedEvent(event)], { ...fields, restoresIdempotencyKey, correctedIdempotencyKey })
  const correctedReverted = data([revertedEvent(correctedEvent(event))], {
    ...{ ...fields, restoresIdempotencyKey, correctedIdempotencyKey, revertedIdempotencyKey }
  })
  const isCorrected = kind.class === "coin" && isOfBlock
  return Schema.Struct({
    ...envelope,
    data: Schema.Union(
      (isCorrected
        ? [told, reverted, corrected, correctedReverted]
        : isOfBlock
          ? [told, reverted]
          : [told]) as readonly [typeof told, typeof reverted, typeof corrected, typeof correctedReverted]
    )
  }).annotate({ identifier: `CallbackBody.${event}`, description: `Told to a subscription to ${kind.words}` })
}

type Bodies = {
  readonly [E in EventType]: ReturnType<typeof body<E, (typeof eventKinds)[E]["item"]["fields"]>>
} & { readonly [E in BroadcastEvent]: ReturnType<typeof broadcastBody<E>> }

/**
 * The body of the callbacks of each event, with its tests, retractions and corrections.
 *
 * @example
 * ```ts
 * import { callbackBodies } from "@headwater/core/events/CallbackBody"
 * import * as Schema from "effect/Schema"
 *
 * const text =
 *   '{"apiVersion":"2024-12-12","referenceId":"7c2f8a35","idempotencyKey":"4b6f","data":{"product":"BLOCKCHAIN_EVENTS",' +
 *   '"event":"BLOCK_MINED","item":{"blockchain":"bitcoin","network":"mainnet","height":1,"hash":"00","timestamp":9}}}'
 * const { data } = Schema.decodeSync(Schema.fromJsonString(callbackBodies.BLOCK_MINED))(text)
 * data.item.height // => 1
 * ```
 */
export const callbackBodies = Object.fromEntries<unknown>([
  ...EventType.literals.map((event) => [event, body(event, eventKinds[event].item.fields, eventKinds[event])] as const),
  ...BroadcastEvent.literals.map((event) => [event, broadcastBody(event)] as const)
]) as Bodies

/** The body of any callback: `data.event` distinguishes the forms. */
export const CallbackBody = Schema.Union(Object.values(callbackBodies)) as Schema.Union<
  ReadonlyArray<Bodies[keyof Bodies]>
>
export type CallbackBody = Bodies[keyof Bodies]["Type"]
