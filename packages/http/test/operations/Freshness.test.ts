import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Freshness from "@headwater/http/operations/Freshness"
import { EvmFamily } from "@headwater/indexer/families/evm/EvmFamily"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const record = {
  ...{ chain, name: "ethereum/mainnet" },
  tip: Effect.succeed({ height: 10, hash: new Uint8Array(32), reorganisations: 0 })
} as unknown as ChainReader

/** What a look-up gets of a node at block 9 beside a record at 10, where the node has the next one after so long, if ever. */
const answered = (millis: number) =>
  Effect.gen(function* () {
    let height = 9
    const head = Effect.sync(() => ({ height, hash: new Uint8Array(32), final: undefined }))
    const node = { family: "evm", source: { head } } as unknown as ConnectedNode
    yield* Effect.flatMap(ConnectedNodes, ({ connect }) => connect(chain, node))
    const freshness = yield* Freshness.make(record, EvmFamily)
    const asked = yield* Effect.forkChild(Effect.result(freshness.nodeAtHead))
    yield* TestClock.adjust(millis)
    height = 10
    yield* TestClock.adjust("5 seconds")
    return yield* Fiber.join(asked)
  }).pipe(Effect.scoped, Effect.provide(Layer.merge(ConnectedNodes.layer, ChainStatus.layer)))

describe("Freshness", () => {
  it.effect("waits a moment for a node that is behind the record: another one may have given its newest block", () =>
    Effect.map(answered(900), (result) => assert.strictEqual(Result.getOrThrow(result).head.height, 10))
  )

  it.effect("refuses what a node says that stays behind the record", () =>
    Effect.gen(function* () {
      const { message, retryAfter } = Result.getOrThrow(Result.flip(yield* answered(2_000)))
      assert.strictEqual(message, "The node of ethereum/mainnet is behind: at block 9, not 10")
      assert.strictEqual(retryAfter, 12)
    })
  )
})
