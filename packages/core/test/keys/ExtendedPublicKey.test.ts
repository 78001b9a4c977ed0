import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { noble, type Secp256k1 } from "@headwater/core/keys/Secp256k1"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { base58 } from "@scure/base"
import * as Result from "effect/Result"
import fc from "fast-check"
import * as tiny from "tiny-secp256k1"

const chain = (blockchain: string, network = "mainnet"): Chain.Chain =>
  Result.getOrThrow(Chain.find(blockchain, network))

const bitcoin = chain("bitcoin")

/** On one chain over either library of the curve. */
const refusal = (of: Chain.Chain, text: string): string => {
  const message = refusalOver(noble, of, text)
  if (of === bitcoin) assert.strictEqual(refusalOver(tiny, of, text), message)
  return message
}

const refusalOver = (curve: Secp256k1, of: Chain.Chain, text: string): string => {
  const result = ExtendedPublicKey.decode(of, text, curve)
  if (Result.isSuccess(result)) return assert.fail(`accepted ${text}`)
  assert.strictEqual(result.failure._tag, "InvalidExtendedPublicKey")
  const shown = JSON.stringify(result.failure) + String(result.failure) + result.failure.message + result.failure.stack
  for (let from = 0; from + 12 <= Math.min(text.length, 200); from += 4)
    assert.notInclude(shown, text.slice(from, from + 12))
  return result.failure.message
}

const serialise = (payload: Uint8Array): string => {
  const bytes = new Uint8Array(payload.length + 4)
  bytes.set(payload)
  bytes.set(sha256(sha256(payload)).subarray(0, 4), payload.length)
  return base58.encode(bytes)
}

// BIP-32, test vector 1, chain m/0'.
const xpub =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
const payloadOf = (text: string): Uint8Array => base58.decode(text).slice(0, 78)
const withVersion = (version: number): string => {
  const payload = payloadOf(xpub)
  new DataView(payload.buffer).setUint32(0, version)
  return serialise(payload)
}

it("reads the fields of BIP-32", () => {
  for (const curve of [noble, tiny]) {
    const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub, curve))
    const { chainCode, depth, index, parentFingerprint, publicKey } = key.node
    assert.deepStrictEqual([depth, index, parentFingerprint], [1, 0x80000000, 0x3442193e])
    assert.strictEqual(bytesToHex(chainCode), "47fdacbd0f1097043b78c63c20c34ef4ed9a111d980047ad16282c7ae6236141")
    assert.strictEqual(bytesToHex(publicKey), "035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56")
    assert.isUndefined(key.format)
    assert.strictEqual(ExtendedPublicKey.encode(bitcoin, key), xpub)
  }
})

it("a broken library of the curve is no fault of the key", () => {
  assert.throws(() => ExtendedPublicKey.decode(bitcoin, xpub, { ...noble, isPoint: () => false }), "ecc library")
})

describe("versions", () => {
  const table: ReadonlyArray<readonly [string, number, ReadonlyArray<string>, string | undefined]> = [
    ["xpub", 0x0488b21e, ["bitcoin/mainnet", "dogecoin/mainnet", "dash/mainnet", "zcash/mainnet"], undefined],
    ["ypub", 0x049d7cb2, ["bitcoin/mainnet", "litecoin/mainnet"], "P2SH-P2WPKH"],
    ["zpub", 0x04b24746, ["bitcoin/mainnet", "litecoin/mainnet"], "P2WPKH"],
    ["tpub", 0x043587cf, ["bitcoin/testnet", "bitcoin/regtest", "dash/testnet", "zcash/regtest"], undefined],
    ["upub", 0x044a5262, ["bitcoin/testnet", "litecoin/testnet"], "P2SH-P2WPKH"],
    ["vpub", 0x045f1cf6, ["bitcoin/testnet", "litecoin/regtest"], "P2WPKH"],
    ["Ltub", 0x019da462, ["litecoin/mainnet"], "P2PKH"],
    ["Mtub", 0x01b26ef6, ["litecoin/mainnet"], "P2SH-P2WPKH"],
    ["ttub", 0x0436f6e1, ["litecoin/testnet"], "P2PKH"],
    ["dgub", 0x02facafd, ["dogecoin/mainnet"], undefined],
    ["tgub", 0x0432a9a8, ["dogecoin/testnet"], undefined],
    ["drkp", 0x02fe52cc, ["dash/mainnet"], undefined],
    ["drkv", 0x02fe52f8, ["dash/mainnet"], undefined],
    ["DRKP", 0x3a805837, ["dash/testnet"], undefined],
    ["DRKV", 0x3a8061a0, ["dash/testnet"], undefined]
  ]

  it.each(table)("%s", (name, version, networks, format) => {
    const text = withVersion(version)
    assert.isTrue(text.startsWith(name))
    for (const each of networks) {
      const [blockchain, network] = each.split("/")
      const key = Result.getOrThrow(ExtendedPublicKey.decode(chain(blockchain!, network!), text))
      assert.strictEqual(key.format, format)
    }
  })

  it.each([
    ["tpub", 0x043587cf, ["bitcoin/mainnet", "ethereum/mainnet", "xrp/mainnet", "tron/mainnet"]],
    ["xpub", 0x0488b21e, ["bitcoin/testnet", "litecoin/regtest", "bitcoin-cash/testnet"]],
    ["zpub", 0x04b24746, ["bitcoin/testnet", "dogecoin/mainnet", "dash/mainnet", "ethereum/mainnet", "xrp/mainnet"]],
    ["Ltub", 0x019da462, ["bitcoin/mainnet", "litecoin/testnet", "dogecoin/mainnet"]],
    ["dgub", 0x02facafd, ["litecoin/mainnet", "ethereum/mainnet"]],
    ["drkp", 0x02fe52cc, ["bitcoin/mainnet", "dash/testnet"]]
  ] as const)("%s is refused on other networks", (name, version, networks) => {
    for (const each of networks) {
      const [blockchain, network] = each.split("/")
      assert.include(
        refusal(chain(blockchain!, network!), withVersion(version)),
        `must not have the version of ${name}, `
      )
    }
  })

  it("accounts of EVM, Tron and XRP are the same on test networks: xpub and tpub are read", () => {
    for (const of of [chain("ethereum", "sepolia"), chain("tron", "nile"), chain("xrp", "testnet")]) {
      for (const version of [0x0488b21e, 0x043587cf]) {
        assert.isTrue(Result.isSuccess(ExtendedPublicKey.decode(of, withVersion(version))))
      }
    }
  })

  it("one key of a multi-signature wallet has no addresses of its own", () => {
    for (const version of [0x0295b43f, 0x02aa7ed3, 0x024289ef, 0x02575483]) {
      assert.include(refusal(bitcoin, withVersion(version)), "multi-signature")
    }
  })

  it("every version encodes as the xpub or tpub of the same key", () => {
    const ltub = Result.getOrThrow(ExtendedPublicKey.decode(chain("litecoin"), withVersion(0x019da462)))
    assert.strictEqual(ExtendedPublicKey.encode(chain("litecoin"), ltub), xpub)
    const vpub = Result.getOrThrow(ExtendedPublicKey.decode(chain("bitcoin", "testnet"), withVersion(0x045f1cf6)))
    assert.strictEqual(ExtendedPublicKey.encode(chain("bitcoin", "testnet"), vpub), withVersion(0x043587cf))
  })
})

