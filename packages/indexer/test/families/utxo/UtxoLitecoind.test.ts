/** A real litecoind with the MWEB active: every way of reading agrees with the others and with the node's own figures. */
import { assert, describe, layer } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Capabilities from "@headwater/indexer/families/utxo/internal/Capabilities"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as TransactionExplorer from "@headwater/indexer/families/utxo/TransactionExplorer"
import * as UtxoBroadcasting from "@headwater/indexer/families/utxo/Broadcasting"
import * as UtxoPreparation from "@headwater/indexer/families/utxo/UtxoPreparation"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as WholeTransaction from "@headwater/indexer/families/utxo/WholeTransaction"
import { Transaction } from "bitcoinjs-lib"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Litecoind from "../../../../../test/Litecoind.ts"
import { plain } from "./UtxoNode.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Litecoin in the smallest unit, from a figure that `JSON.parse` read: at most 8 digits behind the point. */
const coins = (value: number) => BigInt(Math.round(value * 1e8))

interface AddressInfo {
  readonly scriptPubKey: string
}
interface MempoolEntry {
  readonly fees: { readonly base: number }
}
interface DecodedBlock {
  readonly height: number
  readonly tx: ReadonlyArray<{
    readonly txid: string
    readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout?: number; readonly coinbase?: string }>
    readonly vout: ReadonlyArray<{ readonly scriptPubKey: { readonly type: string } }>
  }>
}

/** One node for all tests, its chain past 432, with a peg-in, a peg-out and payments mined. */
class Node extends Context.Service<
  Node,
  {
    readonly litecoind: Litecoind.Litecoind
    readonly rpc: JsonRpc.Nodes
    readonly source: UtxoSource.UtxoSource
    readonly mwebAddress: string
  }
>()("test/Node") {
  static readonly layer = Layer.effect(
    Node,
    Effect.gen(function* () {
      const litecoind = yield* Litecoind.start()
      const mwebAddress = yield* litecoind.mweb
      yield* litecoind.mine(5)
      const rpc = yield* JsonRpc.make({ urls: [litecoind.url] })
      return { litecoind, rpc, source: yield* UtxoSource.make(chain, rpc), mwebAddress }
    })
  )
}

/** Outputs that exist at the tip, from the blocks alone: what the store's UTXO set has to hold. */
const unspent = (blocks: ReadonlyArray<Block>) => {
  const outputs = new Map<string, { readonly script: string; readonly amount: bigint }>()
  for (const block of blocks) {
    for (const transfer of block.transfers) {
      if (transfer.kind !== "coin" || transfer.to === undefined) continue
      const id = hex(block.transactions[transfer.transaction]!)
      outputs.set(`${id}:${transfer.position}`, { script: hex(transfer.to), amount: transfer.amount })
    }
    for (const { outpoint } of block.spends) {
      const key = `${hex(outpoint.transactionId)}:${outpoint.index}`
      assert.isTrue(outputs.delete(key), `${key} is spent at ${block.height}, but was never received`)
    }
  }
  return outputs
}

const allBlocks = (source: UtxoSource.UtxoSource) =>
  Effect.flatMap(source.head, ({ height }) =>
    Effect.forEach(
      Array.from({ length: height + 1 }, (_, at) => at),
      source.blockAt,
      { concurrency: 8 }
    )
  )

