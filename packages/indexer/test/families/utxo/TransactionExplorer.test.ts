/** Transactions by id: what waits at Zebra as it shows it, and nodes whose index of transactions comes and goes. */
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as Capabilities from "@headwater/indexer/families/utxo/internal/Capabilities"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as TransactionExplorer from "@headwater/indexer/families/utxo/TransactionExplorer"
import * as WholeTransaction from "@headwater/indexer/families/utxo/WholeTransaction"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Litecoind from "../../../../../test/Litecoind.ts"
import * as FakeNode from "../../FakeNode.ts"
import * as UtxoBlocks from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

/** Of testnet block 4,368,633. */
const id = "eeaa894c3c46814f7228a7ecf2be84c0006c1154b5101688dd413d9a419689c0"
const hex = [
  "0600008098b684d85b16a537000000005ca942000174809dd1e32df6a22e4aecbc1fb8feff1fd62fdba80e3f8f1666bc1419a3b5d200000000",
  "6b483045022100b78a1461db30d256ececae36738faa4af79f9b89f79a5cb531bc411aded93cd702204753b0e80e4eeae7a4c8fbe9338597a06",
  "22ee00f09734e5a5fe643141d69680f012102e6a829db766cdf6488cfae3cd9588b1871317b625becdd5381c356923004a8cdffffffff020000",
  "000000000000266a2441524f3274f6ba041e253bb75e523e1b0d00422e44221c7a0240757cd1a40ad15d51366220ac9700000000001976a914",
  "210c1452fa23b003f258d03dbfad4eb5e063eb7988ac00000000"
].join("")
const left = "ab".repeat(32)
const script = new Uint8Array(25) as AddressBytes

describe("TransactionExplorer at Zebra, which has no getmempoolentry", () => {
  it.effect("shows what waits, with the time at which it came, and not what has left", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const answer = ({ method, params }: JsonRpc.Call): Result.Result<unknown, NodeRejected> => {
        asked.push(method)
        if (method === "getrawtransaction") return Result.succeed({ txid: params[0], hex, vin: [], vout: [] })
        if (method === "getrawmempool") return Result.succeed({ [id]: { time: 1_790_000_000, size: 247 } })
        if (method === "gettxout") return Result.succeed({ confirmations: 0, value: "0.0994" })
        return Result.fail(new NodeRejected({ node: "zebra", method, code: -32601, message: "Method not found" }))
      }
      const rpc: JsonRpc.JsonRpc = {
        node: "zebra",
        call: (method, params) => Effect.suspend(() => Effect.fromResult(answer({ method, params }))),
        batch: (calls) => Effect.suspend(() => Effect.fromResult(Result.all(calls.map(answer)))),
        results: (calls) => Effect.sync(() => calls.map(answer))
      }
      const explorer = TransactionExplorer.make(
        Chain.ofName("zcash/mainnet")!,
        { ...rpc, withOne: (work: (one: JsonRpc.JsonRpc) => unknown) => work(rpc) } as unknown as JsonRpc.Nodes,
        { listed: [1], decoded: [2], raw: [0], verbose: [1], txindex: true, prevouts: false },
        (outpoints) => Effect.succeed(outpoints.map(() => ({ script, amount: 9_955_000n })))
      )
      const waiting = yield* explorer.waiting([id, left], 100)
      assert.deepStrictEqual(
        waiting.map(({ block, fee, time }) => ({ block, fee, time })),
        [{ block: undefined, fee: 15_000n, time: 1_790_000_000 }]
      )
      assert.lengthOf(
        asked.filter((method) => method === "getrawmempool"),
        1
      )
      assert.strictEqual((yield* explorer.transaction(id, 100))?.time, 1_790_000_000)
      assert.strictEqual(yield* explorer.rawData(id), hex)
    })
  )
})