describe("private keys are refused and not repeated", () => {
  // BIP-32, test vector 1, chain m; the others are the same key under the other versions.
  const xprv =
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
  it.each([
    ["xprv", 0x0488ade4],
    ["yprv", 0x049d7878],
    ["zprv", 0x04b2430c],
    ["Yprv", 0x0295b005],
    ["Zprv", 0x02aa7a99],
    ["tprv", 0x04358394],
    ["uprv", 0x044a4e28],
    ["Uprv", 0x024285b5],
    ["vprv", 0x045f18bc],
    ["Vprv", 0x02575048],
    ["Ltpv", 0x019d9cfe],
    ["Mtpv", 0x01b26792],
    ["ttpv", 0x0436ef7d],
    ["dgpv", 0x02fac398],
    ["tgpv", 0x0432a243],
    // Whichever of the two Dash software means: a private key inside is a private key.
    ["drkp", 0x02fe52cc],
    ["drkv", 0x02fe52f8],
    ["xpub", 0x0488b21e]
  ])("%s", (name, version) => {
    const payload = payloadOf(xprv)
    new DataView(payload.buffer).setUint32(0, version)
    const text = serialise(payload)
    assert.isTrue(text.startsWith(name))
    for (const of of Chain.all) assert.include(refusal(of, text), "private key")
  })

  it("also with a public key inside, and mistyped", () => {
    assert.include(refusal(bitcoin, withVersion(0x0488ade4)), "private key")
    assert.include(refusal(bitcoin, `${xprv.slice(0, -1)}j`), "checksum")
  })
})

describe("refuses", () => {
  // BIP-32, test vector 5, the public ones.
  it.each([
    [
      "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn",
      "point"
    ],
    [
      "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4",
      "point"
    ],
    [
      "xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ",
      "depth 0"
    ],
    [
      "xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8",
      "depth 0"
    ],
    [
      "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY",
      "point"
    ]
  ])("%s", (text, rule) => assert.include(refusal(bitcoin, text), rule))

  it("other lengths, versions and characters", () => {
    const payload = payloadOf(xpub)
    assert.include(refusal(bitcoin, serialise(payload.subarray(0, 77))), "78 bytes")
    assert.include(refusal(bitcoin, serialise(Uint8Array.from([...payload, 0]))), "112 characters")
    assert.include(refusal(bitcoin, withVersion(0x01020304)), "version")
    assert.include(refusal(bitcoin, `${xpub.slice(0, -1)}l`), "base58")
    assert.include(refusal(bitcoin, "1".repeat(1_000_000)), "112 characters")
    assert.include(refusal(bitcoin, ""), "checksum")
    // The abscissa is above the field's prime.
    payload.set(hexToBytes(`02${"ff".repeat(32)}`), 45)
    assert.include(refusal(bitcoin, serialise(payload)), "point")
  })

  it("any changed character", () => {
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    fc.assert(
      fc.property(fc.nat(xpub.length - 1), fc.constantFrom(...alphabet), (at, letter) => {
        fc.pre(xpub[at] !== letter)
        refusal(bitcoin, xpub.slice(0, at) + letter + xpub.slice(at + 1))
      })
    )
  })
})
