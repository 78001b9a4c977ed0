import { assert, describe, it } from "@effect/vitest"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as BlocksInOrder from "@headwater/indexer/sync/internal/BlocksInOrder"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as FakeNode from "../../FakeNode.ts"
import {
  block,
  coinbase,
  first,
  type Output,
  p2pkh,
  paid,
  parent,
  part,
  second,
  tip,
  transaction
} from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
const bitcoin = chainOf("bitcoin")
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const open = (answer: FakeNode.Answer, chain = bitcoin, options: UtxoSource.UtxoSourceOptions = {}) =>
  UtxoNode.source(chain, answer, options)

const outputsOf = (read: Block) => (read.transfers as ReadonlyArray<CoinTransfer>).filter(({ to }) => to !== undefined)

describe("UtxoSource: strategies of reading", () => {
  it.effect("a raw block whose digits are too many for one text", () =>
    Effect.gen(function* () {
      const outputs = Array.from({ length: 65_000 }, () => paid("0.00000001", p2pkh(7)))
      const large = block(100, parent.json.hash, [transaction([], outputs)])
      assert.isAbove(large.raw.length, 4 * 2 ** 20)
      const answers = UtxoNode.answers("core", { blocks: [large.json], raw: { [large.json.hash]: large.raw } })
      const node = yield* FakeNode.make(answers)
      const rpc = yield* JsonRpc.make({ urls: [node.url] })
      const read = yield* UtxoSource.make(bitcoin, rpc, { strategy: "raw" }).pipe(
        Effect.flatMap((source) => source.blockAt(100))
      )
      assert.lengthOf(read.transfers, outputs.length)
      const broken = `${large.raw.slice(0, -3)}xyz`
      const raw = UtxoNode.answers("core", { blocks: [large.json], raw: { [large.json.hash]: broken } })
      const source = yield* UtxoNode.source(bitcoin, raw, { strategy: "raw" })
      assert.strictEqual((yield* Effect.flip(source.blockAt(100)))._tag, "NodeInconsistent")
    }).pipe(Effect.scoped)
  )

  const nodes: ReadonlyArray<[string, UtxoNode.Kind, { readonly txindex?: boolean }, RegExp]> = [
    ["Bitcoin Core", "core", {}, /decoded transactions/],
    ["zcashd", "numeric", {}, /raw blocks/],
    ["an old Dogecoin with txindex", "boolean", {}, /raw blocks/],
    ["an old Dogecoin without txindex", "boolean", { txindex: false }, /raw blocks/],
    ["bcoin", "bcoin", {}, /raw blocks/]
  ]
  for (const [name, kind, options, described] of nodes) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const source = yield* open(UtxoNode.answers(kind, part, options))
        const [blocks, prevouts, history] = yield* source.capabilities
        assert.match(blocks!.detail, described)
        assert.strictEqual(prevouts!.available, kind === "core")
        assert.isTrue(history!.available)

        const read = yield* source.blockAt(100)
        assert.deepInclude(read, {
          height: 100,
          hash: new Uint8Array(Buffer.from(tip.json.hash, "hex")),
          parent: new Uint8Array(Buffer.from(parent.json.hash, "hex")),
          time: 1700000100
        })
        assert.deepStrictEqual(read.transactions.map(hex), [coinbase.txid, second.txid, first.txid])
        assert.deepStrictEqual(
          outputsOf(read).map(({ transaction, position, to, amount }) => [transaction, position, hex(to!), amount]),
          [
            [0, 0, p2pkh(1), 5000000000n],
            [1, 0, p2pkh(3), 2000000000n],
            [1, 1, p2pkh(2), 2999980000n],
            [2, 0, p2pkh(2), 4999990000n]
          ]
        )
        assert.deepStrictEqual(
          read.spends.map(({ transaction, position, outpoint }) => [
            transaction,
            position,
            hex(outpoint.transactionId),
            outpoint.index
          ]),
          [
            [1, 0, first.txid, 0],
            [2, 0, "ab".repeat(32), 7]
          ]
        )
        const inputs = (read.transfers as ReadonlyArray<CoinTransfer>).filter(({ from }) => from !== undefined)
        assert.deepStrictEqual(
          inputs.map(({ transaction, position, from, amount }) => [transaction, position, hex(from!), amount]),
          kind === "core"
            ? [
                [1, 0, p2pkh(2), 4999990000n],
                [2, 0, p2pkh(1), 5000000000n]
              ]
            : []
        )
      })
    )
  }

  it.effect("looks for an input in earlier blocks to tell whether prevouts are shown", () =>
    Effect.gen(function* () {
      const empty = block(101, tip.json.hash, [transaction([], [paid("50.00000000", p2pkh(8))])])
      const source = yield* open(UtxoNode.answers("numeric", { blocks: [parent.json, tip.json, empty.json] }))
      assert.isFalse((yield* source.capabilities)[1]!.available)
    })
  )

  it.effect("a block that the node does not show decoded is read by its transactions", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("numeric", part)
      let tooBig = false
      const source = yield* open((method, params) => {
        if (tooBig && method === "getblock" && params[1] === 2) throw new FakeNode.RpcError(-1, "response is too big")
        return good(method, params)
      })
      const read = yield* source.blockAt(100)
      tooBig = true
      assert.deepStrictEqual(UtxoNode.plain(yield* source.blockAt(100)), UtxoNode.plain(read))
    })
  )

  it.effect("a node that decodes no blocks is asked for them raw, and for no transaction", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("boolean", part)
      const asked: Array<string> = []
      const source = yield* open((method, params) => {
        asked.push(`${method} ${params.slice(1)}`)
        return good(method, params)
      })
      asked.length = 0
      yield* source.blockAt(100)
      assert.deepStrictEqual(asked, ["getblockhash ", "getblock false"])
    })
  )

  it.effect("a raw block is read by its bytes alone: with any other byte it is refused, or read another way", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("boolean", part)
      const bytes = Buffer.from(tip.raw, "hex")
      let served = tip.raw
      const source = yield* open((method, params) =>
        method === "getblock" && params[0] === tip.json.hash && params[1] === false ? served : good(method, params)
      )
      const whole = UtxoNode.plain(yield* source.blockAt(100))
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes)
        changed[at]! ^= 1 << (at % 8)
        served = changed.toString("hex")
        const read = yield* Effect.result(source.blockAt(100))
        // What is not understood is asked for another way.
        if (Result.isSuccess(read)) assert.deepStrictEqual(UtxoNode.plain(read.success), whole, `byte ${at}`)
        else assert.include(["ProofFailed", "NodeInconsistent"], read.failure._tag, `byte ${at}`)
      }
    })
  )

  for (const kind of ["core", "boolean"] as const) {
    it.effect(`small blocks that are read together share requests (${kind})`, () =>
      Effect.gen(function* () {
        const blocks = [parent]
        for (let height = 100; height < 148; height++)
          blocks.push(
            block(height, blocks.at(-1)!.json.hash, [transaction([], [paid(`0.00000${height}`, p2pkh(height % 9))])])
          )
        const raw = Object.fromEntries(blocks.map(({ json, raw }) => [json.hash, raw]))
        const good = UtxoNode.answers(kind, { blocks: blocks.map(({ json }) => json), raw })
        // Far behind the node's head, hashes are asked for together.
        const behind: FakeNode.Answer = (method, params) => {
          const answer = good(method, params)
          return method === "getblockchaininfo" ? { ...(answer as object), blocks: 1_000 } : answer
        }
        const node = yield* FakeNode.make(behind)
        const source = yield* UtxoSource.make(bitcoin, yield* JsonRpc.make({ urls: [node.url], attempts: 1 }))
        const before = node.requests()
        const read = yield* BlocksInOrder.fetch(source, source.blockAt, { first: 99, last: 147, concurrency: 2 }).pipe(
          Stream.runCollect
        )
        assert.isBelow(node.requests() - before, 30)
        const alone = yield* Effect.forEach(blocks, ({ json }) => source.blockAt(json.height))
        assert.deepStrictEqual(read.map(UtxoNode.plain), alone.map(UtxoNode.plain))
      }).pipe(Effect.scoped)
    )
  }

  it.effect("an index is what has spent transactions too, not the newest coinbase alone", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("boolean", part)
      const node =
        (isKnown: (id: unknown) => boolean, indexes?: object): FakeNode.Answer =>
        (method, params) => {
          if (method === "getindexinfo" && indexes !== undefined) return indexes
          if (method === "getblock" && params[1] === false) throw new FakeNode.RpcError(-1, "no raw data")
          if (method === "getrawtransaction" && !isKnown(params[0])) {
            throw new FakeNode.RpcError(-5, "No such mempool transaction")
          }
          return good(method, params)
        }
      const all = () => true
      // Without an index a node finds what has an unspent output: of the newest block, not what is spent in it.
      const unspent = (id: unknown) => id !== first.txid
      assert.match((yield* (yield* open(node(all))).capabilities)[0]!.detail, /batches/)
      for (const answer of [node(unspent), node(all, {})]) {
        const error = yield* Effect.flip(open(answer))
        assert.strictEqual(error.message, "shows a block's transactions in no known way")
      }
      const indexed = yield* open(node(all, { txindex: { synced: true, best_block_height: 100 } }))
      assert.match((yield* indexed.capabilities)[0]!.detail, /batches/)
    })
  )

  it.effect(
    "a node that has the first block alone says whether it has an index, though the index lacks that block",
    () =>
      Effect.gen(function* () {
        const { previousblockhash: _, ...only } = tip.json
        const good = UtxoNode.answers("core", { blocks: [only], raw: { [only.hash]: tip.raw } })
        const node =
          (indexes?: object): FakeNode.Answer =>
          (method, params) => {
            if (method === "getindexinfo" && indexes !== undefined) return indexes
            if (method === "getrawtransaction") throw new FakeNode.RpcError(-5, "The genesis block coinbase is not …")
            return good(method, params)
          }
        const indexed = yield* open(node({ txindex: { synced: true, best_block_height: 0 } }))
        assert.isTrue(indexed.capable.txindex)
        for (const answer of [node({}), node()]) assert.isFalse((yield* open(answer)).capable.txindex)
      })
  )

  it.effect("a node whose index is being made has one", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", part)
      const node =
        (indexes?: object): FakeNode.Answer =>
        (method, params) => {
          if (method === "getindexinfo" && indexes !== undefined) return indexes
          if (method === "getrawtransaction") {
            const still =
              "No such mempool transaction. Blockchain transactions are still in the process of being indexed"
            throw new FakeNode.RpcError(-5, still)
          }
          return good(method, params)
        }
      // Nodes of before Bitcoin Core 0.21 do not say what indexes they have.
      for (const answer of [node({ txindex: { synced: false, best_block_height: 7 } }), node()]) {
        assert.isTrue((yield* open(answer)).capable.txindex)
      }
    })
  )

  it.effect("a node that shows transactions in no way is refused at start", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        open((method) => {
          if (method === "getblockchaininfo") return { blocks: 100, bestblockhash: tip.json.hash }
          throw new FakeNode.RpcError(-32601, "Method not found")
        })
      )
      assert.strictEqual(error._tag, "NodeInconsistent")
      assert.strictEqual(error.message, "shows a block's transactions in no known way")
    })
  )

  it.effect("a pruned node is said to be one", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", part)
      const source = yield* open((method, params) =>
        method === "getblockchaininfo"
          ? { blocks: 100, bestblockhash: tip.json.hash, pruned: true, pruneheight: 90 }
          : good(method, params)
      )
      const history = (yield* source.capabilities)[2]!
      assert.isFalse(history.available)
      assert.match(history.detail, /from height 90 on/)
    })
  )
})

