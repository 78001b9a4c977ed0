import { assert, describe, it } from "@effect/vitest"
import { CallbackBody, callbackBodies } from "@headwater/core/events/CallbackBody"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType } from "@headwater/core/events/EventType"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { callbacks } from "./EventBlocks.ts"

const closed = { onExcessProperty: "error" } as const
const isBodyOf = (event: EventType, body: unknown) =>
  Result.isSuccess(Schema.decodeUnknownResult(callbackBodies[event] as Schema.Codec<unknown>, closed)(body))

describe("CallbackBody", () => {
  it("decodes every callback as the event's own, with no field beside, and as no other event's", () => {
    for (const { body, event } of callbacks()) {
      const parsed = JSON.parse(body)
      assert.deepStrictEqual(
        EventType.literals.filter((each) => isBodyOf(each, parsed)),
        [event]
      )
      assert.deepStrictEqual<unknown>(Schema.decodeSync(Schema.fromJsonString(CallbackBody))(body), parsed)
    }
  })

  it("decodes tests, retractions and corrections, each with the key of the callback that it is about", () => {
    for (const { body, event } of callbacks()) {
      const { data, ...rest } = JSON.parse(body)
      const told = (suffix: string, keys: object = {}) =>
        isBodyOf(event, { ...rest, data: { ...data, event: `${event}${suffix}`, item: { ...data.item, ...keys } } })
      const reverted = { revertedIdempotencyKey: "4b6f" }
      const corrected = { correctedIdempotencyKey: "4b6f" }
      const restored = { restoresIdempotencyKey: "4b6f" }
      const ofBlock = eventKinds[event].seenIn === "block"
      const ofCoins = event.startsWith("ADDRESS_COINS_") && ofBlock
      assert.isTrue(told("_TEST"), event)
      assert.isFalse(told("_TEST", reverted), event)
      assert.strictEqual(told("", restored), ofBlock, event)
      assert.strictEqual(told("_REVERTED", reverted), ofBlock, event)
      assert.strictEqual(told("_REVERTED", { ...restored, ...reverted }), ofBlock, event)
      assert.isFalse(told("_REVERTED"), event)
      assert.strictEqual(told("_CORRECTED", corrected), ofCoins, event)
      assert.isFalse(told("_CORRECTED"), event)
      assert.strictEqual(told("_CORRECTED_REVERTED", { ...corrected, ...reverted }), ofCoins, event)
      assert.isFalse(told("_OF_A_LATER_RELEASE"), event)
    }
  })
})
