import { assert, describe, it } from "@effect/vitest"
import { fromBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { Coin } from "@headwater/core/utxo/Coin"
import type { Call, JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as UtxoPreparation from "@headwater/indexer/families/utxo/UtxoPreparation"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"

const chainOf = (name: string) => Chain.ofName(`${name}/mainnet`)!

/** A node that answers so, and refuses what it has no answer to. */
const node = (answer: (call: Call) => unknown): JsonRpc => {
  const one = (call: Call) => {
    const result = answer(call)
    return result === undefined
      ? Result.fail(new NodeRejected({ node: "node", method: call.method, code: -32601, message: "Method not found" }))
      : Result.succeed(result)
  }
  return {
    node: "node",
    call: (method, params) => Effect.suspend(() => Effect.fromResult(one({ method, params }))),
    batch: (calls) => Effect.fromResult(Result.all(calls.map(one))),
    results: (calls) => Effect.succeed(calls.map(one))
  }
}

const script = fromBytes(Uint8Array.of(0x76, 0xa9, 20, ...new Uint8Array(20), 0x88, 0xac))
const hex = Buffer.from(script).toString("hex")
const coin: Coin = {
  outpoint: { transactionId: new Uint8Array(32).fill(7), index: 3 },
  ...{ script, amount: 150_000_000n, height: 42 }
}

/** Answers of nodes by their software. */
const floors = (call: Call) =>
  call.method === "getnetworkinfo"
    ? { relayfee: "0.00001000" }
    : call.method === "getmempoolinfo"
      ? { mempoolminfee: "0.00002000" }
      : undefined

describe("UtxoPreparation", () => {
  it.effect("asks Bitcoin Core for a rate by blocks and mode, no less than the least that it takes", () =>
    Effect.gen(function* () {
      const asked: Array<ReadonlyArray<unknown>> = []
      const { feeRates } = UtxoPreparation.make(
        chainOf("bitcoin"),
        node((call) => {
          if (call.method !== "estimatesmartfee") return floors(call)
          asked.push(call.params)
          const [blocks] = call.params as [number]
          return { feerate: blocks === 2 ? "0.00030000" : blocks === 1_008 ? "0.00005000" : "0.00001500", blocks }
        })
      )
      assert.deepStrictEqual(yield* feeRates("fast"), { rate: 30_000n, longTermRate: 5_000n, least: 2_000n })
      // The estimate is below what the full mempool takes.
      assert.deepStrictEqual(yield* feeRates("standard"), { rate: 3_000n, longTermRate: 5_000n, least: 2_000n })
      yield* feeRates("slow")
      assert.deepInclude(asked, [2, "CONSERVATIVE"])
      assert.deepInclude(asked, [6, "ECONOMICAL"])
      assert.deepInclude(asked, [24, "ECONOMICAL"])
    })
  )

  it.effect(
    "expects in the long term no more than is asked for now, or ten times the least: change below that is given away",
    () =>
      Effect.gen(function* () {
        const ratesBy = (now: string, later: string) =>
          UtxoPreparation.make(
            chainOf("bitcoin"),
            node((call) => {
              if (call.method !== "estimatesmartfee") return floors(call)
              const [blocks] = call.params as [number]
              return { feerate: blocks === 1_008 ? later : now, blocks }
            })
          ).feeRates("fast")
        assert.strictEqual((yield* ratesBy("0.00030000", "0.50000000")).longTermRate, 30_000n)
        assert.strictEqual((yield* ratesBy("0.00004000", "0.50000000")).longTermRate, 20_000n)
        assert.strictEqual((yield* ratesBy("0.00004000", "0.00010000")).longTermRate, 10_000n)
      })
  )

  it.effect("takes a rate from nodes that estimate in other ways, or not at all", () =>
    Effect.gen(function* () {
      // Dogecoin Core 1.14 has no mode.
      const dogecoin = node((call) =>
        call.method === "estimatesmartfee" && call.params.length === 1
          ? { feerate: call.params[0] === 1_008 ? -1 : "0.01003342", blocks: 6 }
          : call.method === "getnetworkinfo"
            ? { relayfee: "0.00100000" }
            : undefined
      )
      assert.deepStrictEqual(yield* UtxoPreparation.make(chainOf("dogecoin"), dogecoin).feeRates("standard"), {
        ...{ rate: 1_003_342n, longTermRate: 1_000_000n, least: 1_000_000n }
      })
      // Nor are there estimates after a start; what it relays for less miners leave out.
      const started = node((call) => (call.method === "getnetworkinfo" ? { relayfee: "0.00100000" } : undefined))
      const { feeRates } = UtxoPreparation.make(chainOf("dogecoin"), started)
      for (const priority of ["slow", "standard", "fast"] as const)
        assert.deepInclude(yield* feeRates(priority), { rate: 1_000_000n, least: 1_000_000n })
      // Bitcoin Cash Node has no blocks.
      const bitcoinCash = node((call) =>
        call.method === "estimatefee" && call.params.length === 0 ? "0.00003000" : floors(call)
      )
      assert.strictEqual(
        (yield* UtxoPreparation.make(chainOf("bitcoin-cash"), bitcoinCash).feeRates("fast")).rate,
        3_000n
      )
      const without = UtxoPreparation.make(chainOf("litecoin"), node(floors))
      assert.deepStrictEqual(yield* without.feeRates("fast"), { rate: 3_000n, longTermRate: 20_000n, least: 2_000n })
      const nonsense = node((call) => (call.method === "estimatesmartfee" ? { feerate: "21000000" } : floors(call)))
      const refused = yield* Effect.flip(UtxoPreparation.make(chainOf("bitcoin"), nonsense).feeRates("fast"))
      assert.strictEqual(refused._tag, "NodeInconsistent")
    })
  )

  it.effect("takes what an action costs from nodes of Zcash, within what ZIP-317 and ZIP-2009 say", () =>
    Effect.gen(function* () {
      const actionBy = (said: unknown, name = "zcash") => {
        const answers = node((call) => (call.method === "getstandardfee" ? said : floors(call)))
        return Effect.map(UtxoPreparation.make(chainOf(name), answers).feeRates("fast"), ({ action }) => action)
      }
      assert.strictEqual(yield* actionBy({ standard_fee: 1_000, version: 0 }), 1_000n)
      for (const said of [
        undefined,
        null,
        {},
        "1000",
        ...[0, -1, 999, 1_000.5, 5_000, 2 ** 60].map((fee) => ({ standard_fee: fee }))
      ]) {
        assert.strictEqual(yield* actionBy(said), undefined)
      }
      assert.strictEqual(yield* actionBy({ standard_fee: 1_000 }, "bitcoin"), undefined)
      // By bytes it is what outputs take, the dearest of a transaction: Zebra's own least is a thousandth of that.
      const zebra = (standardFee?: number) =>
        node(({ method }) => {
          if (method === "getnetworkinfo") return { relayfee: "0.00000100" }
          return method === "getstandardfee" && standardFee !== undefined ? { standard_fee: standardFee } : undefined
        })
      for (const [standardFee, rate] of [
        [undefined, 147_058n],
        [1_000, 29_411n]
      ] as const) {
        const { feeRates } = UtxoPreparation.make(chainOf("zcash"), zebra(standardFee))
        for (const priority of ["slow", "fast"] as const) assert.deepInclude(yield* feeRates(priority), { rate })
      }
    })
  )

  it.effect(
    "takes the rate of waiting transactions where the node has no estimate, of some for all, once for a while",
    () =>
      Effect.gen(function* () {
        const ids = Array.from({ length: 3_500 }, (_, i) => i.toString(16).padStart(64, "0"))
        const asked: Record<string, number> = {}
        const mempool = { bytes: 1_750_000, size: ids.length }
        const { feeRates } = UtxoPreparation.make(
          chainOf("bitcoin"),
          node(({ method, params }) => {
            asked[method] = (asked[method] ?? 0) + 1
            if (method === "getnetworkinfo") return { relayfee: "0.00001000" }
            if (method === "getmempoolinfo") return { ...mempool, mempoolminfee: "0.00001000" }
            if (method === "getrawmempool") return ids
            if (method === "estimatesmartfee") return { errors: ["Insufficient data or no feerate found"] }
            if (method !== "getmempoolentry") return undefined
            const number = Number.parseInt(params[0] as string, 16)
            // One in three is as Dogecoin has it, and one in three pays with what it spends from a tenth of that.
            const fee = (number + 1) * 500
            const base = (fee / 1e8).toFixed(8)
            if (number % 3 === 0) return { size: 500, fee: base }
            const fees = number % 3 === 1 ? { base, ancestor: base } : { base, ancestor: (fee / 1e9).toFixed(8) }
            return { vsize: 500, ancestorsize: 500, fees }
          })
        )
        const { rate } = yield* feeRates("fast")
        // 1,000 are ahead: of every three two pay 1,000 times their number.
        assert.isTrue(rate > 1_980_000n && rate < 2_020_000n, `${rate}`)
        assert.strictEqual(asked.getmempoolentry, 500)
        const standard = yield* feeRates("standard")
        assert.isTrue(standard.rate > 480_000n && standard.rate < 520_000n, `${standard.rate}`)
        // All that waits fits into what may go before.
        assert.strictEqual((yield* feeRates("slow")).rate, 1_000n)
        assert.deepStrictEqual([asked.getmempoolentry, asked.getrawmempool], [500, 1])
        yield* TestClock.adjust("1 minute")
        yield* feeRates("fast")
        assert.strictEqual(asked.getrawmempool, 2)
        mempool.size = 200_000
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* feeRates("fast")).rate, 1_000n)
        assert.strictEqual(asked.getrawmempool, 2)
      })
  )

  it.effect("says of each coin whether the next block may spend it", () =>
    Effect.gen(function* () {
      const stateOf = (name: string, output: unknown) =>
        UtxoPreparation.make(
          chainOf(name),
          node(({ method, params }) => {
            assert.deepStrictEqual([method, params], ["gettxout", ["07".repeat(32), 3, true]])
            return output
          })
        ).statesOf([coin])
      const output = { value: "1.50000000", scriptPubKey: { hex }, confirmations: 100, coinbase: false }
      assert.deepStrictEqual(yield* stateOf("bitcoin", output), ["spendable"])
      assert.deepStrictEqual(yield* stateOf("bitcoin", null), ["spent"])
      assert.deepStrictEqual(yield* stateOf("bitcoin", { ...output, coinbase: true }), ["spendable"])
      assert.deepStrictEqual(yield* stateOf("bitcoin", { ...output, coinbase: true, confirmations: 99 }), ["immature"])
      assert.deepStrictEqual(yield* stateOf("dogecoin", { ...output, coinbase: true, confirmations: 239 }), [
        "immature"
      ])
      assert.deepStrictEqual(yield* stateOf("dogecoin", { ...output, coinbase: true, confirmations: 240 }), [
        "spendable"
      ])
      assert.deepStrictEqual(yield* stateOf("zcash", { ...output, coinbase: true, confirmations: 9_999 }), ["immature"])
      assert.deepStrictEqual(yield* stateOf("bitcoin-cash", { ...output, tokenData: { amount: "1" } }), ["token"])
      // Another amount than the blocks have shown would make another hash, and another fee.
      for (const wrong of [
        { value: "1.5001" },
        { scriptPubKey: { hex: `${hex}00` } },
        { confirmations: "x", coinbase: true }
      ]) {
        const refused = yield* Effect.flip(stateOf("bitcoin", { ...output, ...wrong }))
        assert.strictEqual(refused._tag, "NodeInconsistent")
      }
    })
  )

  it.effect("knows a young coin that came out of MWEB by the transaction that made it", () =>
    Effect.gen(function* () {
      const output = { value: "1.50000000", scriptPubKey: { hex }, coinbase: false }
      const stateAt = (confirmations: number, raw: string) =>
        UtxoPreparation.make(
          chainOf("litecoin"),
          node(({ method }) =>
            method === "gettxout"
              ? { ...output, confirmations }
              : method === "getrawtransaction" && confirmations < 6
                ? raw
                : undefined
          )
        ).statesOf([coin])
      const hogEx = "020000000008010000"
      assert.deepStrictEqual(yield* stateAt(5, hogEx), ["peggedOut"])
      assert.deepStrictEqual(yield* stateAt(6, hogEx), ["spendable"])
      assert.deepStrictEqual(yield* stateAt(5, "020000000001010000"), ["spendable"])
      assert.deepStrictEqual(yield* stateAt(5, "0200000008080800"), ["spendable"])
      // What waits may have a part in MWEB, and is no HogEx.
      assert.deepStrictEqual(yield* stateAt(0, hogEx), ["spendable"])
    })
  )

  it.effect("finds the transactions that made coins by the index, by their block, or says that nobody shows them", () =>
    Effect.gen(function* () {
      const other: Coin = { ...coin, outpoint: { transactionId: new Uint8Array(32).fill(8), index: 0 }, height: 43 }
      const third: Coin = { ...coin, outpoint: { transactionId: new Uint8Array(32).fill(9), index: 0 }, height: 44 }
      const { makersOf } = UtxoPreparation.make(
        chainOf("bitcoin"),
        node(({ method, params }) => {
          if (method === "getblockhash") return `block ${params[0]}`
          const [id, , block] = params
          if (id === "07".repeat(32) && block === undefined) return "0707"
          return id === "08".repeat(32) && block === "block 43" ? "0808" : undefined
        })
      )
      assert.deepStrictEqual(
        (yield* makersOf([coin, other, third, coin])).map((bytes) => bytes && Buffer.from(bytes).toString("hex")),
        ["0707", "0808", undefined, "0707"]
      )
    })
  )

  it.effect("says what a waiting transaction and those that it spends from pay, in the words of each node", () =>
    Effect.gen(function* () {
      const ancestorsOf = (name: string, entry: unknown) =>
        UtxoPreparation.make(
          chainOf(name),
          node(({ method }) => (method === "getmempoolentry" ? entry : undefined))
        ).ancestorsOf("07".repeat(32))
      const counts = { vsize: 200, ancestorcount: 3, ancestorsize: 650, descendantcount: 1 }
      const expected = { count: 3, size: 650, fee: 700n, own: { size: 200, fee: 100n }, hasChild: false }
      const fees = { base: "0.00000100", ancestor: "0.00000700" }
      assert.deepStrictEqual(yield* ancestorsOf("bitcoin", { ...counts, fees }), expected)
      assert.deepStrictEqual(
        yield* ancestorsOf("dogecoin", { ...counts, descendantcount: 2, fee: "0.00000100", ancestorfees: 700 }),
        { ...expected, hasChild: true }
      )
      assert.strictEqual(yield* ancestorsOf("bitcoin-cash", { size: 200, fees: { base: "0.00000100" } }), "unsaid")
      assert.strictEqual(yield* ancestorsOf("zcash", undefined), "unsaid")
      const gone = UtxoPreparation.make(chainOf("bitcoin"), {
        ...node(() => undefined),
        call: (method) =>
          Effect.fail(new NodeRejected({ node: "node", method, code: -5, message: "Transaction not in mempool" }))
      })
      assert.strictEqual(yield* gone.ancestorsOf("07".repeat(32)), "absent")
    })
  )

  it.effect("reads the consensus branch of Zcash's next block", () =>
    Effect.gen(function* () {
      const info = { blocks: 2_900_000, consensus: { chaintip: "c8e71055", nextblock: "4dec4df0" } }
      const { nextBranch } = UtxoPreparation.make(
        chainOf("zcash"),
        node(() => info)
      )
      assert.deepStrictEqual(yield* nextBranch, { id: 0x4dec4df0, height: 2_900_001 })
      for (const wrong of [{ blocks: 1 }, { ...info, consensus: { nextblock: "4dec4d" } }]) {
        const { nextBranch } = UtxoPreparation.make(
          chainOf("zcash"),
          node(() => wrong)
        )
        assert.strictEqual((yield* Effect.flip(nextBranch))._tag, "NodeInconsistent")
      }
    })
  )
})
