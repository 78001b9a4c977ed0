/** Signed transactions on a real litecoind, with an index of transactions and without: sent, followed, told, and refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const path = "/broadcast-transactions/litecoin/regtest"
const success = "BROADCAST_TRANSACTION_SUCCESS"
const fail = "BROADCAST_TRANSACTION_FAIL"

interface Coin {
  readonly txid: string
  readonly vout: number
  readonly amount: number
}

const isTried = Litecoind.installed && isInTurn(import.meta.url)

for (const { location, name } of taken(import.meta.url)) {
  // The smaller node beside the smaller store.
  const index = name === "sqlite" ? "-txindex=0" : "-txindex=1"
  describe.skipIf(!isTried)(`broadcast on litecoind (${index}), ${name}`, () => {
    it.live("sends what a wallet signed, follows it, and refuses what is wrong", () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start(index, "-vbparams=mweb:4000000000:4000000000", "-mempoolreplacement=1")
        yield* node.mine(120)
        const receiver = yield* Receiver.start()
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "litecoin/regtest": { nodes: [node.url], start: 0, record: "watched", pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
        })
        const [first, second, third, fourth] = yield* node.rpc<ReadonlyArray<Coin>>("listunspent")
        /** A transaction that spends a coin and pays this fee, signed by the node's wallet. */
        const signed = Effect.fnUntraced(function* ({ amount, txid, vout }: Coin, fee: number, sequence = 0xfffffffd) {
          const target = yield* node.rpc<string>("getnewaddress", "", "bech32")
          const outputs = { [target]: (amount - fee).toFixed(8) }
          const raw = yield* node.rpc<string>("createrawtransaction", [{ txid, vout, sequence }], outputs)
          const { hex } = yield* node.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
          const decoded = yield* node.rpc<{ readonly txid: string }>("decoderawtransaction", hex)
          return { hex, id: decoded.txid }
        })
        const post = (hex: string, item: Record<string, unknown> = {}) =>
          headwater.post(path, { signedTransactionHex: hex, ...item })
        yield* Headwater.until(post("00"), ({ status }) => status !== 503)
        const broadcast = Effect.fnUntraced(function* ({ hex, id }: { readonly hex: string; readonly id: string }) {
          const { body, status } = yield* post(hex, { callbackUrl: `${receiver.url}/`, callbackSecretKey: "s" })
          assert.deepStrictEqual([status, body.data?.item], [200, { transactionId: id }], JSON.stringify(body))
        })
        const becomes = Effect.fnUntraced(function* ({ id }: { readonly id: string }, outcome: string) {
          for (let i = 0; i < 600; i++) {
            if (outcome === "replaced" && i % 2 === 0) yield* node.mine(1)
            const { body } = yield* headwater.get(`${path}/${id}`)
            if (body.data?.item.outcome === outcome) return body.data.item
            yield* Effect.sleep("100 millis")
          }
          return yield* Effect.die(new Error(`${id} did not become ${outcome}`))
        })
        const told = ({ id }: { readonly id: string }) =>
          receiver.accepted().filter(({ body }) => body.data.item.transactionId === id)
        const until = (transaction: { readonly id: string }, ...wanted: ReadonlyArray<string>) =>
          receiver.until(() => wanted.every((event, i) => told(transaction)[i]?.body.data.event === event))

        const mined = yield* signed(first!, 0.0001)
        yield* broadcast(mined)
        yield* until(mined, success)
        Receiver.verify(told(mined)[0]!, "s")
        yield* becomes(mined, "sent")
        assert.include(yield* node.rpc<ReadonlyArray<string>>("getrawmempool"), mined.id)
        const [hash] = yield* node.mine(1)
        assert.deepStrictEqual((yield* becomes(mined, "mined")).minedInBlock, { hash, height: 121 })
        yield* broadcast(mined)
        assert.lengthOf(told(mined), 1)

        // The block leaves the chain, and the transaction waits again until the next one.
        yield* node.rpc("invalidateblock", hash)
        const [again] = yield* node.mine(2, yield* node.rpc<string>("getnewaddress"))
        for (let now = hash; now !== again; now = (yield* becomes(mined, "mined")).minedInBlock.hash) {
          yield* Effect.sleep("100 millis")
        }

        const replaced = yield* signed(second!, 0.0001)
        yield* broadcast(replaced)
        const instead = yield* signed(second!, 0.001)
        yield* node.rpc("sendrawtransaction", instead.hex)
        const { errorMessage } = yield* becomes(replaced, "replaced")
        assert.include(errorMessage, "is spent by another transaction")
        yield* until(replaced, success, fail)

        // A transaction that spends what waits itself is replaced through the same door.
        const parent = yield* signed(fourth!, 0.0001)
        yield* broadcast(parent)
        const change = { txid: parent.id, vout: 0, amount: fourth!.amount - 0.0001 }
        const child = yield* signed(change, 0.0001)
        yield* broadcast(child)
        const bumped = yield* signed(change, 0.001)
        yield* broadcast(bumped)
        assert.notInclude(yield* node.rpc<ReadonlyArray<string>>("getrawmempool"), child.id)

        const fine = yield* signed(third!, 0.0001)
        const [bad] = [fine.hex.length - 20].map((at) => {
          const digit = fine.hex[at] === "0" ? "1" : "0"
          return `${fine.hex.slice(0, at)}${digit}${fine.hex.slice(at + 1)}`
        })
        const raw = yield* node.rpc<string>("createrawtransaction", [third], {
          [yield* node.rpc<string>("getnewaddress")]: (third!.amount - 0.0001).toFixed(8)
        })
        const foreign =
          "0100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd3704000000004847304402204e45e16932b8af514961a1d3a" +
          "1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901ffffffff0" +
          "200ca9a3b00000000434104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7" +
          "303b8a0626f1baded5c72a704f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a69" +
          "09a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000"
        const cases: ReadonlyArray<readonly [string, number, RegExp]> = [
          ["00", 400, /must be a transaction of litecoin/],
          [`${fine.hex}00`, 400, /must be a transaction of litecoin/],
          [bad!, 400, /signatures/],
          [raw, 400, /signatures/],
          [(yield* signed(third!, 0.05)).hex, 400, /maximumFee/],
          [(yield* signed(second!, 0.0001, 0xfffffffe)).hex, 409, /the input 0, .* must be an unspent output/],
          // The first payment on Bitcoin.
          [foreign, 409, /the input 0, .* must be an unspent output/]
        ]
        for (const [hex, wanted, rule] of cases) {
          const { body, status } = yield* post(hex)
          assert.deepStrictEqual(
            [status, body.error?.code],
            [wanted, "invalid_data"],
            `${rule} ${JSON.stringify(body)}`
          )
          assert.match(body.error.message, rule)
        }
        assert.notInclude(yield* node.rpc<ReadonlyArray<string>>("getrawmempool"), fine.id)

        // Mined while the daemon is away, more blocks ago than it looks at, and its outputs spent since.
        yield* broadcast(fine)
        yield* until(fine, success)
        yield* headwater.terminate
        const [since] = yield* node.mine(1)
        const next = { txid: fine.id, vout: 0, amount: third!.amount - 0.0001 }
        yield* node.rpc("sendrawtransaction", (yield* signed(next, 0.0001)).hex)
        yield* node.mine(30)
        yield* headwater.launch
        assert.strictEqual((yield* becomes(fine, "mined")).minedInBlock.hash, since)
        assert.lengthOf(told(fine), 1)
      }).pipe(Effect.scoped)
    )
  })
}
