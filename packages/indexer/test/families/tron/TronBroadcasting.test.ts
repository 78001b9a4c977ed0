/** What a node knows of a Tron transaction by its id alone, and whose transaction is taken. */
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as TronBroadcasting from "@headwater/indexer/families/tron/Broadcasting"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { utils } from "tronweb"
import * as TronNode from "./TronNode.ts"
import * as TronWallet from "./TronWallet.ts"

const nodeAt = (height: () => number, found: object | undefined = undefined) => {
  const node = { name: "node", find: () => Effect.succeed(found) }
  const headers = {
    newest: () =>
      Effect.sync(() => ({
        blockID: `${height().toString(16).padStart(16, "0")}${"ab".repeat(24)}`,
        block_header: { raw_data: { number: height(), parentHash: "00".repeat(32), timestamp: 1 } }
      }))
  }
  return TronBroadcasting.make({ ...node, each: [node] } as never, headers as never)
}

describe("a Tron transaction that is looked for by its id", () => {
  it.effect("is not said to be in no block by a node that has not come to the block", () =>
    Effect.gen(function* () {
      let newest = 99
      const { find } = nodeAt(() => newest)
      const found = () => Effect.result(find(new Uint8Array(32).fill(1), 100))
      assert.include(String(yield* found()), "has not come to block 100")
      newest = 100
      assert.deepStrictEqual(yield* found(), Result.succeed({ state: "absent" as const }))
    })
  )
})

describe("a Tron transaction of a type whose first field is a name", () => {
  it.effect("is taken from its owner, and from nobody else", () =>
    Effect.gen(function* () {
      const { check, idOf } = nodeAt(() => 1, {})
      const owner_address = TronWallet.addressHex
      const to_address = `41${"07".repeat(20)}`
      const values = {
        // By its length and first letter the name might be an address.
        TransferAssetContract: { asset_name: "41".repeat(21), owner_address, to_address, amount: 9 },
        AccountUpdateContract: { account_name: "6e616d65", owner_address },
        SetAccountIdContract: { account_id: "6163636f756e746964", owner_address }
      }
      for (const [type, value] of Object.entries(values)) {
        const raw_data = {
          contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
          ...{ ref_block_bytes: "2927", ref_block_hash: "939ece39d08a7abe", expiration: 2 ** 41, timestamp: 1 }
        }
        const rawData = utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb({ raw_data }))
        const signed = (key?: string) =>
          Buffer.from(
            TronNode.signedHex(rawData, TronWallet.signatureOf(TronWallet.read(rawData, type), key).replace(/^0x/, "")),
            "hex"
          )
        assert.strictEqual(Buffer.from(yield* idOf(signed())).toString("hex"), TronWallet.idOf(rawData), type)
        yield* check(signed())
        const refused = yield* Effect.flip(check(signed("2".padStart(64, "0"))))
        assert.include(refused.message, "must be signed by its owner's keys", type)
      }
    })
  )
})

describe("a Tron transaction that is signed", () => {
  const rawData = Buffer.from(
    TronTransfer.encode({
      ...{
        owner: new Uint8Array(20).fill(3) as AddressBytes,
        to: new Uint8Array(20).fill(7) as AddressBytes,
        amount: 9n
      },
      ...{ memo: new Uint8Array(), refBlockBytes: new Uint8Array(2).fill(1), refBlockHash: new Uint8Array(8).fill(2) },
      ...{ expiration: 2 ** 41, timestamp: 1 }
    })
  )
  const whole = (...behind: ReadonlyArray<number>) =>
    Buffer.concat([Buffer.of(0x0a, rawData.length), rawData, Buffer.of(...behind)])

  it.effect("is taken where no signature is of the kind that is known here, but one of another kind (TIP-899)", () =>
    Effect.gen(function* () {
      const { check, idOf } = nodeAt(() => 1, {})
      assert.isBelow(rawData.length, 128)
      assert.include((yield* Effect.flip(idOf(whole()))).message, "must be signed")
      const other = whole(0x32, 8, 8, 2, 0x12, 1, 1, 0x1a, 1, 1)
      assert.strictEqual(Buffer.from(yield* idOf(other)).toString("hex"), TronWallet.idOf(rawData.toString("hex")))
      yield* check(other)
    })
  )
})
