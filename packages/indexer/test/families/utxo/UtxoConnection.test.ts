import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as UtxoConnection from "@headwater/indexer/families/utxo/UtxoConnection"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import { part } from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

/** Connects where nothing can be heard over ZeroMQ, and waits until that is logged or `millis` are over. */
const connected = (announcements: boolean, millis: number) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  return Effect.gen(function* () {
    const { url } = yield* FakeNode.make(UtxoNode.answers("core", part))
    const node = yield* UtxoConnection.connect(bitcoin, {
      ...{ nodes: [Redacted.make(url)], start: "latest", verify: "roots", timeoutMillis: 5_000, parallel: 2 },
      ...{ internalTransactions: false, announcements, zmq: ["tcp://nowhere"] }
    })
    for (let waited = 0; waited < millis && lines.length === 0; waited += 10) yield* Effect.sleep("10 millis")
    return { node, lines }
  }).pipe(Effect.provide(Logger.layer([logger])), Effect.scoped)
}

describe("UtxoConnection", () => {
  it.live("has blocks, the mempool and the search of coins; listens to announcements unless it is not to", () =>
    Effect.gen(function* () {
      const { lines, node } = yield* connected(true, 10_000)
      assert.match(lines.join(), /^No announcements over ZeroMQ/)
      assert.strictEqual(node.family, "utxo")
      assert.strictEqual(node.sideSources.mempool, node.source.mempool)
      assert.strictEqual(node.sideSources.coinSearch, node.source.search)
      assert.deepStrictEqual((yield* connected(false, 300)).lines, [])
    })
  )
})
