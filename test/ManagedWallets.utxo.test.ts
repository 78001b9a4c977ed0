/** Wallets of a UTXO chain that are synced, deactivated and activated through `manage`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HdWallet from "./HdWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { taken } from "./Stores.ts"

const place = "litecoin/regtest"
const manage = `/hd-wallets/manage/${place}`

const codeOf = ({ body, status }: Headwater.Answer) => [status, body.error?.code]

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!Litecoind.installed)(`Managed wallets on litecoind, ${name}`, () => {
    it.live(
      "have the coins from before, are as not synced while they are not active, and whole at once when they are again",
      () =>
        Effect.gen(function* () {
          const node = yield* Litecoind.start()
          yield* node.mine(110)
          const own = yield* HdWallet.make(node, "managed", 19)
          const { addresses, extendedPublicKey } = own
          const pay = Effect.fnUntraced(function* (address: string, amount: number) {
            yield* node.rpc("sendtoaddress", address, amount)
            yield* node.mine(1)
          })
          yield* pay(addresses[0][3]!, 3)
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { [place]: { nodes: [node.url], start: "latest", record: "watched", pollMillis: 200 } }
          })
          const path = `/hd-wallets/utxo/${place}/${extendedPublicKey}`
          const assets = headwater.get(`${path}/assets`)
          const balanceIs = (amount: number) =>
            Headwater.until(assets, ({ body }) => Number(body.data?.item.confirmedBalance.amount) === amount)
          const remove = headwater.remove(`${manage}/${extendedPublicKey}`)
          const activate = headwater.post(`${manage}/${extendedPublicKey}/activate`, {})
          const sync = (query = "", item = {}) => headwater.post(`${manage}/${extendedPublicKey}/sync${query}`, item)
          const list = Effect.map(headwater.get(manage), ({ body }) => body.data)

          yield* Headwater.until(headwater.get(`${path}/status`), ({ status }) => status !== 503)
          assert.deepStrictEqual((yield* list).items, [])
          assert.deepStrictEqual(codeOf(yield* remove), [404, "resource_not_found"])
          assert.deepStrictEqual(codeOf(yield* activate), [404, "resource_not_found"])
          const early = yield* sync("", { birthHeight: 0 })
          assert.deepStrictEqual(codeOf(early), [400, "invalid_data"])
          assert.include(JSON.stringify(early.body.error.details), "birthHeight")
          assert.deepStrictEqual(codeOf(yield* sync("?format=STANDARD")), [400, "invalid_data"])
          const wrong = yield* headwater.post(`${manage}/nonsense/sync`, {})
          assert.deepStrictEqual(codeOf(wrong), [400, "invalid_xpub"])

          const { body, status } = yield* Headwater.until(sync(), ({ status }) => status !== 503)
          assert.strictEqual(status, 201, JSON.stringify(body))
          assert.deepStrictEqual(body.data.item, { extendedPublicKey })
          assert.deepStrictEqual(codeOf(yield* sync()), [409, "already_exists"])
          yield* balanceIs(3)
          const first = { extendedPublicKey, derivation: "account", format: "P2WPKH" }
          assert.deepStrictEqual((yield* list).items, [{ ...first, isActive: true, syncStatus: "synced" }])
          assert.deepStrictEqual(codeOf(yield* activate), [409, "xpub_already_active"])
          // The same key in another form is another wallet.
          assert.strictEqual((yield* sync("?format=P2PKH")).status, 201)

          const lists = ["addresses", "assets", "details", "status", "transactions", "unspent-outputs"]
          for (const what of lists) {
            yield* Headwater.until(headwater.get(`${path}/${what}`), ({ status }) => status === 200)
          }
          const stopped = yield* remove
          assert.deepStrictEqual([stopped.status, stopped.body.data.item], [200, { extendedPublicKey }])
          assert.deepStrictEqual(codeOf(yield* remove), [409, "invalid_data"])
          const { items, total } = yield* list
          assert.strictEqual(total, 2)
          assert.deepStrictEqual(items[0], { ...first, isActive: false, syncStatus: "synced" })
          assert.deepInclude(items[1], { ...first, format: "P2PKH", isActive: true })
          const page = (yield* headwater.get(`${manage}?limit=1&offset=1`)).body.data
          assert.deepStrictEqual([page.total, page.items.length, page.items[0].format], [2, 1, "P2PKH"])

          for (const what of lists) {
            const answer = yield* headwater.get(`${path}/${what}`)
            assert.deepStrictEqual([what, ...codeOf(answer)], [what, 400, "xpub_not_synced"])
          }
          const prepared = yield* headwater.post(`${path}/transactions/prepare`, {
            ...{ recipients: [{ address: addresses[0][9], amount: "1" }], fee: { priority: "slow" } }
          })
          assert.deepStrictEqual(codeOf(prepared), [400, "xpub_not_synced"])
          for (const what of ["derive-and-sync", "derive-and-sync-change"]) {
            const answer = yield* headwater.post(`${path}/addresses/${what}`, {})
            assert.deepStrictEqual([what, ...codeOf(answer)], [what, 409, "invalid_data"])
            assert.include(answer.body.error.message, "activate the wallet")
          }
          const again = yield* sync()
          assert.deepStrictEqual(codeOf(again), [409, "already_exists"])
          assert.include(again.body.error.message, "activate the wallet")
          const state = (yield* headwater.get(`${manage}/${extendedPublicKey}/status`)).body.data.item
          const named = { blockchain: "litecoin", extendedPublicKey, network: "regtest" }
          assert.deepStrictEqual(state, { ...named, isActive: false, syncStatus: "synced" })

          // What came meanwhile is there.
          yield* pay(addresses[0][7]!, 0.25)
          const activated = yield* activate
          assert.strictEqual(activated.status, 200, JSON.stringify(activated.body))
          assert.deepStrictEqual(activated.body.data.item, { ...named, isActive: true, syncStatus: "synced" })
          assert.notStrictEqual((yield* assets).body.error?.code, "xpub_sync_in_progress")
          yield* balanceIs(3.25)
          const derive = headwater.post(`${path}/addresses/derive-and-sync`, {})
          const next = yield* Headwater.until(derive, ({ status }) => status !== 503)
          assert.deepStrictEqual([next.status, next.body.data.items[0].address], [201, addresses[0][8]])
        }).pipe(Effect.scoped),
      120_000
    )
  })
}
