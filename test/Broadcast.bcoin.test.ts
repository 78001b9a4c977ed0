/** A payment of an HD wallet on bcoin, from the request to its block: prepared, signed elsewhere, broadcast, told. */
import { assert, describe, it } from "@effect/vitest"
import { networks } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Bcoin from "./Bcoin.ts"
import * as BroadcastClient from "./BroadcastClient.ts"
import * as Headwater from "./Headwater.ts"
import { formats, satoshisOf, signHashes, signPsbt, wallet } from "./PreparedWallets.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const { fail, secret, success } = BroadcastClient
const place = "bitcoin/regtest"

describe.skipIf(!isInTurn(import.meta.url))("transactions on bcoin", () => {
  it.live("are prepared, signed, broadcast and told, whatever form the wallet's addresses have", () =>
    Effect.gen(function* () {
      const node = yield* Bcoin.start(1)
      const receiver = yield* Receiver.start()
      const headwater = yield* Headwater.start(yield* locations[0]!.location as Effect.Effect<never>, {
        chains: { [place]: { nodes: [node.url], start: 0, pollMillis: 200 } },
        callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
      })
      const client = yield* BroadcastClient.make(headwater, receiver, { place, grow: node.mine(1) })
      const stranger = wallet(99, "P2WPKH", 0, networks.regtest).address(0, 0)
      for (const [i, format] of formats.entries()) {
        const own = wallet(i, format, 2, networks.regtest)
        const path = `/hd-wallets/utxo/${place}/${own.extendedPublicKey}`
        const asked = `?format=${format}`
        // The daemon may still read the chain.
        const derive = headwater.post(`${path}/addresses/derive-and-sync${asked}`, {})
        const derived = yield* Headwater.until(derive, ({ status }) => status !== 503)
        assert.strictEqual(derived.status, 201, JSON.stringify(derived.body))
        const has = (amount: bigint) =>
          Headwater.until(headwater.get(`${path}/assets${asked}`), ({ body }) => {
            const found = body.data?.item.confirmedBalance.amount
            return found !== undefined && satoshisOf(found) === amount
          })
        for (const index of [0, 1]) yield* node.fund(own.address(0, index), 0.4)
        yield* node.mine(1)
        yield* has(80_000_000n)

        const { body } = yield* headwater.post(`${path}/transactions/prepare${asked}`, {
          ...{ recipients: [{ address: stranger, amount: "0.5" }], fee: {} }
        })
        const prepared = body.data?.item
        assert.isDefined(prepared, JSON.stringify(body))
        assert.lengthOf(prepared.inputs, 2)
        const signed = signPsbt(own, prepared)
        assert.strictEqual(signHashes(own, prepared).toHex(), signed.toHex())
        const transaction = { hex: signed.toHex(), id: signed.getId() }
        yield* client.broadcast(transaction)
        yield* client.until(transaction, success)
        Receiver.verify(client.told(transaction)[0]!, secret)
        yield* client.becomes(transaction, "sent")
        yield* node.mine(1)
        const { minedInBlock } = yield* client.becomes(transaction, "mined")
        assert.strictEqual(minedInBlock.hash, yield* node.rpc<string>("getbestblockhash"))
        yield* has(30_000_000n - satoshisOf(prepared.fee.amount))

        // The same coins again, with a higher fee, and a transaction with a bad signature.
        const again = signed.clone()
        again.outs[0]!.value -= 10_000n
        const refused = yield* client.post(again.toHex())
        assert.strictEqual(refused.body.error?.code, "invalid_data", JSON.stringify(refused.body))
        assert.lengthOf(client.told(transaction), 1)
      }
      assert.isFalse(receiver.accepted().some(({ body }) => body.data.event === fail))
    }).pipe(Effect.scoped)
  )
})