/** A transaction that waits, and that has an MWEB part. */
const decodesAsTheNode = Effect.fnUntraced(function* ({ rpc }: Litecoind.Litecoind, id: string) {
  const raw = yield* rpc<string>("getrawtransaction", id)
  const decoded = Result.getOrThrow(WholeTransaction.decode(chain, Buffer.from(raw, "hex")))
  const shown = yield* rpc<{
    readonly txid: string
    readonly hash: string
    readonly size: number
    readonly weight: number
    readonly locktime: number
    readonly vin: ReadonlyArray<{ readonly ismweb?: boolean }>
    readonly vout: ReadonlyArray<{ readonly ismweb?: boolean }>
    readonly vkern: ReadonlyArray<{
      readonly pegout: ReadonlyArray<{ readonly value: number; readonly scriptPubKey: { readonly hex: string } }>
    }>
  }>("decoderawtransaction", raw)
  const counts = (all: ReadonlyArray<{ readonly ismweb?: boolean }>) => {
    const hidden = all.filter(({ ismweb }) => ismweb === true).length
    return [all.length - hidden, hidden]
  }
  assert.deepStrictEqual(
    [hex(decoded.id), hex(decoded.hash), decoded.size, decoded.weight, decoded.lockTime],
    [shown.txid, shown.hash, shown.size, shown.weight, shown.locktime]
  )
  assert.deepStrictEqual(
    [decoded.inputs.length, decoded.mweb?.inputs, decoded.outputs.length, decoded.mweb?.outputs, decoded.mweb?.kernels],
    [...counts(shown.vin), ...counts(shown.vout), shown.vkern.length]
  )
  assert.deepStrictEqual(
    decoded.mweb!.pegOuts.map(({ amount, script }) => [amount, hex(script)]),
    shown.vkern.flatMap(({ pegout }) => pegout).map(({ scriptPubKey, value }) => [coins(value), scriptPubKey.hex])
  )
  return { fee: coins((yield* rpc<MempoolEntry>("getmempoolentry", id)).fees.base), raw }
})

/** Of a kernel that pays so much: a mark of that, and of what else the node's wallet has in its kernels. */
const paying = (features: number, fee: bigint) => {
  const bytes = [Number(fee & 0x7fn)]
  for (let rest = fee >> 7n; rest > 0n; rest >>= 7n) bytes.unshift(Number(--rest & 0x7fn) | 0x80)
  return Buffer.from([features, ...bytes]).toString("hex")
}

