import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as BlockBody from "../../../../src/families/utxo/internal/BlockBody.ts"
import * as NodeTransaction from "../../../../src/families/utxo/internal/NodeTransaction.ts"
import { RawBytes } from "../../../../src/families/utxo/internal/RawBytes.ts"
import * as RawTransaction from "../../../../src/families/utxo/internal/RawTransaction.ts"
import { p2pkh, withSize } from "../UtxoBlocks.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const outpoint = { txid: "ab".repeat(32), vout: 2 }
const scriptSig = (hex: string) => ({ asm: "", hex })
const prevout = { value: "1.00000000", scriptPubKey: { hex: p2pkh(1) } }

/** What the inputs of a transaction with these `vin` show, as hex. */
const shown = (body: BlockBody.BlockBody) =>
  body.spends.map(({ unlocking }) => {
    const read = unlocking?.()
    return read && [hex(read.scriptSig), ...read.witness.map(hex)]
  })
const decoded = (vin: ReadonlyArray<unknown>) => {
  const body = BlockBody.empty()
  TimeSlice.atOnce(NodeTransaction.read(bitcoin, { txid: "cd".repeat(32), vin, vout: [] }, 0, body))
  return body
}

describe("what an input shows", () => {
  it("is its scriptSig and the end of its witness, decoded as raw", () => {
    const inputs = [
      { script: "aabb", witness: [] },
      { script: "", witness: ["11", "2222"] },
      { script: "cc", witness: ["", "33", "", "4444", "55"] }
    ]
    const expected = [["aabb"], ["", "11", "2222"], ["cc", "", "4444", "55"]]
    const vin = inputs.map(({ script, witness }) => ({
      ...outpoint,
      scriptSig: scriptSig(script),
      ...(witness.length > 0 && { txinwitness: witness })
    }))
    assert.deepStrictEqual(shown(decoded(vin)), expected)

    const raw = [
      "02000000 0001 03",
      ...inputs.map(({ script }) => `${outpoint.txid} 02000000 ${withSize(script)} ffffffff`),
      `01 0100000000000000 ${withSize(p2pkh(5))}`,
      ...inputs.map(({ witness }) => `0${witness.length}${witness.map(withSize).join("")}`),
      "00000000"
    ].join("")
    const body = BlockBody.empty()
    const bytes = new RawBytes(Buffer.from(raw.replaceAll(" ", ""), "hex"))
    RawTransaction.read(bytes, bitcoin, 0, body)
    assert.strictEqual(bytes.at, bytes.bytes.length)
    assert.deepStrictEqual(shown(body), expected)
  })

  it("is not kept where the node shows what is spent, and not of a coinbase", () => {
    const { spends, transfers } = decoded([{ ...outpoint, scriptSig: scriptSig("aabb"), prevout }, { coinbase: "00" }])
    assert.lengthOf(transfers, 1)
    assert.deepStrictEqual(
      spends.map((spend) => "unlocking" in spend),
      [false]
    )
  })

  it("is unknown where the node shows none, or nothing that can be read", () => {
    assert.deepStrictEqual(
      shown(
        decoded([
          outpoint,
          { ...outpoint, scriptSig: { asm: "" } },
          { ...outpoint, scriptSig: scriptSig("aab") },
          { ...outpoint, scriptSig: scriptSig(""), txinwitness: ["aa", 1] },
          { ...outpoint, scriptSig: scriptSig(""), txinwitness: null }
        ])
      ),
      new Array(5).fill(undefined)
    )
  })
})
