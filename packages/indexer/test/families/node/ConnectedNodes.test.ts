import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import { TronFamily } from "@headwater/indexer/families/tron/TronFamily"
import { XrpFamily } from "@headwater/indexer/families/xrp/XrpFamily"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { FakeChain } from "../../sync/FakeChain.ts"

const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
const nodeOf = () => ({ family: "xrp" as const, source: new FakeChain(xrp).source, sideSources: {} })

describe("ConnectedNodes", () => {
  it.effect("has the node of a chain until its scope closes, and the newer one of two", () =>
    Effect.gen(function* () {
      const nodes = yield* ConnectedNodes
      const missing = Effect.map(Effect.flip(nodes.of(xrp)), ({ message }) => message)
      assert.strictEqual(yield* missing, "no node is connected")
      const [first, second] = [nodeOf(), nodeOf()]
      const [old, young] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.provide(nodes.connect(xrp, first), old)
      assert.strictEqual(yield* nodes.of(xrp), first)
      yield* Scope.provide(nodes.connect(xrp, second), young)
      yield* Scope.close(old, Exit.void)
      assert.strictEqual(yield* nodes.of(xrp), second)
      yield* Scope.close(young, Exit.void)
      assert.strictEqual(yield* missing, "no node is connected")
    }).pipe(Effect.provide(ConnectedNodes.layer))
  )

  it.effect("has it for the chain's own family alone", () =>
    Effect.gen(function* () {
      const nodes = yield* ConnectedNodes
      const node = nodeOf()
      yield* nodes.connect(xrp, node)
      assert.strictEqual<unknown>(yield* nodes.ofFamily(xrp, XrpFamily), node)
      const exit = yield* Effect.exit(nodes.ofFamily(xrp, TronFamily))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }).pipe(Effect.scoped, Effect.provide(ConnectedNodes.layer))
  )
})
