import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { typeOf } from "@headwater/http/operations/utxo/ScriptType"
import * as Result from "effect/Result"

const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

const compressed = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const uncompressed = `04${compressed.slice(2)}483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8`
const hash = "11".repeat(20)
const long = "11".repeat(32)

/** What `decodescript` of Litecoin Core 0.21.2.1 says. */
const named: ReadonlyArray<readonly [script: string, type: string]> = [
  [`21${compressed}ac`, "pubkey"],
  [`41${uncompressed}ac`, "pubkey"],
  [`2105${compressed.slice(2)}ac`, "nonstandard"],
  [`5121${compressed}51ae`, "multisig"],
  [`5121${compressed}41${uncompressed}52ae`, "multisig"],
  [`5221${compressed}51ae`, "nonstandard"],
  [`5121${compressed}52ae`, "nonstandard"],
  ["51ae", "nonstandard"],
  ["5151ae", "nonstandard"],
  ["0051ae", "nonstandard"],
  ["6a", "nulldata"],
  ["6a04deadbeef", "nulldata"],
  ["6a04dead", "nonstandard"],
  ["6a4c04deadbeef", "nulldata"],
  ["6a4c", "nonstandard"],
  ["6a51", "nulldata"],
  ["6a50", "nulldata"],
  ["6aac", "nonstandard"],
  ["6a4dffff", "nonstandard"],
  [`5820${long}`, "witness_mweb_hogaddr"],
  [`5920${long}`, "witness_mweb_pegin"],
  [`5814${hash}`, "witness_unknown"],
  [`5120${long}`, "witness_v1_taproot"],
  ["51024e73", "anchor"],
  ["51024e74", "witness_unknown"],
  ["52024e73", "witness_unknown"],
  ["0003111111", "nonstandard"],
  [`0014${hash}`, "witness_v0_keyhash"],
  [`0020${long}`, "witness_v0_scripthash"],
  [`6020${long}`, "witness_unknown"],
  [`a914${hash}87`, "scripthash"],
  [`76a914${hash}88ac`, "pubkeyhash"],
  ["", "nonstandard"]
]

describe("forms of locking scripts", () => {
  it("have the names that nodes give them", () => {
    for (const [script, type] of named) {
      assert.strictEqual(typeOf(litecoin, Buffer.from(script, "hex")), type, script)
    }
  })

  it("are those of segwit where nodes know it, and of 32 bytes of script hash on Bitcoin Cash", () => {
    for (const [blockchain, witness, scriptHash32] of [
      ["bitcoin", "witness_v0_keyhash", "nonstandard"],
      ["bitcoin-cash", "nonstandard", "scripthash"],
      ["dash", "nonstandard", "nonstandard"],
      ["zcash", "nonstandard", "nonstandard"]
    ] as const) {
      const chain = Result.getOrThrow(Chain.find(blockchain, "mainnet"))
      assert.strictEqual(typeOf(chain, Buffer.from(`0014${hash}`, "hex")), witness, blockchain)
      assert.strictEqual(typeOf(chain, Buffer.from(`aa20${long}87`, "hex")), scriptHash32, blockchain)
      assert.strictEqual(typeOf(chain, Buffer.from(`a914${hash}87`, "hex")), "scripthash", blockchain)
    }
  })

  it("are those of MWEB on Litecoin alone", () => {
    assert.strictEqual(typeOf(bitcoin, Buffer.from(`5820${long}`, "hex")), "witness_unknown")
  })
})
