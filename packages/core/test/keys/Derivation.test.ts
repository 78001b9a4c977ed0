import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { noble } from "@headwater/core/keys/Secp256k1"
import { BIP32Factory } from "bip32"
import { hmac } from "@noble/hashes/hmac.js"
import { sha512 } from "@noble/hashes/sha2.js"
import * as bitcoinjs from "bitcoinjs-lib"
import * as Result from "effect/Result"
import { computeAddress } from "ethers"
import fc from "fast-check"
import { encodeAccountID } from "ripple-address-codec"
import * as ecc from "tiny-secp256k1"

bitcoinjs.initEccLib(ecc)
const bip32 = BIP32Factory(ecc)

const chain = (blockchain: string, network = "mainnet"): Chain.Chain =>
  Result.getOrThrow(Chain.find(blockchain, network))

/** The same from a key over either library of the curve. */
const addresses = (
  of: Chain.Chain,
  text: string,
  options: Derivation.Options = {},
  from = 0,
  count = 1
): ReadonlyArray<string> => {
  const [found, other] = [noble, ecc].map((curve) => {
    const key = Result.getOrThrow(ExtendedPublicKey.decode(of, text, curve))
    const branch = Result.getOrThrow(Derivation.branch(of, key, options))
    return Derivation.derive(branch, from, count).map((result) => Result.getOrThrow(result).address)
  })
  assert.deepStrictEqual(found, other)
  return found!
}

const refusal = (of: Chain.Chain, text: string, options: Derivation.Options): string =>
  refusalOf(of, Result.getOrThrow(ExtendedPublicKey.decode(of, text)), options)

const refusalOf = (of: Chain.Chain, key: ExtendedPublicKey.ExtendedPublicKey, options: Derivation.Options): string => {
  const result = Derivation.branch(of, key, options)
  return Result.isFailure(result) ? result.failure.message : assert.fail("accepted")
}

// SLIP-132, "Bitcoin Test Vectors": accounts 44', 49' and 84' of the mnemonic abandon … about.
const xpub =
  "xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj"
const ypub =
  "ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP"
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
// BIP-86, account 0 of the same mnemonic.
const taproot =
  "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"

