/** Outputs of mined transactions on a real litecoind, with and without an index, up to the callback that was in doubt. */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as TransactionExplorer from "@headwater/indexer/families/utxo/TransactionExplorer"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as EventResolution from "@headwater/indexer/sync/EventResolution"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Litecoind from "../../../../../test/Litecoind.ts"
import { takenStores } from "../../../../../test/Stores.ts"
import * as FakeNode from "../../FakeNode.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const quiet = Effect.provideService(References.MinimumLogLevel, "Error")
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

interface Transaction {
  readonly hex: string
  readonly vin: ReadonlyArray<{ readonly txid: string; readonly vout: number }>
}

for (const store of takenStores(import.meta.url)) {
  describe.skipIf(!Litecoind.installed)(`movements in doubt at litecoind, on ${store.name}`, () => {
    it.live(
      "the event is sent once the node has an index, with the node's own figure",
      () =>
        Effect.gen(function* () {
          const litecoind = yield* Litecoind.start("-txindex=0")
          yield* litecoind.mine(101)
          const rpc = yield* JsonRpc.make({ urls: [litecoind.url] })
          const source = yield* UtxoSource.make(chain, rpc)
          const explorer = TransactionExplorer.make(chain, rpc, source.capable, MinedOutputs.make(chain, [rpc]))
          const page = { limit: 50, offset: 0 }
          const [coinbase] = (yield* explorer.transactionsOf({ height: 0 }, page, 1)).items
          assert.deepStrictEqual([coinbase?.isCoinbase, coinbase?.isSpent, coinbase?.fee], [true, [false], 0n])
          const tooMany = yield* Effect.flip(explorer.transactionsOf({ height: 0 }, page, 0))
          assert.deepInclude(tooMany, { _tag: "TooManyCalls", calls: 1 })
          // A coinbase spends nothing, so that no index is needed.
          assert.strictEqual((yield* explorer.transactionsOf({ height: 1 }, page, 100)).total, 1)
          for (const asked of [
            Effect.asVoid(explorer.transaction("12".repeat(32), 100)),
            Effect.asVoid(explorer.rawData("12".repeat(32)))
          ]) {
            assert.strictEqual((yield* Effect.flip(asked))._tag, "NotShown")
          }
          const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
          const commit = Effect.gen(function* () {
            const { height } = yield* source.head
            yield* chainStore.commit([yield* source.blockAt(height)])
          })

          const own = yield* litecoind.rpc<string>("getnewaddress", "", "bech32")
          const elsewhere = yield* litecoind.rpc<string>("getnewaddress", "", "legacy")
          // One transaction, all of whose outputs are spent later on: a node finds others without an index.
          const paid = yield* litecoind.rpc<string>("sendtoaddress", own, 5)
          yield* litecoind.mine(1)
          yield* commit
          const coin = (yield* litecoind.rpc<ReadonlyArray<{ readonly txid: string; readonly vout: number }>>(
            "listunspent"
          )).filter(({ txid }) => txid === paid)
          assert.lengthOf(coin, 2)
          const address = Result.getOrThrow(Address.decode(chain, own))
          const subscriptions = yield* Subscriptions
          yield* subscriptions.create({
            ...{ account: 1, chain, address, callbackUrl: "https://receiver.test/", secret: undefined },
            ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
          })
          const total =
            5 +
            (yield* litecoind.rpc<ReadonlyArray<{ readonly txid: string; readonly amount: number }>>("listunspent"))
              .filter(({ amount, txid }) => txid === paid && amount !== 5)
              .reduce((sum, { amount }) => sum + amount, 0)
          const raw = yield* litecoind.rpc<string>("createrawtransaction", coin, {
            [own]: 3.5,
            [elsewhere]: Number((total - 3.5 - 0.001).toFixed(8))
          })
          const signed = yield* litecoind.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
          const id = yield* litecoind.rpc<string>("sendrawtransaction", signed.hex, 0)
          yield* litecoind.mine(1)
          yield* commit
          const doubt = Effect.map(UnresolvedEvents.list(chain, 10), (events) =>
            events.map(({ transactionId }) => Buffer.from(transactionId).toString("hex"))
          )
          assert.deepStrictEqual(yield* doubt, [id])

          const nodes = [yield* JsonRpc.make({ urls: [litecoind.url], attempts: 1 })]
          const { step } = yield* EventResolution.make(source, MinedOutputs.make(chain, nodes), chainStore, {
            pollInterval: Duration.millis(1),
            longestWait: Duration.millis(1)
          })
          yield* step
          yield* step
          assert.deepStrictEqual(yield* doubt, [id], "without an index")

          yield* litecoind.restart("-txindex=1")
          let left: ReadonlyArray<string> = [id]
          for (let looks = 0; looks < 1_000 && left.length > 0; looks++) {
            yield* Effect.sleep("20 millis")
            yield* step
            left = yield* doubt
          }
          assert.deepStrictEqual(left, [])
          const { query } = yield* Database
          const [callback, ...others] = yield* query((db) => db.selectFrom("callback").select("body"))
          assert.deepStrictEqual(others, [])
          const { item } = JSON.parse(callback!.body).data
          assert.deepStrictEqual(
            [item.address, item.transactionId, item.direction, item.amount],
            [own, id, "outgoing", "1.5"]
          )
        }).pipe(quiet, Effect.scoped, Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(store.layer)))),
      120_000
    )
  })
}

