/** Raw transactions decoded as a real node decodes them: of each form of address, paid to and spent. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { locations } from "./Stores.ts"

const { location } = locations[0]!
const place = "litecoin/regtest"

interface Decoded {
  readonly txid: string
  readonly hash: string
  readonly size: number
  readonly vsize: number
  readonly weight: number
  readonly version: number
  readonly locktime: number
  readonly vin: ReadonlyArray<{
    readonly txid: string
    readonly vout: number
    readonly sequence: number
    readonly scriptSig: { readonly hex: string }
    readonly txinwitness?: ReadonlyArray<string>
  }>
  readonly vout: ReadonlyArray<{
    readonly value: number
    readonly scriptPubKey: { readonly hex: string; readonly type: string; readonly addresses?: ReadonlyArray<string> }
  }>
}

interface Signed {
  readonly hex: string
  readonly complete: boolean
  readonly errors?: unknown
}

describe.skipIf(!Litecoind.installed)("raw transactions of litecoind", () => {
  it.live("are decoded as the node decodes them, and inputs show whose coins they spend", () =>
    Effect.gen(function* () {
      const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
      yield* node.mine(110)
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { [place]: { nodes: [node.url], start: "latest", pollMillis: 50 } }
      })
      const decode = (rawTransactionHex: string) =>
        headwater.post(`/utils/utxo/${place}/decode-raw-transaction`, { rawTransactionHex })
      const kinds = ["legacy", "p2sh-segwit", "bech32"] as const
      const own = yield* Effect.forEach(kinds, (kind) => node.rpc<string>("getnewaddress", "", kind))
      const paid = yield* Effect.forEach(own, (address) => node.rpc<string>("sendtoaddress", address, 1))
      yield* node.mine(1)
      const to = yield* node.rpc<string>("getnewaddress")
      for (const [i, address] of own.entries()) {
        const { hex: payment } = yield* node.rpc<{ readonly hex: string }>("gettransaction", paid[i])
        const { vout } = yield* node.rpc<Decoded>("decoderawtransaction", payment)
        const n = vout.findIndex(({ scriptPubKey }) => scriptPubKey.addresses?.includes(address))
        const outputs = [{ [to]: 0.5 }, { data: "68656164776174657220" }]
        const unsigned = yield* node.rpc<string>("createrawtransaction", [{ txid: paid[i], vout: n }], outputs)
        const { complete, errors, hex: signed } = yield* node.rpc<Signed>("signrawtransactionwithwallet", unsigned)
        assert.isTrue(complete, JSON.stringify(errors))
        for (const raw of [payment, unsigned, signed]) {
          const { body, status } = yield* decode(raw)
          assert.strictEqual(status, 200, JSON.stringify(body))
          const { item } = body.data
          const shown = yield* node.rpc<Decoded>("decoderawtransaction", raw)
          assert.deepStrictEqual(
            [item.id, item.hash, item.size, item.vsize, item.weight, item.version, item.locktime],
            [shown.txid, shown.hash, shown.size, shown.vsize, shown.weight, shown.version, shown.locktime]
          )
          assert.deepStrictEqual(
            // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
            item.inputs.map((input: any) => [
              ...[input.transactionId, input.outputIndex, input.script.hex, input.sequence, input.witnesses]
            ]),
            shown.vin.map(({ scriptSig, sequence, txid, txinwitness, vout }) => [
              ...[txid, vout, scriptSig.hex, sequence, txinwitness]
            ])
          )
          assert.deepStrictEqual(
            // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
            item.outputs.map(({ address, script, value }: any) => [
              ...[address, script.hex, script.type, Number(value.amount), value.unit]
            ]),
            shown.vout.map(({ scriptPubKey: { addresses, hex, type }, value }) => [
              ...[addresses?.[0], hex, type, value, "LTC"]
            ])
          )
        }
        const [{ address: spent }] = (yield* decode(signed)).body.data.item.inputs
        assert.strictEqual(spent, address)
      }
      for (const wrong of ["00", "zz", "0".repeat(60)]) assert.strictEqual((yield* decode(wrong)).status, 400)
    }).pipe(Effect.scoped)
  )

  it.live("are priced as the node says, and by what it takes at the least while it says nothing", () =>
    Effect.gen(function* () {
      const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000", "-txconfirmtarget=6")
      yield* node.mine(110)
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { [place]: { nodes: [node.url], start: "latest", pollMillis: 50 } }
      })
      const fees = (kind: string) => headwater.get(`/blockchain-fees/utxo/${place}/${kind}`)
      const connected = Effect.gen(function* () {
        for (let i = 0; i < 1_200; i++) {
          const answer = yield* fees("mempool")
          if (answer.status !== 503) return answer
          yield* Effect.sleep("100 millis")
        }
        return yield* Effect.die(new Error("not connected"))
      })
      // 0.00001 for 1,000 bytes.
      const least = { slow: "0.00000001", standard: "0.00000001", fast: "0.00000001", unit: "LTC" }
      assert.deepStrictEqual((yield* connected).body.data.item, least)
      assert.strictEqual((yield* fees("smart")).status, 501)

      // What the node learns of blocks with transactions.
      const estimate = (blocks: number) =>
        node.rpc<{ readonly feerate?: number; readonly blocks: number }>("estimatesmartfee", blocks, "ECONOMICAL")
      yield* node.rpc("settxfee", 0.0005)
      for (let i = 0; i < 40 && (yield* estimate(6)).feerate === undefined; i++) {
        for (let k = 0; k < 8; k++) yield* node.rpc("sendtoaddress", yield* node.rpc<string>("getnewaddress"), 0.1)
        yield* node.mine(1)
      }
      const { blocks, feerate } = yield* estimate(6)
      assert.isDefined(feerate)
      const smart = (yield* fees("smart?confirmationTarget=6&estimateMode=economical")).body.data.item
      assert.deepStrictEqual(
        { ...smart, feeRate: Number(smart.feeRate) },
        { confirmationTarget: blocks, feeRate: feerate, unit: "LTC" }
      )
      const { standard } = (yield* connected).body.data.item
      assert.closeTo(Number(standard) * 1_000, feerate!, 1e-12)
      assert.strictEqual((yield* fees("smart?confirmationTarget=0")).status, 400)
    }).pipe(Effect.scoped)
  )
})