describe("published vectors", () => {
  const bitcoin = chain("bitcoin")
  it("SLIP-132: the version decides the format", () => {
    assert.deepStrictEqual(addresses(bitcoin, zpub), ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"])
    assert.deepStrictEqual(addresses(bitcoin, ypub), ["37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf"])
    assert.deepStrictEqual(addresses(bitcoin, xpub, { format: "P2PKH" }), ["1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"])
  })

  it("BIP-84: receive and change", () => {
    assert.deepStrictEqual(addresses(bitcoin, zpub, {}, 1), ["bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"])
    assert.deepStrictEqual(addresses(bitcoin, zpub, { type: "change" }), ["bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"])
  })

  it("BIP-86", () => {
    const format = "P2TR"
    assert.deepStrictEqual(addresses(bitcoin, taproot, { format }, 0, 2), [
      "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
      "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh"
    ])
    assert.deepStrictEqual(addresses(bitcoin, taproot, { format, type: "change" }), [
      "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"
    ])
  })
})

describe("formats", () => {
  const format = (of: Chain.Chain, text: string) =>
    Derivation.defaultFormat(of, Result.getOrThrow(ExtendedPublicKey.decode(of, text)))

  it("an xpub means what the chain's wallets write", () => {
    for (const of of ["bitcoin", "litecoin"]) assert.strictEqual(format(chain(of), xpub), "P2WPKH")
    for (const of of ["bitcoin-cash", "dogecoin", "dash", "zcash"]) {
      assert.strictEqual(format(chain(of), xpub), "P2PKH")
    }
    for (const of of ["ethereum", "polygon", "tron"]) assert.strictEqual(format(chain(of), xpub), "STANDARD")
    assert.strictEqual(format(chain("xrp"), xpub), "CLASSIC")
  })

  it("a format that the chain lacks is refused by name", () => {
    for (const of of ["bitcoin-cash", "dogecoin", "dash", "zcash"]) {
      assert.include(refusal(chain(of), xpub, { format: "P2WPKH" }), "format")
      assert.include(refusal(chain(of), xpub, { format: "P2TR" }), "format")
    }
    assert.include(refusal(chain("ethereum"), xpub, { format: "P2PKH" }), "ethereum has STANDARD")
    assert.include(refusal(chain("xrp"), xpub, { format: "STANDARD" }), "CLASSIC")
    assert.include(refusal(chain("bitcoin"), xpub, { format: "CLASSIC" }), "P2WPKH")
    assert.include(refusal(chain("bitcoin"), xpub, { derivation: "bip32", type: "change" }), "no change")
  })
})

describe("against bip32, bitcoinjs-lib, ethers and ripple-address-codec", () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const index = fc.oneof(fc.nat(50), fc.constantFrom(2 ** 31 - 1, 2 ** 31 - 2, 65_535), fc.nat(2 ** 31 - 1))
  const { payments } = bitcoinjs

  it("every format, both derivations, any index", () => {
    fc.assert(
      fc.property(seed, index, fc.constantFrom("receive", "change", "bip32"), (bytes, at, where) => {
        const account = bip32.fromSeed(bytes).deriveHardened(0).neutered()
        const parent = where === "bip32" ? account : account.derive(where === "change" ? 1 : 0)
        const pubkey = parent.derive(at).publicKey
        const options: Derivation.Options =
          where === "bip32" ? { derivation: "bip32" } : { type: where as Derivation.AddressType }
        const text = account.toBase58()
        const one = (of: Chain.Chain, format?: Derivation.Format) => addresses(of, text, { ...options, format }, at)[0]
        const bitcoin = chain("bitcoin")
        assert.strictEqual(one(bitcoin), payments.p2wpkh({ pubkey }).address)
        assert.strictEqual(one(bitcoin, "P2PKH"), payments.p2pkh({ pubkey }).address)
        assert.strictEqual(one(bitcoin, "P2SH-P2WPKH"), payments.p2sh({ redeem: payments.p2wpkh({ pubkey }) }).address)
        assert.strictEqual(one(bitcoin, "P2TR"), payments.p2tr({ internalPubkey: pubkey.slice(1) }).address)
        const evm = computeAddress(`0x${Buffer.from(pubkey).toString("hex")}`)
        assert.strictEqual(one(chain("ethereum")), evm)
        assert.strictEqual(
          one(chain("tron")),
          Address.encode(chain("tron"), Result.getOrThrow(Address.decode(chain("tron"), evm)))
        )
        assert.strictEqual(one(chain("xrp")), encodeAccountID(bitcoinjs.crypto.hash160(pubkey)))
      }),
      { numRuns: 15 }
    )
  })

  it("the index does not depend on where the batch begins", () => {
    const all = addresses(chain("bitcoin"), zpub, {}, 0, 30)
    assert.strictEqual(new Set(all).size, 30)
    for (const [from, count] of [
      [0, 1],
      [7, 3],
      [29, 1],
      [10, 20]
    ] as const) {
      assert.deepStrictEqual(addresses(chain("bitcoin"), zpub, {}, from, count), all.slice(from, from + count))
    }
    assert.deepStrictEqual(addresses(chain("bitcoin"), zpub, {}, 5, 0), [])
  })

  it("a hostile key, a small multiple of the base point, meets the exceptions of the fast addition", () => {
    // 3 G, and a chain code under which indices 2, 13, 35 and 80 begin by adding 3 G: a doubling, not an addition.
    const small = ecc.pointFromScalar(new Uint8Array(32).fill(3, 31))!
    const parent = bip32.fromPublicKey(small, new Uint8Array(32).fill(119))
    const expected = Array.from(
      { length: 100 },
      (_, at) => payments.p2wpkh({ pubkey: parent.derive(at).publicKey }).address!
    )
    assert.deepStrictEqual(
      addresses(chain("bitcoin"), parent.toBase58(), { derivation: "bip32" }, 0, expected.length),
      expected
    )
  })

  it("bytes are what the text decodes to", () => {
    for (const of of Chain.all.filter(({ network }) => network === "mainnet")) {
      const branch = Result.getOrThrow(Derivation.branch(of, Result.getOrThrow(ExtendedPublicKey.decode(of, xpub))))
      for (const result of Derivation.derive(branch, 3, 2)) {
        const { address, bytes } = Result.getOrThrow(result)
        assert.deepStrictEqual(Result.getOrThrow(Address.decode(of, address)), bytes)
      }
    }
  })
})

