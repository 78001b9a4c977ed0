/**
 * Extended public keys (BIP-32): the public half of a wallet's account, from which its addresses derive.
 *
 * A private key is refused, and no error repeats any of the text.
 */
import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Base58Check from "../address/Base58Check.ts"
import type { ExtendedKeyVersion } from "../chains/Blockchain.ts"
import { blockchains } from "../chains/blockchains.ts"
import type { Chain } from "../chains/Chain.ts"
import { type Format, families } from "../families/families.ts"
import { keyFormatsOf } from "./internal/KeyFormatsOf.ts"

export type { Format } from "../families/families.ts"

export interface ExtendedPublicKey {
  /** Steps below the wallet's master key; 3 for an account of BIP-44. */
  readonly depth: number
  /** First four bytes of the parent key's hash. */
  readonly parentFingerprint: Uint8Array
  /** The key's own number below its parent, as a serialised 32-bit integer. */
  readonly childNumber: number
  readonly chainCode: Uint8Array
  /** A compressed point of secp256k1, 33 bytes. */
  readonly publicKey: Uint8Array
  /** The address format that the version bytes decide; undefined for xpub, tpub and other versions that decide none. */
  readonly format: Format | undefined
}

/** The text is not an extended public key of this chain; the message names the broken rule and never repeats the text. */
export class InvalidExtendedPublicKey extends Schema.TaggedError<InvalidExtendedPublicKey>()(
  "InvalidExtendedPublicKey",
  { message: Schema.String }
) {}

/** BIP-32 and SLIP-132: the versions that wallets of many blockchains write. */
const shared: ReadonlyArray<ExtendedKeyVersion> = [
  { name: "xpub", bytes: 0x0488b21e, privateBytes: 0x0488ade4, test: false },
  { name: "ypub", bytes: 0x049d7cb2, privateBytes: 0x049d7878, test: false, format: "P2SH-P2WPKH" },
  { name: "zpub", bytes: 0x04b24746, privateBytes: 0x04b2430c, test: false, format: "P2WPKH" },
  { name: "tpub", bytes: 0x043587cf, privateBytes: 0x04358394, test: true },
  { name: "upub", bytes: 0x044a5262, privateBytes: 0x044a4e28, test: true, format: "P2SH-P2WPKH" },
  { name: "vpub", bytes: 0x045f1cf6, privateBytes: 0x045f18bc, test: true, format: "P2WPKH" }
]

/** Ypub Zpub Upub Vpub: one of the keys of a multi-signature wallet, whose addresses need all of them. */
const multisig = [
  { bytes: 0x0295b43f, privateBytes: 0x0295b005 },
  { bytes: 0x02aa7ed3, privateBytes: 0x02aa7a99 },
  { bytes: 0x024289ef, privateBytes: 0x024285b5 },
  { bytes: 0x02575483, privateBytes: 0x02575048 }
]

interface Version extends ExtendedKeyVersion {
  /** The only blockchain whose wallets write the version; absent where many do. */
  readonly blockchain?: string
}

const versions: ReadonlyArray<Version> = [
  ...shared,
  ...blockchains.flatMap(({ extendedKeyVersions = [], name: blockchain }) =>
    extendedKeyVersions.map((version) => ({ ...version, blockchain }))
  )
]

const privateVersions = new Set([...versions, ...multisig].map(({ privateBytes }) => privateBytes))
const multisigVersions = new Set(multisig.map(({ bytes }) => bytes))

/** Where accounts are the same on every network, test wallets write xpub as well as tpub. */
const fits = ({ blockchain, test, format }: Version, chain: Chain): boolean => {
  const isTest = chain.networkKind !== "live"
  return (
    (families[chain.family].hasTestKeys ? test === isTest : isTest || !test) &&
    (blockchain ?? chain.blockchain) === chain.blockchain &&
    (format === undefined || keyFormatsOf(chain.family, chain).some(({ name }) => name === format))
  )
}

const isPoint = (publicKey: Uint8Array): boolean =>
  (publicKey[0] === 2 || publicKey[0] === 3) && Result.isSuccess(Result.try(() => secp256k1.Point.fromBytes(publicKey)))

/** 4 version, 1 depth, 4 parent fingerprint, 4 child number, 32 chain code, 33 key. */
const parse = (chain: Chain, payload: Uint8Array): Result.Result<ExtendedPublicKey, string> => {
  if (payload.length !== 78) return Result.fail("must carry 78 bytes")
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length)
  const versionBytes = view.getUint32(0)
  const publicKey = payload.slice(45)
  if (privateVersions.has(versionBytes) || publicKey[0] === 0) {
    return Result.fail("is a private key: give the public one, and treat this one as known to others")
  }
  if (multisigVersions.has(versionBytes)) return Result.fail("is one key of a multi-signature wallet")
  const version = versions.find(({ bytes }) => bytes === versionBytes)
  if (version === undefined) return Result.fail("must have the version of an extended public key")
  if (!fits(version, chain)) return Result.fail(`must not be a ${version.name}, which is for other networks`)
  const depth = payload[4]!
  const parentFingerprint = payload.slice(5, 9)
  const childNumber = view.getUint32(9)
  if (depth === 0 && (childNumber !== 0 || parentFingerprint.some((byte) => byte !== 0))) {
    return Result.fail("must not have a parent or a number at depth 0")
  }
  if (!isPoint(publicKey)) return Result.fail("must carry a compressed point of secp256k1")
  const chainCode = payload.slice(13, 45)
  return Result.succeed({ depth, parentFingerprint, childNumber, chainCode, publicKey, format: version.format })
}

/**
 * Reads an extended public key of any version that `chain` has: xpub and tpub everywhere, the SLIP-132 versions on UTXO
 * chains, a coin's own versions on that coin.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * key.depth // => 3
 * key.format // => "P2WPKH"
 * ```
 */
export const decode = (chain: Chain, text: string): Result.Result<ExtendedPublicKey, InvalidExtendedPublicKey> =>
  Result.mapError(
    // 82 bytes never take more than 112 characters.
    text.length > 112
      ? Result.fail("must have at most 112 characters")
      : Result.flatMap(Base58Check.decode(text), (payload) => parse(chain, payload)),
    (rule) => new InvalidExtendedPublicKey({ message: `extended public key: ${rule}` })
  )

/**
 * The same key as an xpub, or a tpub on a test network: the one version that nodes read in descriptors, and equal for
 * every version that a wallet may have written.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * ExtendedPublicKey.encode(bitcoin, key).slice(0, 4) // => "xpub"
 * ```
 */
export const encode = (chain: Chain, key: ExtendedPublicKey): string => {
  const payload = new Uint8Array(78)
  const view = new DataView(payload.buffer)
  view.setUint32(0, families[chain.family].hasTestKeys && chain.networkKind !== "live" ? 0x043587cf : 0x0488b21e)
  view.setUint8(4, key.depth)
  payload.set(key.parentFingerprint, 5)
  view.setUint32(9, key.childNumber)
  payload.set(key.chainCode, 13)
  payload.set(key.publicKey, 45)
  return Base58Check.encode(payload)
}
