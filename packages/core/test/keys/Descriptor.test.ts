import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as Descriptor from "@headwater/core/keys/Descriptor"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Result from "effect/Result"

const chain = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
const bitcoin = chain("bitcoin")

// BIP-32, test vector 1, chain m/0'.
const xpub =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
const xprv =
  "xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7"
// BIP-84, account 0.
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"

const refusal = (text: string, of = bitcoin): string => {
  const result = Descriptor.parse(of, text)
  if (Result.isSuccess(result)) return assert.fail(`accepted ${text}`)
  const shown = JSON.stringify(result.failure) + String(result.failure) + result.failure.stack
  for (const key of [xpub, xprv, zpub]) assert.notInclude(shown, key.slice(4, 20))
  return result.failure.message
}

describe("Descriptor", () => {
  it("has the checksum of BIP-380", () => {
    assert.strictEqual(Descriptor.checksum("raw(deadbeef)"), "89f8spxm")
    assert.notStrictEqual(Descriptor.checksum("raw(deedbeef)"), "89f8spxm")
    assert.isUndefined(Descriptor.checksum("raw(Ü)"))
    // BIP-386.
    assert.strictEqual(
      Descriptor.checksum("tr(a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)"),
      "dh4fyxrd"
    )
  })

  it("has the addresses of the wallet", () => {
    const forms = {
      pkh: "P2PKH",
      wpkh: "P2WPKH",
      "sh(wpkh": "P2SH-P2WPKH",
      tr: "P2TR"
    } as const
    const ways = {
      "/<0;1>/*": ["account", ["receive", "change"]],
      "/0/*": ["account", ["receive"]],
      "/1/*": ["account", ["change"]],
      "/*": ["bip32", ["receive"]]
    } as const
    for (const [script, format] of Object.entries(forms)) {
      for (const [path, [derivation, types]] of Object.entries(ways)) {
        for (const origin of ["", "[d34db33f]", "[D34DB33F/84h/0'/0h/7]"]) {
          const body = `${script}(${origin}${xpub}${path})${script.includes("(") ? ")" : ""}`
          for (const text of [body, `${body}#${Descriptor.checksum(body)}`]) {
            const found = Result.getOrThrow(Descriptor.parse(bitcoin, text))
            assert.deepStrictEqual(found, {
              ...{ key: Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub)), derivation, format },
              types: [...types]
            })
          }
        }
      }
    }
    // The first address of BIP-84.
    const account = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, zpub))
    const { key, types, ...rest } = Result.getOrThrow(
      Descriptor.parse(bitcoin, `wpkh(${ExtendedPublicKey.encode(bitcoin, account)}/<0;1>/*)`)
    )
    const branch = Result.getOrThrow(Derivation.branch(bitcoin, key, { ...rest, type: types[0]! }))
    const [first] = Derivation.derive(branch, 0, 1)
    assert.strictEqual(Result.getOrThrow(first!).address, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")
  })

  it("is read back as wallets of all forms write it", () => {
    for (const of of [bitcoin, chain("litecoin"), chain("bitcoin-cash"), chain("bitcoin", "testnet")]) {
      const decoded = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub))
      const key = Result.getOrThrow(ExtendedPublicKey.decode(of, ExtendedPublicKey.encode(of, decoded)))
      const format = "P2PKH"
      const branch = Result.getOrThrow(Derivation.branch(of, key, { derivation: "bip32", format }))
      const found = Result.getOrThrow(Descriptor.parse(of, Derivation.descriptor(branch)!))
      assert.deepStrictEqual([found.derivation, found.format, found.types], ["bip32", format, ["receive"]])
      assert.deepStrictEqual(found.key.node.publicKey, key.node.publicKey)
    }
  })

  it("refuses everything else, and repeats nothing of it", () => {
    const body = `wpkh(${xpub}/<0;1>/*)`
    const sum = Descriptor.checksum(body)!
    for (const text of [
      `${body}#`,
      `${body}#${sum}x`,
      `${body}#${sum.slice(1)}`,
      `${body}##${sum.slice(1)}`,
      `${body.replace("wpkh", "pkh")}#${sum}`,
      `${body}#${sum}#${sum}`
    ]) {
      assert.strictEqual(refusal(text), "descriptor: has a wrong checksum")
    }
    assert.strictEqual(refusal("wpkh(Ü)"), "descriptor: has a character that no descriptor has")
    assert.strictEqual(refusal(`wpkh(${"0".repeat(500)})`), "descriptor: must have at most 500 characters")
    for (const text of [
      ...["", "wpkh", "wpkh()(", `wpkh(${xpub}/*`, `wpkh(${xpub}/*))`, `sh(wpkh(${xpub}/*)`, `(wpkh(${xpub}/*))`],
      ...[`sh(pkh(${xpub}/*))`, `combo(${xpub}/*)`, `wsh(pkh(${xpub}/*))`, `multi(1,${xpub}/*)`, `addr(${xpub})`],
      ...[`sh(${xpub}/*)`, `x wpkh(${xpub}/*)`, `wpkh(${xpub}/*) `]
    ]) {
      assert.strictEqual(refusal(text), "descriptor: must be pkh(…), wpkh(…), sh(wpkh(…)) or tr(…) of one key")
    }
    for (const path of ["", "/", "/2/*", "/0", "/<1;0>/*", "/<0;1;2>/*", "/*h", "/0/*'", "/0h/*", "//*", "/0/0/*"]) {
      assert.strictEqual(
        refusal(`wpkh(${xpub}${path})`),
        "descriptor: must end in /<0;1>/*, /0/*, /1/* or /* behind the key"
      )
    }
    for (const origin of [
      "[]",
      "[d34db33]",
      "[d34db33fa]",
      "[d34db33f/]",
      "[d34db33f/x]",
      "[d34db33f/0f]",
      "[/0]",
      "["
    ]) {
      assert.include(refusal(`wpkh(${origin}${xpub}/*)`), "origin")
    }
    for (const [text, rule] of [
      [`wpkh([d34db33f][d34db33f]${xpub}/*)`, "origin"],
      [`tr(${xpub}/*,pk(${xpub}))`, "of one key"],
      [`tr(${xpub},${xpub}/*)`, "extended public key"],
      [`wpkh(${xprv}/*)`, "private key"],
      [`wpkh(${zpub}/*)`, "must have its key as xpub"],
      ["wpkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798/*)", "extended public key"],
      [`wpkh(${xpub.slice(0, -1)}/*)`, "extended public key"]
    ] as const) {
      assert.include(refusal(text), rule)
    }
    assert.include(refusal(`wpkh(${xpub}/*)`, chain("bitcoin", "testnet")), "for other networks")
    assert.include(refusal(`wpkh(${xpub}/*)`, chain("dogecoin")), "format: dogecoin has")
    assert.include(refusal(`pkh(${xpub}/*)`, chain("ethereum")), "format: ethereum has")
  })
})