describe("UtxoSource: outputs", () => {
  const outputsIn = (chain: Chain.Chain, outputs: ReadonlyArray<Output>, options: UtxoSource.UtxoSourceOptions) =>
    Effect.gen(function* () {
      const { json, raw } = block(1, "00".repeat(32), [transaction([], outputs)])
      const source = yield* open(
        UtxoNode.answers("core", { blocks: [json], raw: { [json.hash]: raw } }),
        chain,
        options
      )
      return outputsOf(yield* source.blockAt(1))
    })

  it.effect("amounts are exact, however the node writes them", () =>
    Effect.gen(function* () {
      const written: ReadonlyArray<[string, bigint]> = [
        ["20999999.97690000", 2099999997690000n],
        ["0.00000001", 1n],
        ["1e-8", 1n],
        ["5.4e-07", 54n],
        ["50", 5000000000n],
        ["0.1", 10000000n],
        ["12345678901.12345678", 1234567890112345678n],
        ["92233720368.54775807", 9223372036854775807n],
        ["0.00000000", 0n]
      ]
      const read = yield* outputsIn(
        chainOf("dogecoin"),
        written.map(([value, amount]) => ({ value: UtxoNode.number(value), amount, script: p2pkh(1) })),
        { strategy: "decoded" }
      )
      assert.deepStrictEqual(
        read.map(({ amount }) => amount),
        written.map(([, amount]) => amount)
      )
    })
  )

  for (const strategy of ["decoded", "raw"] as const) {
    it.effect(`what can be spent is received, what cannot is not (${strategy})`, () =>
      Effect.gen(function* () {
        const publicKey = `21${"02".repeat(33)}ac`
        const scripts = [
          "6a",
          "6a04deadbeef",
          "51".repeat(10_001),
          "",
          publicKey,
          "51".repeat(10_000),
          `0014${"ab".repeat(20)}`
        ]
        const read = yield* outputsIn(
          bitcoin,
          scripts.map((script) => paid("0.00000000", script)),
          { strategy }
        )
        assert.deepStrictEqual(
          read.map(({ position, to }) => [position, hex(to!)]),
          scripts.map((script, position) => [position, script]).slice(3)
        )
      })
    )
  }
})

