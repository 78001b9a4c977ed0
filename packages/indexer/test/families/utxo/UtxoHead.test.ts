import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type { Announcements } from "@headwater/indexer/families/utxo/Announcements"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import { block, paid, p2pkh, parent, tip, transaction } from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "hex"))

const coinbaseOf = (byte: number) => transaction([], [paid("50.00000000", p2pkh(byte))])
const next = block(101, tip.json.hash, [coinbaseOf(1)])
const other = block(101, tip.json.hash, [coinbaseOf(2)])
const raw = Object.fromEntries([parent, tip, next, other].map(({ json, raw }) => [json.hash, raw]))

/** A node that answers each `getblockhash` when it has been asked for a block beside, once `holds()`; else, after a while, with no hash. */
const hesitant = (answer: FakeNode.Answer, holds: () => boolean) => {
  let asked = Promise.withResolvers<void>()
  return FakeNode.http(async (request, response) => {
    const body = JSON.parse(await FakeNode.bodyOf(request)) as FakeNode.Call | ReadonlyArray<FakeNode.Call>
    const calls = [body].flat() as ReadonlyArray<FakeNode.Call>
    if (holds()) {
      if (calls.some(({ method }) => method === "getblock")) asked.resolve()
      if (calls.some(({ method }) => method === "getblockhash")) {
        const isAlone = await Promise.race([asked.promise, setTimeout(3_000, true)])
        if (isAlone === true) return void response.end(JSON.stringify({ id: calls[0]!.id, result: null }))
        asked = Promise.withResolvers<void>()
      }
    }
    const answers = calls.map((call) => FakeNode.answerTo(call, answer))
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
}

const announcing = (hash: () => string | undefined): Announcements => ({
  ...{ block: Effect.never, transaction: Effect.never },
  blockHash: () => {
    const announced = hash()
    return announced === undefined ? undefined : bytes(announced)
  }
})

describe("UtxoSource: the block at the head", () => {
  it.live(
    "is asked for together with its hash: the newest that a node has named, and one that is announced above",
    () =>
      Effect.gen(function* () {
        let holds = false
        const found = UtxoNode.answers("numeric", { blocks: [parent.json, tip.json], raw })
        const risen = UtxoNode.answers("numeric", { blocks: [parent.json, tip.json, next.json], raw })
        let announced: string | undefined
        const node = yield* hesitant(
          (method, params) => (announced === undefined ? found : risen)(method, params),
          () => holds
        )
        const rpc = yield* JsonRpc.make({ urls: [node.url] })
        const source = yield* UtxoSource.make(bitcoin, rpc, { announcements: announcing(() => announced) })
        holds = true
        assert.strictEqual(hex((yield* source.blockAt(100)).hash), tip.json.hash)
        announced = next.json.hash
        assert.strictEqual(hex((yield* source.blockAt(101)).hash), next.json.hash)
      }).pipe(Effect.scoped)
  )

  for (const [name, announced] of [
    ["another block of its height", other.json.hash],
    ["one that the node does not have", "ab".repeat(32)],
    ["one below", parent.json.hash]
  ] as const) {
    it.live(`is the node's own where ${name} was announced`, () =>
      Effect.gen(function* () {
        const found = UtxoNode.answers("numeric", { blocks: [parent.json, tip.json], raw })
        // `other` is known, and no part of the chain.
        const risen = UtxoNode.answers("numeric", { blocks: [parent.json, tip.json, other.json, next.json], raw })
        let answer = found
        const node = yield* FakeNode.make((method, params) => answer(method, params))
        const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
        const source = yield* UtxoSource.make(bitcoin, rpc, { announcements: announcing(() => announced) })
        answer = risen
        assert.strictEqual(hex((yield* source.blockAt(101)).hash), next.json.hash)
      }).pipe(Effect.scoped)
    )
  }
})
