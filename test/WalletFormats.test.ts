/** One extended key as several wallets: in each form of addresses, with litecoind's own derivation as the oracle. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HdWallet from "./HdWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { locations } from "./Stores.ts"

const { location } = locations[0]!
const wallets = "/hd-wallets/utxo/litecoin/regtest"

/** The descriptor of each form (BIP-380 to BIP-386), and what is paid to its addresses. */
const forms = [
  { format: "P2PKH", descriptor: (keys: string) => `pkh(${keys})`, amount: "1" },
  { format: "P2SH-P2WPKH", descriptor: (keys: string) => `sh(wpkh(${keys}))`, amount: "2" },
  { format: "P2WPKH", descriptor: (keys: string) => `wpkh(${keys})`, amount: "3" }
]

describe.skipIf(!Litecoind.installed)("the format of an HD wallet over HTTP", () => {
  it.live(
    "makes a wallet of each form of the same key, and each has its own addresses and balance",
    () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start()
        yield* node.mine(110)
        const { extendedPublicKey: xpub } = yield* HdWallet.make(node, "hd", 9)
        const derived = Effect.fnUntraced(function* (descriptor: string) {
          const { checksum } = yield* node.rpc<{ readonly checksum: string }>("getdescriptorinfo", descriptor)
          return yield* node.rpc<ReadonlyArray<string>>("deriveaddresses", `${descriptor}#${checksum}`, [0, 9])
        })
        const addresses = new Map<string, ReadonlyArray<string>>()
        for (const { amount, descriptor, format } of forms) {
          const own = yield* derived(descriptor(`${xpub}/0/*`))
          addresses.set(format, own)
          yield* node.rpc("sendtoaddress", own[4], amount)
        }
        // Below the first block that is recorded, which would show the coins at once.
        yield* node.mine(2)
        const settings = { nodes: [node.url], start: "latest", pollMillis: 200 }
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "litecoin/regtest": settings, "dogecoin/regtest": settings, "ethereum/devnet": settings }
        })
        // A first wallet asks the node whether it can find coins, so the node has to be connected.
        const derive = (item: Record<string, unknown>, query = "", path = wallets) =>
          Headwater.until(
            headwater.post(`${path}/${xpub}/addresses/derive-and-sync${query}`, item),
            ({ status }) => status !== 503
          )
        const assets = (query: string) => headwater.get(`${wallets}/${xpub}/assets${query}`)
        const balance = (query: string) =>
          Effect.map(
            Headwater.until(assets(query), ({ status }) => status !== 422 && status !== 503),
            ({ body, status }) => (status === 200 ? body.data.item.confirmedBalance.amount : body.error.code)
          )
        for (const { amount, format } of forms) {
          // The usual form without a word; each in any letter case, in the body or in the query.
          const asked = { P2PKH: [{ format: "p2pkh" }], "P2SH-P2WPKH": [{}, "?format=P2sh-p2wpkh"], P2WPKH: [{}] }[
            format
          ] as [Record<string, unknown>, string?]
          assert.strictEqual(yield* balance(`?format=${format}`), "xpub_not_synced")
          const { body, status } = yield* derive(...asked)
          assert.strictEqual(status, 201, JSON.stringify(body))
          const items: ReadonlyArray<{ readonly address: string; readonly format: string }> = body.data.items
          assert.deepStrictEqual(
            items.slice(0, 10).map((item) => [item.format, item.address]),
            addresses.get(format)!.map((address) => [format, address])
          )
          assert.strictEqual(yield* balance(`?format=${format.toLowerCase()}`), amount)
        }
        assert.strictEqual(yield* balance(""), "3", "the form that the key's version says")
        const status = yield* headwater.get(`${wallets}/${xpub}/status?format=P2PKH`)
        assert.strictEqual(status.body.data.item.status, "synced")
        // The body wins, as with the context.
        const both = yield* derive({ format: "P2PKH" }, "?format=P2WPKH")
        assert.strictEqual(both.body.data.items[0].format, "P2PKH")

        const taproot = yield* derive({ format: "P2TR" })
        assert.strictEqual(taproot.status, 201)
        const [{ address }] = taproot.body.data.items
        assert.match(address, /^rltc1p/)
        assert.strictEqual(yield* balance("?format=P2TR"), "0")
        yield* node.rpc("sendtoaddress", address, 0.5)
        yield* node.mine(1)
        yield* Headwater.until(assets("?format=P2TR"), ({ body }) => body.data?.item.confirmedBalance.amount === "0.5")

        const dogecoin = "/hd-wallets/utxo/dogecoin/regtest"
        const lacking = "dogecoin has P2PKH, P2SH-P2WPKH, not P2TR"
        for (const [answer, rule] of [
          [yield* derive({ format: "P2XX" }), "must be one of P2PKH, P2SH-P2WPKH, P2WPKH, P2TR, STANDARD, CLASSIC"],
          [yield* derive({ format: "P2TR" }, "", dogecoin), lacking],
          [yield* headwater.get(`${dogecoin}/${xpub}/assets?format=P2TR`), lacking]
        ] as const) {
          assert.deepStrictEqual([answer.status, answer.body.error.code], [400, "invalid_data"])
          const [{ attribute, message }] = answer.body.error.details
          assert.match(attribute, /format$/)
          assert.strictEqual(message, rule)
        }
        const evm = yield* headwater.get(`/hd-wallets/evm/ethereum/devnet/${xpub}/assets?format=P2PKH`)
        assert.deepStrictEqual([evm.status, evm.body.error.code], [400, "invalid_data"])
        assert.match(evm.body.error.message, /ethereum has STANDARD, not P2PKH/)
      }).pipe(Effect.scoped),
    240_000
  )
})
