import { assert, describe, it } from "@effect/vitest"
import * as AnyInteger from "@headwater/http/contract/AnyInteger"
import { item } from "@headwater/http/contract/Envelope"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

describe("AnyInteger", () => {
  it.effect("is in an answer with every digit", () =>
    Effect.gen(function* () {
      const answer = item(Schema.Struct({ total: Schema.optionalKey(AnyInteger.AnyInteger) }))
      const written = (total: bigint) =>
        Effect.map(Schema.encodeEffect(Schema.toCodecJson(answer))({ item: { total: AnyInteger.of(total) } }), (body) =>
          /"total":([^}]+)/.exec(JSON.stringify(body))?.at(1)
        )
      assert.strictEqual(yield* written(58_750_003_716_598_352_816_469n), "58750003716598352816469")
      assert.strictEqual(yield* written(2n ** 53n - 1n), "9007199254740991")
    })
  )
})
