/** Addresses of a UTXO chain that are synced through `manage`: their coins are found, followed, and no longer told of once stopped. */
import { assert, describe, it } from "@effect/vitest"
import { networks, payments } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { taken } from "./Stores.ts"

const place = "litecoin/regtest"
const manage = `/addresses-historical/manage/${place}`

const lists = ["transactions", "transactions/from-timestamp/0", "balance", "unspent-outputs"]

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!Litecoind.installed)(`Synced addresses on litecoind, ${name}`, () => {
    it.live(
      "have the coins from before as well, refuse with 405 while they are not active, and are whole when they are again",
      () =>
        Effect.gen(function* () {
          const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
          yield* node.mine(110)
          // Of nobody's: the node's wallet would spend what its own address was paid.
          const { address } = payments.p2wpkh({
            ...{ hash: new Uint8Array(20).fill(7), network: { ...networks.regtest, bech32: "rltc" } }
          })
          assert.isDefined(address)
          const pay = Effect.fnUntraced(function* (amount: number) {
            const id = yield* node.rpc<string>("sendtoaddress", address, amount)
            yield* node.mine(1)
            return id
          })
          yield* pay(3)
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { [place]: { nodes: [node.url], start: "latest", record: "watched", pollMillis: 200 } }
          })
          const remove = headwater.remove(`${manage}/${address}`)
          const asked = (kind: string, what: string) =>
            headwater.get(`/addresses-${kind}/utxo/${place}/${address}/${what}`)
          const codeOf = ({ body, status }: Headwater.Answer) => [status, body.error?.code]
          const balanceIs = (amount: string) =>
            Headwater.until(
              asked("historical", "balance"),
              ({ body }) => body.data?.item.confirmedBalance.amount === amount
            )

          yield* Headwater.until(asked("historical", "balance"), ({ status }) => status !== 503)
          assert.deepStrictEqual(codeOf(yield* asked("historical", "balance")), [403, "address_not_synced"])
          assert.deepStrictEqual(codeOf(yield* headwater.post(manage, { address: "nonsense" })), [400, "invalid_data"])
          assert.deepStrictEqual(codeOf(yield* headwater.post(manage, { address, birthHeight: 0 })), [
            400,
            "invalid_data"
          ])
          assert.deepStrictEqual(codeOf(yield* remove), [404, "resource_not_found"])
          const callbackUrl = "https://receiver.test/"
          const { body, status } = yield* headwater.post(manage, { address, callbackUrl })
          assert.strictEqual(status, 201, JSON.stringify(body))
          const named = { address, blockchain: "litecoin", network: "regtest", isActive: true }
          assert.deepInclude(body.data.item, { ...named, callcackUrl: callbackUrl, syncStatus: "syncing" })
          assert.deepStrictEqual(codeOf(yield* headwater.post(manage, { address })), [409, "already_exists"])

          const listed = yield* Headwater.until(
            headwater.get(manage),
            ({ body }) => body.data?.items[0]?.syncStatus === "synced"
          )
          assert.deepInclude(listed.body.data.items[0], named)
          yield* balanceIs("3")
          const later = yield* pay(0.5)
          yield* balanceIs("3.5")
          const { items } = (yield* asked("historical", "unspent-outputs")).body.data
          assert.sameMembers(
            items.map(({ value }: { readonly value: { readonly amount: string } }) => value.amount),
            ["3", "0.5"]
          )
          const shown = (yield* asked("latest", "transactions")).body.data
          assert.strictEqual(shown.items[0].id, later)

          const stopped = yield* remove
          assert.deepStrictEqual([stopped.status, stopped.body.data.item.isActive], [200, false])
          assert.deepStrictEqual(codeOf(yield* remove), [409, "invalid_data"])
          for (const what of lists) {
            assert.deepStrictEqual(
              [what, ...codeOf(yield* asked("historical", what))],
              [...[what, 405, "sync_address_not_active"]]
            )
          }
          // These have no such code, and there is no other address of this account.
          for (const what of ["transactions", "balance"]) {
            assert.deepStrictEqual(codeOf(yield* asked("latest", what)), [403, "address_not_synced"])
          }
          yield* pay(0.25)
          assert.strictEqual((yield* headwater.post(`${manage}/${address}/activate`, {})).status, 201)
          yield* balanceIs("3.75")
          // A subscription of the account tells of the address, too.
          yield* remove
          const subscribed = yield* headwater.post(`/blockchain-events/${place}/address-coins-transactions-confirmed`, {
            address,
            callbackUrl,
            allowDuplicates: false
          })
          assert.strictEqual(subscribed.status, 201)
          yield* balanceIs("3.75")
        }).pipe(Effect.scoped),
      120_000
    )
  })
}