describe("TransactionExplorer on Dash", () => {
  it.effect(
    "shows coins that leave the pool of the Platform, which have no inputs, with the fee that their payload says",
    () =>
      Effect.gen(function* () {
        const payload = `01${"0500000000000000"}${"be000000"}${"ab".repeat(4 + 32 + 96)}`
        const output = `80f0fa0200000000${"1976a914"}${"07".repeat(20)}88ac`
        const hex = `030009000001${output}00000000${(payload.length / 2).toString(16)}${payload}`
        const chain = Chain.ofName("dash/mainnet")!
        const id = Buffer.from(Result.getOrThrow(WholeTransaction.decode(chain, Buffer.from(hex, "hex"))).id).toString(
          "hex"
        )
        const answer = ({ method, params }: JsonRpc.Call): unknown => {
          if (method === "getrawtransaction") return { txid: params[0], hex, vin: [], vout: [] }
          return method === "gettxout" ? { confirmations: 0, value: "0.5" } : { time: 1_790_000_000 }
        }
        const rpc: JsonRpc.JsonRpc = {
          node: "dash",
          call: (method, params) => Effect.sync(() => answer({ method, params })),
          batch: (calls) => Effect.sync(() => calls.map(answer)),
          results: (calls) => Effect.sync(() => calls.map((call) => Result.succeed(answer(call))))
        }
        const explorer = TransactionExplorer.make(
          chain,
          { ...rpc, withOne: (work: (one: JsonRpc.JsonRpc) => unknown) => work(rpc) } as unknown as JsonRpc.Nodes,
          { listed: [1], decoded: [2], raw: [0], verbose: [1], txindex: true, prevouts: false },
          () => Effect.succeed([])
        )
        const shown = yield* explorer.transaction(id, 100)
        assert.deepStrictEqual([shown?.fee, shown?.spent, shown?.isSpent], [190n, [], [false]])
      })
  )
})

describe("TransactionExplorer at a node without an index, whose blocks held no input at the start", () => {
  it.effect("shows what the inputs of later blocks spend, where the node shows it", () =>
    Effect.gen(function* () {
      const chain = Chain.ofName("bitcoin/regtest")!
      const earlier = UtxoBlocks.transaction([], [UtxoBlocks.paid("50.00000000", UtxoBlocks.p2pkh(1))])
      const start = UtxoBlocks.block(100, "ab".repeat(32), [earlier]).json
      const later = UtxoBlocks.block(101, start.hash, UtxoBlocks.tip.json.tx as ReadonlyArray<UtxoNode.NodeTransaction>)
      const opened = Effect.fnUntraced(function* (kind: UtxoNode.Kind) {
        const answersOf = (...blocks: ReadonlyArray<UtxoNode.NodeBlock>) =>
          UtxoNode.answers(kind, { blocks }, { txindex: false })
        let answers = answersOf(start)
        const node = yield* FakeNode.make((method, params) => (method === "gettxout" ? null : answers(method, params)))
        const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
        const found = yield* Capabilities.find(rpc, start.hash)
        assert.deepStrictEqual([found.txindex, found.prevouts], [false, undefined])
        answers = answersOf(start, later.json)
        return TransactionExplorer.make(chain, rpc, found, MinedOutputs.make(chain, [rpc]))
      })
      const page = { limit: 9, offset: 0 }
      const { items } = yield* (yield* opened("core")).transactionsOf({ height: 101 }, page, 100)
      assert.deepStrictEqual(
        items.map(({ spent }) => spent.map((output) => output?.amount)),
        [[undefined], [4_999_990_000n], [5_000_000_000n]]
      )
      const hidden = (yield* opened("numeric")).transactionsOf({ height: 101 }, page, 100)
      assert.strictEqual((yield* Effect.flip(hidden))._tag, "NotShown")
    }).pipe(Effect.scoped)
  )
})