describe("MinedOutputs", () => {
  it.live.skipIf(!Litecoind.installed)(
    "asks the second node for what the first does not show, and believes no other transaction",
    () =>
      Effect.gen(function* () {
        const litecoind = yield* Litecoind.start()
        yield* litecoind.mine(101)
        const to = yield* litecoind.rpc<string>("getnewaddress")
        const id = yield* litecoind.rpc<string>("sendtoaddress", to, 2)
        yield* litecoind.mine(1)
        const { hex, vin } = yield* litecoind.rpc<Transaction>("getrawtransaction", id, true)
        const asked: Array<string> = []
        const node = Effect.fnUntraced(function* (answer: unknown) {
          const { url } = yield* FakeNode.make((method, [param]) => {
            asked.push(`${method} ${param}`)
            if (answer === undefined) throw new FakeNode.RpcError(-5, "No such mempool or blockchain transaction")
            return answer
          })
          return yield* JsonRpc.make({ urls: [url], attempts: 1 })
        })
        const real = yield* JsonRpc.make({ urls: [litecoind.url], attempts: 1 })
        const gone = yield* JsonRpc.make({ urls: ["http://127.0.0.1:1"], attempts: 1 })
        const lacking = yield* node(undefined)
        const lying = yield* node(hex)
        const outpoints = [0, 1, 7].map((index) => ({ transactionId: bytes(id), index }))
        const amounts = (outputs: ReadonlyArray<{ readonly amount: bigint } | undefined>) =>
          outputs.map((output) => output?.amount)

        const found = amounts(yield* MinedOutputs.make(chain, [gone, lacking, real])(outpoints))
        assert.include(found, 2_0000_0000n)
        assert.isUndefined(found[2])
        assert.deepStrictEqual(asked, [`getrawtransaction ${id}`], "a transaction is asked for once")
        assert.deepStrictEqual(amounts(yield* MinedOutputs.make(chain, [lacking])(outpoints)), [
          undefined,
          undefined,
          undefined
        ])
        const parent = [{ transactionId: bytes(vin[0]!.txid), index: vin[0]!.vout }]
        assert.deepStrictEqual(amounts(yield* MinedOutputs.make(chain, [lying])(parent)), [undefined])
        assert.deepStrictEqual(amounts(yield* MinedOutputs.make(chain, [lying, real])(parent)), [50_0000_0000n])
        const failure = yield* Effect.flip(MinedOutputs.make(chain, [gone])(outpoints))
        assert.strictEqual(failure._tag, "NodeUnreachable")
      }).pipe(quiet, Effect.scoped),
    60_000
  )
})
