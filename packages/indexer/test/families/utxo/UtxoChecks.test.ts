/** Blocks of a node that is wrong or hostile, and blocks that it does not have. */
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import { coinbase, first, merkleRootOf, part, second, tip } from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const open = (answer: FakeNode.Answer) => UtxoNode.source(bitcoin, answer)

describe("UtxoSource: what is refused", () => {
  const [a, b, c] = tip.json.tx as ReadonlyArray<UtxoNode.NodeTransaction>
  const withOutput = (change: object): object => ({
    tx: [{ ...a, vout: [{ ...a!.vout[0], ...change }, a!.vout[1]] }, b, c]
  })
  const refusals: ReadonlyArray<[string, object, RegExp]> = [
    ["another hash", { hash: "cd".repeat(32) }, /^hash is not the one/],
    ["a hash that is too short", { hash: "abcd" }, /^hash must be 64 hex digits/],
    ["another height", { height: 99 }, /^height is 99/],
    ["no height", { height: undefined }, /^height must be/],
    ["no parent", { previousblockhash: undefined }, /^previousblockhash /],
    ["no time", { time: undefined }, /^time must be/],
    ["no merkleroot", { merkleroot: undefined }, /^merkleroot must be/],
    ["no transactions", { tx: [], nTx: 0 }, /^tx must not be empty/],
    ["transactions that are no list", { tx: {} }, /^tx must be an array/],
    ["a short list", { tx: [a, b] }, /^merkleroot is not that/],
    ["a short list that is not counted", { tx: [a, b], nTx: undefined }, /^merkleroot is not that/],
    ["another order", { tx: [a, c, b] }, /^merkleroot is not that/],
    ["a foreign transaction", { tx: [a, b, { ...c, txid: "cd".repeat(32) }] }, /^merkleroot is not that/],
    ["the last transaction twice, which keeps the root", { tx: [a, b, c, c], nTx: 4 }, /^tx must not have .* twice/]
  ]
  for (const [name, change, message] of refusals) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const good = UtxoNode.answers("core", part)
        let tampered = false
        const source = yield* open((method, params) => {
          const answer = good(method, params)
          return tampered && method === "getblock" ? { ...(answer as object), ...change } : answer
        })
        yield* source.blockAt(100)
        tampered = true
        const error = yield* Effect.flip(source.blockAt(100))
        assert.strictEqual(error._tag, /merkleroot is not/.test(message.source) ? "ProofFailed" : "NodeInconsistent")
        assert.match(error.message, message)
      })
    )
  }

  const named: ReadonlyArray<[string, object, RegExp]> = [
    ["an id that is no hash", { tx: [a, b, { ...c, txid: "xyz" }] }, /^tx\[2\].txid must be hex/],
    ["a transaction without inputs", { tx: [a, b, { ...c, vin: undefined }] }, /^tx\[2\].vin must be an array/],
    ["an input of nothing", { tx: [a, b, { ...c, vin: [{ sequence: 1 }] }] }, /^tx\[2\].vin\[0\].txid must be/],
    ["a negative amount", withOutput({ value: -1 }), /^tx\[0\].vout\[0\].value must not be negative/],
    ["an amount below the smallest unit", withOutput({ value: 0.123456789 }), /value must have at most 8 digits/],
    ["no amount", withOutput({ value: null }), /^tx\[0\].vout\[0\].value must be a decimal number/],
    ["no script", withOutput({ scriptPubKey: undefined }), /^tx\[0\].vout\[0\].scriptPubKey must be an object/],
    ["a script that is not hex", withOutput({ scriptPubKey: { hex: "7" } }), /scriptPubKey.hex must be hex text/],
    ["outputs out of order", withOutput({ n: 1 }), /^tx\[0\].vout\[0\].n must be the position/]
  ]
  for (const [name, change, rule] of named) {
    it.effect(`${name}: the rest is told, and the transaction named`, () =>
      Effect.gen(function* () {
        const good = UtxoNode.answers("core", part)
        const source = yield* open((method, params) => {
          const answer = good(method, params)
          return method === "getblock" && typeof answer === "object" ? { ...answer, ...change } : answer
        })
        const block = yield* source.blockAt(100)
        assert.strictEqual(block.notUnderstood?.length, 1)
        assert.match(block.notUnderstood?.[0]?.reason ?? "", rule)
        const whole = yield* (yield* open(good)).blockAt(100)
        const untouched = block.transactions.findIndex((id) => Buffer.from(id).toString("hex") === second.txid)
        const of = ({ transfers }: Block) => transfers.filter(({ transaction }) => transaction === untouched)
        assert.deepStrictEqual(of(block), of(whole))
      })
    )
  }

  it.effect("a list too short beside an id that is no hash", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", part)
      let tampered = false
      const source = yield* open((method, params) => {
        const answer = good(method, params)
        return tampered && method === "getblock" ? { ...(answer as object), tx: [a, { ...b, txid: "xyz" }] } : answer
      })
      tampered = true
      assert.match((yield* Effect.flip(source.blockAt(100))).message, /^tx has 2 entries, but nTx says otherwise/)
    })
  )

  it.effect("the three transactions with the last one twice do have the same root", () =>
    Effect.sync(() => {
      const ids = [coinbase.txid, second.txid, first.txid]
      assert.strictEqual(merkleRootOf([...ids, first.txid]), merkleRootOf(ids))
    })
  )

  for (const [name, change, message, tag] of [
    ["cut off in its header", (raw: string) => raw.slice(0, 140), /ends early/, "NodeInconsistent"],
    ["with bytes behind it", (raw: string) => `${raw}00`, /bytes behind/, "NodeInconsistent"],
    ["of another header", (raw: string) => `02${raw.slice(2)}`, /^hash is not that of the raw block/, "ProofFailed"],
    [
      "with another amount",
      (raw: string) => raw.replace("00f2052a01", "01f2052a01"),
      /^merkleroot is not that of the transactions/,
      "ProofFailed"
    ]
  ] as const) {
    it.effect(`a raw block ${name}`, () =>
      Effect.gen(function* () {
        const raw = { [tip.json.hash]: change(tip.raw) }
        const source = yield* open(UtxoNode.answers("boolean", { blocks: [tip.json], raw }, { txindex: false }))
        const error = yield* Effect.flip(source.blockAt(100))
        assert.strictEqual(error._tag, tag)
        assert.match(error.message, message)
      })
    )
  }

  for (const [name, fail] of [
    ["-5", () => new FakeNode.RpcError(-5, "Block not found")],
    ["-8", () => new FakeNode.RpcError(-8, "Block height out of range")],
    ["bcoin's -1", () => new FakeNode.RpcError(-1, "Block not found")],
    ["null", () => undefined]
  ] as const) {
    it.effect(`an unknown block is missing: ${name}`, () =>
      Effect.gen(function* () {
        const good = UtxoNode.answers("core", part)
        let gone: string | undefined
        const source = yield* open((method, params) => {
          if (method !== gone) return good(method, params)
          const error = fail()
          if (error !== undefined) throw error
          return null
        })
        gone = "getblock"
        assert.strictEqual((yield* Effect.flip(source.blockAt(100)))._tag, "BlockMissing")
        gone = "getblockhash"
        assert.strictEqual((yield* Effect.flip(source.blockAt(100)))._tag, "BlockMissing")
        assert.strictEqual((yield* Effect.flip(source.hashAt(100)))._tag, "BlockMissing")
      })
    )
  }

  it.effect("a block that was pruned is missing, in the node's words", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", part)
      let pruned = false
      const source = yield* open((method, params) => {
        if (pruned && method === "getblock") throw new FakeNode.RpcError(-1, "Block not available (pruned data)")
        return good(method, params)
      })
      pruned = true
      const error = yield* Effect.flip(source.blockAt(100))
      assert.strictEqual(error._tag, "BlockMissing")
      assert.match(error.message, /pruned data/)
    })
  )
})