it("indices beyond 2^31 − 1 are hardened and have no address", () => {
  const of = chain("bitcoin")
  const branch = Result.getOrThrow(Derivation.branch(of, Result.getOrThrow(ExtendedPublicKey.decode(of, zpub))))
  const results = Derivation.derive(branch, 2 ** 31 - 2, 4)
  assert.deepStrictEqual(results.map(Result.isSuccess), [true, true, false, false])
  assert.deepStrictEqual(Result.isFailure(results[2]!) && [results[2].failure._tag, results[2].failure.index], [
    "UnderivableIndex",
    2 ** 31
  ])
  for (const from of [-1, 0.5, Number.NaN, 1 / 0])
    assert.isTrue(Derivation.derive(branch, from, 1).every(Result.isFailure))
})

it("the key behind an address, and none where BIP-32 has none", () => {
  const of = chain("bitcoin")
  const account = bip32.fromBase58(taproot)
  const keyAt = (index: number, curve = noble) => {
    const key = Result.getOrThrow(ExtendedPublicKey.decode(of, taproot, curve))
    return Derivation.publicKeyAt(Result.getOrThrow(Derivation.branch(of, key)), index)
  }
  for (const curve of [noble, ecc]) {
    assert.deepStrictEqual(keyAt(7, curve), account.derive(0).derive(7).publicKey)
    for (const index of [-1, 0.5, 2 ** 31, 2 ** 32, Number.NaN]) assert.isUndefined(keyAt(index, curve))
  }
  // No index is known that BIP-32 declares invalid: a library of the curve says so of this one.
  const invalid = hmac(sha512, account.chainCode, Uint8Array.from([...account.publicKey, 0, 0, 0, 0])).subarray(0, 32)
  const isPrivate = (bytes: Uint8Array) => noble.isPrivate(bytes) && Buffer.compare(bytes, invalid) !== 0
  const key = Result.getOrThrow(ExtendedPublicKey.decode(of, taproot, { ...noble, isPrivate }))
  assert.include(refusalOf(of, key, {}), "no such branch")
  const below = Result.getOrThrow(Derivation.branch(of, key, { derivation: "bip32" }))
  assert.isUndefined(Derivation.publicKeyAt(below, 0))
  assert.deepStrictEqual(Derivation.publicKeyAt(below, 1), account.derive(1).publicKey)
})

it("names in any letter case, or the field and its names", () => {
  const parsed = <A>(result: Result.Result<A, Derivation.InvalidDerivation>) =>
    Result.isSuccess(result) ? result.success : result.failure.message
  assert.strictEqual(parsed(Derivation.parseDerivation("ACCOUNT")), "account")
  assert.strictEqual(parsed(Derivation.parseType("Change")), "change")
  assert.strictEqual(parsed(Derivation.parseFormat("p2wpkh")), "P2WPKH")
  assert.isUndefined(parsed(Derivation.parseFormat(undefined)))
  assert.strictEqual(parsed(Derivation.parseDerivation("bip44")), "derivation: must be one of account, bip32")
  assert.strictEqual(parsed(Derivation.parseType("both")), "type: must be one of receive, change")
  assert.include(parsed(Derivation.parseFormat("p2wsh")), "format: must be one of P2PKH, ")
})

it("a range of integers within bounds", () => {
  const refusal = (from: number, count: number) => {
    const result = Derivation.checkRange(from, count)
    return Result.isFailure(result) ? result.failure.message : assert.fail("accepted")
  }
  assert.isTrue(Result.isSuccess(Derivation.checkRange(2 ** 31 - 1, 100_000)))
  for (const from of [-1, 1.5, 2 ** 31, Number.NaN]) assert.include(refusal(from, 1), "from: must be")
  for (const count of [-1, 0.5, 100_001, Number.POSITIVE_INFINITY]) assert.include(refusal(0, count), "count: must be")
})
