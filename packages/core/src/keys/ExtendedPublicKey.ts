/**
 * Extended public keys (BIP-32): the public half of a wallet's account, from which its addresses derive. bip32 reads and
 * writes them; which versions a chain has is said here.
 *
 * A private key is refused, and no error repeats any of the text.
 */
import type { BIP32Interface } from "bip32"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Base58Check from "../address/Base58Check.ts"
import type { ExtendedKeyVersion } from "../chains/Blockchain.ts"
import { blockchains } from "../chains/blockchains.ts"
import type { Chain } from "../chains/Chain.ts"
import { type Format, families } from "../families/families.ts"
import * as Bip32 from "./internal/Bip32.ts"
import { keyFormatsOf } from "./internal/KeyFormatsOf.ts"
import { noble, type Secp256k1 } from "./Secp256k1.ts"

export type { Format } from "../families/families.ts"

export interface ExtendedPublicKey {
  /**
   * The key as bip32 has it, over the library of the curve that it was read with: its 33 bytes and chain code, its depth
   * below the wallet's master key, its own number and its parent's fingerprint.
   */
  readonly node: BIP32Interface
  /** The address format that the version bytes decide; undefined for xpub, tpub and other versions that decide none. */
  readonly format: Format | undefined
}

/** The text is not an extended public key of this chain; the message names the broken rule and never repeats the text. */
export class InvalidExtendedPublicKey extends Schema.TaggedError<InvalidExtendedPublicKey>()(
  "InvalidExtendedPublicKey",
  { message: Schema.String }
) {}

/** BIP-32. */
const xpub = { name: "xpub", bytes: 0x0488b21e, privateBytes: 0x0488ade4, test: false }
const tpub = { name: "tpub", bytes: 0x043587cf, privateBytes: 0x04358394, test: true }

/** BIP-32 and SLIP-132: the versions that wallets of many blockchains write. */
const shared: ReadonlyArray<ExtendedKeyVersion> = [
  xpub,
  { name: "ypub", bytes: 0x049d7cb2, privateBytes: 0x049d7878, test: false, format: "P2SH-P2WPKH" },
  { name: "zpub", bytes: 0x04b24746, privateBytes: 0x04b2430c, test: false, format: "P2WPKH" },
  tpub,
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

/** With the one version that nodes read. */
const canonicalNetwork = (chain: Chain) =>
  Bip32.networkOf((families[chain.family].hasTestKeys && chain.networkKind !== "live" ? tpub : xpub).bytes)

/** Where accounts are the same on every network, test wallets write xpub as well as tpub. */
const fits = ({ blockchain, test, format }: Version, chain: Chain): boolean => {
  const isTest = chain.networkKind !== "live"
  return (
    (families[chain.family].hasTestKeys ? test === isTest : isTest || !test) &&
    (blockchain ?? chain.blockchain) === chain.blockchain &&
    (format === undefined || keyFormatsOf(chain.family, chain).some(({ name }) => name === format))
  )
}

/** The version of a payload: 4 bytes of version, 41 of depth, parent, number and chain code, 33 of the key. */
const versionOf = (chain: Chain, payload: Uint8Array): Result.Result<Version, string> => {
  if (payload.length !== 78) return Result.fail("must carry 78 bytes")
  const bytes = new DataView(payload.buffer, payload.byteOffset).getUint32(0)
  if (privateVersions.has(bytes) || payload[45] === 0) {
    return Result.fail("is a private key: give the public one, and treat this one as known to others")
  }
  if (multisigVersions.has(bytes)) return Result.fail("is one key of a multi-signature wallet")
  const version = versions.find((each) => each.bytes === bytes)
  if (version === undefined) return Result.fail("must have the version of an extended public key")
  return fits(version, chain)
    ? Result.succeed(version)
    : Result.fail(`must not have the version of ${version.name}, which is for other networks`)
}

/** The rule that bip32 found broken, of those that are left for it. */
const ruleOf = (error: unknown): string =>
  /parent|index/.test(String(error))
    ? "must not have a parent or a number at depth 0"
    : "must carry a compressed point of secp256k1"

/**
 * Reads an extended public key of any version that `chain` has: xpub and tpub everywhere, the SLIP-132 versions on UTXO
 * chains, a coin's own versions on that coin. `curve` is the library that the key's children are derived with.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * key.node.depth // => 3
 * key.format // => "P2WPKH"
 * ```
 */
export const decode = (
  chain: Chain,
  text: string,
  curve: Secp256k1 = noble
): Result.Result<ExtendedPublicKey, InvalidExtendedPublicKey> =>
  Result.mapError(
    Result.gen(function* () {
      if (typeof text !== "string") return yield* Result.fail("must be text")
      // 82 bytes never take more than 112 characters.
      if (text.length > 112) return yield* Result.fail("must have at most 112 characters")
      const version = yield* versionOf(chain, yield* Base58Check.decode(text))
      const bip32 = Bip32.over(curve)
      const node = yield* Result.try({
        try: () => bip32.fromBase58(text, Bip32.networkOf(version.bytes)),
        catch: ruleOf
      })
      return { node, format: version.format }
    }),
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
export const encode = (chain: Chain, { node }: ExtendedPublicKey): string => {
  const copy = node.neutered()
  copy.network = canonicalNetwork(chain)
  return copy.toBase58()
}

/**
 * The key at a place of a wallet as {@link encode} writes a key, without the place: as if it were a master key, so that
 * it says nothing of the keys above.
 */
export const encodeAlone = (chain: Chain, { chainCode, publicKey }: BIP32Interface): string =>
  Bip32.over(noble).fromPublicKey(publicKey, chainCode, canonicalNetwork(chain)).toBase58()
