import { assert, describe, it } from "@effect/vitest"
import * as Capability from "@headwater/indexer/families/Capability"
import * as InternalEvents from "@headwater/indexer/families/InternalEvents"
import * as Effect from "effect/Effect"

const internal = "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
const on = { internalTransactions: true }

describe("InternalEvents", () => {
  it.effect("are served where the node has what they are read from", () =>
    Effect.gen(function* () {
      const traces = Effect.succeed([Capability.has(Capability.internalTransactions, "trace_block")])
      assert.isUndefined(yield* InternalEvents.unserved(internal, on, traces))
      assert.isUndefined(yield* InternalEvents.unserved(internal, on, Effect.succeed([])))
    })
  )

  it.effect("are not where the node lacks it, with the reason, nor where the settings do without", () =>
    Effect.gen(function* () {
      const none = Effect.succeed([Capability.lacks(Capability.internalTransactions, "the node gives no traces")])
      for (const event of [internal, `${internal}_EACH_CONFIRMATION`] as const) {
        assert.strictEqual(
          yield* InternalEvents.unserved(event, on, none),
          "Internal transactions: the node gives no traces"
        )
        assert.strictEqual(
          yield* InternalEvents.unserved(event, { internalTransactions: false }, Effect.die("not asked")),
          "Internal transactions are switched off by the settings"
        )
      }
    })
  )

  it.effect("alone depend on the node, which is not asked for others", () =>
    Effect.gen(function* () {
      const other = InternalEvents.unserved("BLOCK_MINED", { internalTransactions: false }, Effect.die("not asked"))
      assert.isUndefined(yield* other)
    })
  )
})