describe("TransactionExplorer at a node whose index is being made", () => {
  it.effect("does not say that there is no such transaction", () =>
    Effect.gen(function* () {
      let message = "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."
      const rpc = {
        node: "core",
        call: (method: string) => Effect.suspend(() => new NodeRejected({ node: "core", method, code: -5, message })),
        batch: () => Effect.succeed([])
      } as unknown as JsonRpc.JsonRpc
      const explorer = TransactionExplorer.make(
        Chain.ofName("bitcoin/mainnet")!,
        { ...rpc, withOne: (work: (one: JsonRpc.JsonRpc) => unknown) => work(rpc) } as unknown as JsonRpc.Nodes,
        { listed: [1], decoded: [2], raw: [0], verbose: [1], txindex: true, prevouts: false },
        () => Effect.succeed([])
      )
      assert.isUndefined(yield* explorer.transaction(id, 100))
      message = "No such mempool transaction. Blockchain transactions are still in the process of being indexed."
      assert.strictEqual((yield* Effect.flip(explorer.transaction(id, 100)))._tag, "NodeRejected")
      assert.strictEqual((yield* Effect.flip(explorer.rawData(id)))._tag, "NodeRejected")
      // One that has left between two calls is not among those that wait.
      assert.deepStrictEqual(yield* explorer.waiting([id], 100), [])
    })
  )
})

describe.skipIf(!Litecoind.installed)("TransactionExplorer at a litecoind", () => {
  it.live("goes by the index that the node has now, not by the one that it had at the start", () =>
    Effect.gen(function* () {
      const chain = Chain.ofName("litecoin/regtest")!
      const litecoind = yield* Litecoind.start("-txindex=0", "-vbparams=mweb:4000000000:4000000000")
      yield* litecoind.mine(101)
      const spending = yield* litecoind.rpc<string>("sendtoaddress", yield* litecoind.rpc<string>("getnewaddress"), 1)
      yield* litecoind.mine(1)
      const { hex } = yield* litecoind.rpc<{ readonly hex: string }>("gettransaction", spending)
      const { vin } = yield* litecoind.rpc<{ readonly vin: ReadonlyArray<{ readonly txid: string }> }>(
        "decoderawtransaction",
        hex
      )
      /** Without an unspent output, so that an index alone has it. */
      const spent = vin[0]!.txid
      const height = 102
      const opened = Effect.gen(function* () {
        const rpc = yield* JsonRpc.make({ urls: [litecoind.url] })
        const found = yield* Capabilities.find(rpc, yield* litecoind.rpc<string>("getbestblockhash"))
        return {
          txindex: found.txindex,
          explorer: TransactionExplorer.make(chain, rpc, found, MinedOutputs.make(chain, [rpc]))
        }
      })
      const indexed = Effect.gen(function* () {
        for (;;) {
          const { txindex } = yield* litecoind.rpc<{ readonly txindex?: { readonly synced: boolean } }>("getindexinfo")
          if (txindex?.synced === true) return
          yield* Effect.sleep("20 millis")
        }
      })

      const before = yield* opened
      assert.isFalse(before.txindex)
      assert.strictEqual((yield* Effect.flip(before.explorer.transaction(spent, 100)))._tag, "NotShown")
      yield* litecoind.restart("-txindex=1")
      yield* indexed
      assert.strictEqual((yield* before.explorer.transaction(spent, 100))?.block?.height, 1)
      assert.isUndefined(yield* before.explorer.transaction(id, 100))
      assert.strictEqual((yield* before.explorer.transactionsOf({ height }, { limit: 9, offset: 0 }, 100)).total, 2)

      const after = yield* opened
      assert.isTrue(after.txindex)
      yield* litecoind.restart("-txindex=0")
      // What is mined is not told as absent.
      assert.strictEqual((yield* Effect.flip(after.explorer.transaction(spent, 100)))._tag, "NodeRejected")
      assert.strictEqual((yield* Effect.flip(after.explorer.rawData(spent)))._tag, "NodeRejected")
      assert.deepStrictEqual(yield* after.explorer.waiting([spent], 100), [])
    }).pipe(Effect.scoped)
  )
})