describe("UtxoSource: head", () => {
  const head = (lock: object | undefined) =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", part)
      const source = yield* open((method, params) => {
        if (method !== "getbestchainlock") return good(method, params)
        if (lock === undefined) throw new FakeNode.RpcError(-32603, "Unable to find any ChainLock")
        return lock
      }, chainOf("dash"))
      return yield* source.head
    })

  it.effect("on Dash a ChainLock is final", () =>
    Effect.gen(function* () {
      const locked = yield* head({ blockhash: parent.json.hash, height: 99, signature: "00", known_block: true })
      assert.strictEqual(locked.height, 100)
      assert.strictEqual(hex(locked.hash), tip.json.hash)
      assert.strictEqual(locked.final, 99)
      assert.strictEqual(locked.finalHash && hex(locked.finalHash), parent.json.hash)
    })
  )

  it.effect("no ChainLock, or one that is ahead of the node, says nothing", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* head(undefined)).final)
      assert.isUndefined((yield* head({ height: 101, known_block: true })).final)
      assert.isUndefined((yield* head({ height: 99, known_block: false })).final)
    })
  )

  it.effect("on the other chains nothing is final", () =>
    Effect.gen(function* () {
      const source = yield* open(UtxoNode.answers("core", part))
      assert.isUndefined((yield* source.head).final)
    })
  )
})