describe.skipIf(!Litecoind.installed)("UtxoSource with litecoind", () => {
  layer(Node.layer, { excludeTestServices: true, timeout: "2 minutes" })((it) => {
    it.effect("reads each block alike in every way: decoded, by transactions, raw", () =>
      Effect.gen(function* () {
        const { litecoind, rpc, source, mwebAddress } = yield* Node
        const to = yield* litecoind.rpc<string>("getnewaddress", "", "bech32")
        yield* litecoind.rpc("sendtoaddress", to, 1.23456789)
        yield* litecoind.rpc("sendtoaddress", mwebAddress, 2)
        yield* litecoind.mine(1)
        const { height } = yield* source.head
        const [raw, transactions] = yield* Effect.all([
          UtxoSource.make(chain, rpc, { strategy: "raw" }),
          UtxoSource.make(chain, rpc, { strategy: "transactions" })
        ])
        for (const at of [0, 1, 431, 432, 433, height - 1, height]) {
          const decoded = plain(yield* source.blockAt(at))
          assert.isTrue(decoded.spends.every(({ unlocking }) => unlocking !== undefined))
          assert.deepStrictEqual(plain(yield* raw.blockAt(at)), decoded, `raw ${at}`)
          // The genesis coinbase is in no index.
          if (at > 0) assert.deepStrictEqual(plain(yield* transactions.blockAt(at)), decoded, `transactions ${at}`)
        }
      })
    )

    it.effect("a peg-out is received by an ordinary address, and peg-in and HogEx by none of ours", () =>
      Effect.gen(function* () {
        const { litecoind, source } = yield* Node
        // A wallet with nothing but MWEB coins can only pay by a peg-out.
        const shielded = yield* litecoind.wallet("shielded")
        const pegIn = yield* litecoind.rpc<string>(
          "sendtoaddress",
          yield* shielded<string>("getnewaddress", "", "mweb"),
          3
        )
        yield* decodesAsTheNode(litecoind, pegIn)
        yield* litecoind.mine(1)
        const receiver = yield* litecoind.rpc<string>("getnewaddress", "", "bech32")
        const { scriptPubKey } = yield* litecoind.rpc<AddressInfo>("getaddressinfo", receiver)
        yield* shielded("sendtoaddress", receiver, 0.5)
        const [waiting] = yield* litecoind.rpc<ReadonlyArray<string>>("getrawmempool")
        yield* decodesAsTheNode(litecoind, waiting!)
        const [unconfirmed] = yield* source.mempool.transactions([waiting!])
        assert.deepStrictEqual([unconfirmed!.transfers, unconfirmed!.spends], [[], []])
        const [hash] = yield* litecoind.mine(1)
        const decoded = yield* litecoind.rpc<DecodedBlock>("getblock", hash, 2)
        const hogEx = decoded.tx.length - 1
        assert.strictEqual(decoded.tx[hogEx]!.vout[0]!.scriptPubKey.type, "witness_mweb_hogaddr")
        assert.isFalse(
          decoded.tx.some(({ txid }) => txid === waiting),
          "the paying transaction stays inside the MWEB"
        )

        const block = yield* source.blockAt(decoded.height)
        const received = block.transfers.filter(({ to }) => to !== undefined && hex(to) === scriptPubKey)
        assert.deepStrictEqual(
          received.map(({ kind, transaction, amount }) => ({ kind, transaction, amount })),
          [{ kind: "coin", transaction: hogEx, amount: 50_000_000n }]
        )
        const spent = block.spends.filter(({ transaction }) => transaction === hogEx)
        assert.deepStrictEqual(
          spent.map(({ outpoint }) => [hex(outpoint.transactionId), outpoint.index]),
          decoded.tx[hogEx]!.vin.map(({ txid, vout }) => [txid, vout])
        )
      })
    )

    it.effect("what pays in MWEB has the fee that the node says, and none beyond measure is broadcast", () =>
      Effect.gen(function* () {
        const { litecoind, mwebAddress, rpc } = yield* Node
        const pegging = yield* litecoind.wallet("pegging in")
        const to = yield* pegging<string>("getnewaddress", "", "bech32")
        // A wallet that has some pays what it can from there.
        yield* litecoind.rpc("sendtoaddress", to, 5)
        yield* litecoind.mine(1)
        const capabilities = yield* Capabilities.find(rpc, yield* litecoind.rpc<string>("getbestblockhash"))
        const explorer = TransactionExplorer.make(chain, rpc, capabilities, MinedOutputs.make(chain, [rpc]))
        const broadcasting = UtxoBroadcasting.make(chain, rpc, { maximumFee: 100, verbose: [1] })
        const check = Effect.fnUntraced(function* (id: string, features: number) {
          const { fee, raw } = yield* decodesAsTheNode(litecoind, id)
          assert.strictEqual((yield* explorer.transaction(id, 100))?.fee, fee)
          yield* broadcasting.check(Buffer.from(raw, "hex"))
          const parts = raw.split(paying(features, 3_900n))
          assert.lengthOf(parts, 2)
          const slip = Buffer.from(parts.join(paying(features, 1_000_000_000n)), "hex")
          assert.match((yield* Effect.flip(broadcasting.check(slip))).message, /^the fee must be at most/)
        })
        yield* check(yield* pegging<string>("sendtoaddress", mwebAddress, 2), 0x13)
        yield* litecoind.mine(1)
        yield* check(yield* pegging<string>("sendtoaddress", mwebAddress, 1), 0x11)
      })
    )

    it.effect("a peg-out can be spent as soon as the node lets it be spent", () =>
      Effect.gen(function* () {
        const { litecoind, rpc, source } = yield* Node
        const shielded = yield* litecoind.wallet("pegging out")
        const mweb = yield* shielded<string>("getnewaddress", "", "mweb")
        yield* litecoind.rpc("sendtoaddress", mweb, 3)
        yield* litecoind.mine(1)
        const receiver = yield* litecoind.rpc<string>("getnewaddress", "", "bech32")
        const { scriptPubKey } = yield* litecoind.rpc<AddressInfo>("getaddressinfo", receiver)
        // Beside it an ordinary coin of the same age.
        yield* litecoind.rpc("sendtoaddress", receiver, 0.25)
        yield* shielded("sendtoaddress", receiver, 0.5)
        yield* litecoind.mine(1)
        const { height } = yield* source.head
        const { transactions, transfers } = yield* source.blockAt(height)
        const paid = transfers.filter(
          (transfer): transfer is CoinTransfer =>
            transfer.kind === "coin" && transfer.to !== undefined && hex(transfer.to) === scriptPubKey
        )
        const coinsOf = paid.map(({ amount, position, to, transaction }) => ({
          outpoint: { transactionId: transactions[transaction]!, index: position },
          ...{ script: to!, amount, height }
        }))
        assert.deepStrictEqual(
          coinsOf.map(({ amount }) => amount),
          [25_000_000n, 50_000_000n]
        )
        const { makersOf, statesOf } = UtxoPreparation.make(chain, rpc)
        // Signers see what they spend from in the form that other chains have.
        assert.deepStrictEqual(
          (yield* makersOf(coinsOf)).map((maker) => Transaction.fromBuffer(maker!).getId()),
          coinsOf.map(({ outpoint }) => hex(outpoint.transactionId))
        )
        const isTaken = Effect.fnUntraced(function* ({ amount, outpoint }: (typeof coinsOf)[number]) {
          const input = { txid: hex(outpoint.transactionId), vout: outpoint.index }
          const output = { [receiver]: Amount.format(amount - 10_000n, 8) }
          const unsigned = yield* litecoind.rpc("createrawtransaction", [input], [output])
          const signed = yield* litecoind.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", unsigned)
          const [answer] = yield* litecoind.rpc<readonly [{ readonly allowed: boolean }]>("testmempoolaccept", [
            signed.hex
          ])
          return answer.allowed
        })
        for (let confirmations = 1; confirmations < 6; confirmations++) {
          assert.deepStrictEqual(yield* statesOf(coinsOf), ["spendable", "peggedOut"], `${confirmations}`)
          assert.deepStrictEqual(yield* Effect.forEach(coinsOf, isTaken), [true, false], `${confirmations}`)
          yield* litecoind.mine(1)
        }
        assert.deepStrictEqual(yield* statesOf(coinsOf), ["spendable", "spendable"])
        assert.deepStrictEqual(yield* Effect.forEach(coinsOf, isTaken), [true, true])
      })
    )

    it.effect("what was received and not spent is the node's own UTXO set", () =>
      Effect.gen(function* () {
        const { litecoind, source } = yield* Node
        const outputs = unspent(yield* allBlocks(source))
        const set = yield* litecoind.rpc<{ readonly txouts: number; readonly total_amount: number }>("gettxoutsetinfo")
        // The node keeps the genesis output out of its set, since it cannot be spent; here it is a receipt like others.
        assert.strictEqual(outputs.size, set.txouts + 1)
        const total = [...outputs.values()].reduce((sum, { amount }) => sum + amount, 0n)
        assert.strictEqual(Amount.format(total - 50_00000000n, 8), Amount.format(coins(set.total_amount), 8))

        const wallet = yield* litecoind.rpc<
          ReadonlyArray<{ readonly txid: string; readonly vout: number; readonly amount: number }>
        >("listunspent", 1)
        const transparent = wallet.filter(({ txid, vout }) => outputs.has(`${txid}:${vout}`))
        assert.isAbove(transparent.length, 0)
        for (const { txid, vout, amount } of transparent) {
          assert.strictEqual(outputs.get(`${txid}:${vout}`)!.amount, coins(amount))
        }
      })
    )

    it.effect("tells the head and what the node calls the block at a height", () =>
      Effect.gen(function* () {
        const { litecoind, source } = yield* Node
        const { height, hash, final } = yield* source.head
        assert.strictEqual(height, yield* litecoind.rpc<number>("getblockcount"))
        assert.strictEqual(hex(hash), yield* litecoind.rpc<string>("getbestblockhash"))
        assert.isUndefined(final)
        assert.strictEqual(hex(yield* source.hashAt(7)), yield* litecoind.rpc<string>("getblockhash", 7))
        const missing = yield* Effect.flip(source.hashAt(height + 1))
        assert.strictEqual(missing._tag, "BlockMissing")
        assert.strictEqual((yield* Effect.flip(source.blockAt(height + 1)))._tag, "BlockMissing")
      })
    )

    it.effect("describes the newest block as the node does", () =>
      Effect.gen(function* () {
        const { litecoind, source } = yield* Node
        const details = yield* source.latestDetails
        const node = yield* litecoind.rpc<Record<string, unknown>>("getblock", details.hash, 1)
        assert.deepStrictEqual(details, {
          bits: 0x207fffff,
          chainwork: node.chainwork as string,
          difficulty: 0,
          merkleRoot: node.merkleroot as string,
          size: node.size as number,
          version: node.version as number,
          hash: yield* litecoind.rpc<string>("getbestblockhash"),
          height: node.height as number,
          previousBlockHash: node.previousblockhash as string,
          strippedSize: node.strippedsize as number,
          timestamp: node.time as number,
          transactionsCount: node.nTx as number,
          versionHex: node.versionHex as string,
          weight: node.weight as number
        })
        assert.isBelow(details.strippedSize, details.size)
      })
    )

    it.effect("says what it found out about the node", () =>
      Effect.gen(function* () {
        const { source } = yield* Node
        const capabilities = yield* source.capabilities
        assert.deepStrictEqual(
          capabilities.map(({ name, available }) => [name, available]),
          [
            ["blocks", true],
            ["prevouts", false],
            ["history", true],
            ["coin search", true],
            ["network", true]
          ]
        )
      })
    )

    it.effect("shows what waits in the mempool; what has left is left out", () =>
      Effect.gen(function* () {
        const { litecoind, source, mwebAddress } = yield* Node
        const receiver = yield* litecoind.rpc<string>("getnewaddress", "", "legacy")
        const { scriptPubKey } = yield* litecoind.rpc<AddressInfo>("getaddressinfo", receiver)
        const others = yield* Effect.replicateEffect(litecoind.rpc<string>("sendtoaddress", receiver, 0.001), 6)
        const pegIn = yield* litecoind.rpc<string>("sendtoaddress", mwebAddress, 1)
        const ids = yield* source.mempool.ids
        assert.includeMembers([...ids], [...others, pegIn])

        const gone = "00".repeat(31)
        const asked = [...others.slice(0, 3), `${gone}01`, ...others.slice(3), pegIn, `${gone}02`]
        const waiting = yield* source.mempool.transactions(asked)
        assert.deepStrictEqual(
          waiting.map(({ id }) => hex(id)),
          [...others, pegIn]
        )
        for (const transaction of waiting.slice(0, others.length)) {
          const received = transaction.transfers.filter(({ to }) => to !== undefined && hex(to) === scriptPubKey)
          assert.deepStrictEqual(
            received.map(({ amount }) => amount),
            [100_000n]
          )
        }
        const time = yield* source.mempool.timeOf(others[0]!)
        assert.closeTo(time!, Date.now() / 1000, 30)
        assert.isUndefined(yield* source.mempool.timeOf(`${gone}01`))

        yield* litecoind.mine(1)
        assert.deepStrictEqual(yield* source.mempool.transactions(asked), [], "mined: not waiting any more")
        assert.deepStrictEqual(yield* source.mempool.ids, [])
      })
    )
  })
})

describe.skipIf(!Litecoind.installed)("UtxoSource with litecoind without a transaction index", () => {
  layer(Layer.empty, { excludeTestServices: true })((it) => {
    it.effect("starts on an empty chain, and finds transactions in blocks only by whole blocks", () =>
      Effect.gen(function* () {
        const litecoind = yield* Litecoind.start("-txindex=0")
        const rpc = yield* JsonRpc.make({ urls: [litecoind.url] })
        const empty = yield* UtxoSource.make(chain, rpc)
        assert.strictEqual((yield* empty.head).height, 0)
        assert.strictEqual((yield* empty.blockAt(0)).transfers.length, 1)
        yield* litecoind.mine(2)
        assert.strictEqual((yield* empty.blockAt(2)).transactions.length, 1)
        const error = yield* Effect.flip(UtxoSource.make(chain, rpc, { strategy: "transactions" }))
        assert.strictEqual(error._tag, "NodeInconsistent")
      })
    )
  })
})
