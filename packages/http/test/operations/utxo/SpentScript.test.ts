/** Inputs whose coins are known: what they are said to spend is that coin, or nothing is said. */
import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { hash160 } from "@headwater/core/utxo/BitcoinHash"
import * as Result from "effect/Result"
import * as SpentScript from "../../../src/operations/utxo/SpentScript.ts"

const chainOf = (blockchain: string) => Result.getOrThrow(Chain.find(blockchain, "mainnet"))
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, "hex"))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const push = (text: string) => `${(text.length / 2).toString(16).padStart(2, "0")}${text}`

const spent = (scriptSig: string, witness: ReadonlyArray<string> = [], blockchain = "bitcoin") => {
  const input = { transactionId: new Uint8Array(32), outputIndex: 0, sequence: 0, scriptSig: bytesOf(scriptSig) }
  const found = SpentScript.of(chainOf(blockchain), { ...input, witness: witness.map(bytesOf) })
  return found && hex(found)
}

// Of the first payment of all, in Bitcoin's block 170, which spends a coin of a public key.
const signature =
  "304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901"
const key = `02${"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"}`
const longKey = `04${"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"}`
const multisig = `51${push(key)}51ae`
const keyHash = (of: string) => `76a914${hex(hash160(bytesOf(of)))}88ac`
const scriptHash = (of: string) => `a914${hex(hash160(bytesOf(of)))}87`

describe("SpentScript", () => {
  it.each([
    ["of a public key", push(signature)],
    ["of bare multisig", `00${push(signature)}`],
    ["of anybody, who pushed a number", "51"],
    ["of data whose hash a script asks for", push("c0".repeat(32))]
  ])("says nothing of a coin %s, whose script no input shows", (_, scriptSig) => {
    assert.isUndefined(spent(scriptSig))
  })

  it("says the hash of a key that stands behind a signature, and of a script", () => {
    for (const shown of [key, longKey]) {
      assert.strictEqual(spent(push(signature) + push(shown)), keyHash(shown))
      assert.strictEqual(spent("", [signature, shown]), `0014${hex(hash160(bytesOf(shown)))}`)
    }
    assert.strictEqual(spent(`00${push(signature)}${push(multisig)}`), scriptHash(multisig))
    assert.strictEqual(spent(push(`0014${"ab".repeat(20)}`), [signature, key]), scriptHash(`0014${"ab".repeat(20)}`))
  })

  it("takes a script that is as long as a key, and begins as one, for no key", () => {
    // Since a height, who knows 32 bytes of a hash.
    const lock = `03a0860cb17582012088a914${"ab".repeat(20)}87`
    const known = "ab".repeat(32)
    assert.isUndefined(spent(push(known) + push(lock)))
    assert.strictEqual(spent("", [known, lock]), `0020${hash("sha256", bytesOf(lock))}`)
  })

  it("says the hash of a key that stands behind a Schnorr signature on Bitcoin Cash", () => {
    const unlocking = push("ab".repeat(65)) + push(key)
    assert.strictEqual(spent(unlocking, [], "bitcoin-cash"), keyHash(key))
    assert.isUndefined(spent(unlocking))
  })

  it("takes a program of a later witness version for no key, though it may be as long", () => {
    // Of Bitcoin Core's `script_assets_test.json`: version 5, 31 bytes.
    const program = `551f${"25".repeat(31)}`
    assert.strictEqual(spent(push(program), ["ab"]), scriptHash(program))
  })

  it("takes a control block of a leaf version without rules for no script", () => {
    assert.isUndefined(spent("", ["61", `7d${"4c".repeat(31)}4d`]))
    // Every byte is an opcode here, though none that a script may have.
    assert.isUndefined(spent("", ["61", `7d${"fd".repeat(32)}`]))
    assert.strictEqual(spent("", ["51"]), `0020${hash("sha256", bytesOf("51"))}`)
  })

  it("says no hash of a script on Bitcoin Cash, where the hash may be of two lengths", () => {
    assert.isUndefined(spent(`00${push(signature)}${push(multisig)}`, [], "bitcoin-cash"))
    const found = spent(push(signature) + push(key), [], "bitcoin-cash")!
    assert.isDefined(Address.encode(chainOf("bitcoin-cash"), Address.fromBytes(bytesOf(found))))
  })
})