describe("UtxoSource: mempool", () => {
  const waiting = Array.from({ length: 230 }, (_, n) =>
    transaction([{ txid: "ef".repeat(32), vout: n }], [paid("0.00001000", p2pkh(n))])
  )

  it.effect("reads what waits, in batches; what has left is left out", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", { ...part, mempool: waiting })
      const source = yield* open(good)
      const ids = yield* source.mempool.ids
      assert.strictEqual(ids.length, 230)
      const mixed = ["00".repeat(32), ...ids.slice(0, 150), first.txid, ...ids.slice(150), "11".repeat(32)]
      const read = yield* source.mempool.transactions(mixed)
      assert.deepStrictEqual(
        read.map(({ id }) => hex(id)),
        ids
      )
      assert.deepStrictEqual(
        read.map(({ transfers, spends }) => [hex(transfers[0]!.to!), transfers[0]!.amount, spends[0]!.outpoint.index]),
        waiting.map((_, n) => [p2pkh(n), 1000n, n])
      )
      assert.deepStrictEqual(yield* source.mempool.transactions([]), [])
      assert.isUndefined(yield* source.mempool.timeOf(ids[0]!))
    })
  )

  it.effect("an answer for another transaction, or an id that is none, is refused", () =>
    Effect.gen(function* () {
      const good = UtxoNode.answers("core", { ...part, mempool: waiting })
      let wrong = false
      const source = yield* open((method, params) => {
        if (wrong && method === "getrawmempool") return ["abc"]
        return wrong && method === "getrawtransaction" ? waiting[1] : good(method, params)
      })
      wrong = true
      const other = yield* Effect.flip(source.mempool.transactions([waiting[0]!.txid]))
      assert.strictEqual(other._tag, "NodeInconsistent")
      assert.match(other.message, /^txid is not the one/)
      assert.strictEqual((yield* Effect.flip(source.mempool.ids))._tag, "NodeInconsistent")
    })
  )
})
