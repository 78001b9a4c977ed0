/** Subscriptions to transactions on a real litecoind, with an index of transactions and without. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const place = "litecoin/regtest"

const isTried = Litecoind.installed && isInTurn(import.meta.url)

for (const { location, name } of taken(import.meta.url)) {
  // The smaller node beside the smaller store.
  const index = name === "sqlite" ? "-txindex=0" : "-txindex=1"
  describe.skipIf(!isTried)(`transaction-mined on litecoind (${index}), ${name}`, () => {
    it.live(
      "tells transactions of blocks before and behind the subscription, also where all of their outputs are spent",
      () =>
        Effect.gen(function* () {
          const node = yield* Litecoind.start(index, "-vbparams=mweb:4000000000:4000000000")
          yield* node.mine(110)
          const receiver = yield* Receiver.start()
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { [place]: { nodes: [node.url], start: 105, record: "watched", pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const own = yield* node.rpc<string>("getnewaddress", "", "bech32")
          const pay = node.rpc<string>("sendtoaddress", own, 1)
          const subscribe = Effect.fnUntraced(function* (transactionId: string) {
            const item = { transactionId, callbackUrl: `${receiver.url}/` }
            const subscribed = headwater.post(`/blockchain-events/${place}/transaction-mined`, item)
            const { body } = yield* Headwater.until(subscribed, ({ status }) => status === 201)
            return body.data.item as { readonly referenceId: string }
          })
          const told = ({ referenceId }: { readonly referenceId: string }) =>
            receiver.accepted().filter(({ body }) => body.referenceId === referenceId)
          const isTold = Effect.fnUntraced(function* (
            subscription: { readonly referenceId: string },
            id: string,
            blockHash: string | undefined
          ) {
            yield* receiver.until(() =>
              told(subscription).some(({ body }) => body.data.item.minedInBlock.hash === blockHash)
            )
            const { height, time } = yield* node.rpc<{ height: number; time: number }>("getblockheader", blockHash)
            assert.deepStrictEqual(told(subscription).at(-1)!.body.data.item, {
              ...{ blockchain: "litecoin", network: "regtest", transactionId: id },
              minedInBlock: { height, hash: blockHash, timestamp: time }
            })
          })
          // Before its block; in capitals.
          const before = yield* pay
          const first = yield* subscribe(before.toUpperCase())
          const [hash] = yield* node.mine(1)
          yield* isTold(first, before, hash)
          // Behind it, and where all of its outputs are spent since.
          const past = yield* pay
          const [second] = yield* node.mine(1)
          yield* isTold(yield* subscribe(past), past, second)
          const coins = yield* node.rpc<ReadonlyArray<{ txid: string; vout: number; amount: number }>>("listunspent")
          const spent = coins.filter(({ txid }) => txid === past)
          const target = yield* node.rpc<string>("getnewaddress")
          const sum = spent.reduce((all, { amount }) => all + amount, 0)
          const raw = yield* node.rpc<string>("createrawtransaction", spent, { [target]: (sum - 0.01).toFixed(8) })
          const { hex } = yield* node.rpc<{ hex: string }>("signrawtransactionwithwallet", raw)
          yield* node.rpc("sendrawtransaction", hex)
          yield* node.mine(1)
          const { height } = yield* node.rpc<{ height: number }>("getblockheader", second)
          const again = yield* headwater.post(`/blockchain-events/${place}/transaction-mined`, {
            ...{ transactionId: past, callbackUrl: `${receiver.url}/`, allowDuplicates: true }
          })
          yield* isTold(again.body.data.item, past, second)
          assert.isAbove(height, 110)
          // Of a block from before the first one that was committed.
          const old = yield* node.rpc<string>("getblockhash", 50)
          const [coinbase] = (yield* node.rpc<{ tx: ReadonlyArray<string> }>("getblock", old)).tx
          yield* isTold(yield* subscribe(coinbase!), coinbase!, old)
          // The block leaves, and another one has the transaction.
          const waits = yield* pay
          const raced = yield* subscribe(waits)
          const [left] = yield* node.mine(1)
          yield* isTold(raced, waits, left)
          yield* node.rpc("invalidateblock", left)
          const [comes] = yield* node.mine(2, yield* node.rpc<string>("getnewaddress"))
          yield* isTold(raced, waits, comes)
          assert.deepStrictEqual([told(first).length, told(raced).length], [1, 2])
        }).pipe(Effect.scoped)
    )
  })
}
