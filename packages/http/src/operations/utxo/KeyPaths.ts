/** The keys of a wallet's addresses, and how a signer finds them below its master key. */
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import type { Place } from "@headwater/indexer/store/wallets/SpendableCoins"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import type { WalletKey } from "@headwater/indexer/store/wallets/WalletKey"
import * as Result from "effect/Result"
import type { KeyPath } from "./UnsignedTransaction.ts"

const hardened = 0x8000_0000

const numberText = (number: number) => (number >= hardened ? `${number - hardened}'` : String(number))

const bigEndian = (number: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

/**
 * The master key's fingerprint, and the path from it to an extended key: known of a master key, and of a key that is one
 * step below it. Deeper ones do not say it; their paths begin at themselves, and the fingerprint is zeros.
 */
const originOf = ({ node }: ExtendedPublicKey.ExtendedPublicKey) =>
  node.depth === 0
    ? { fingerprint: node.fingerprint, path: "m" }
    : node.depth === 1
      ? { fingerprint: bigEndian(node.parentFingerprint), path: `m/${numberText(node.index)}` }
      : { fingerprint: new Uint8Array(4), path: "m" }

/** The key of each place of a wallet. */
export const of = (key: WalletKey): ((place: Place) => KeyPath) => {
  const { chain, derivation, publicKey } = key
  const { fingerprint, path } = originOf(Result.getOrThrow(ExtendedPublicKey.decode(chain, publicKey)))
  const branches = WalletBranches.of(chain, { ...key, public_key: publicKey })
  return ({ branch, index }) => ({
    // An address was made of it.
    publicKey: Derivation.publicKeyAt(branches[branch]!, index)!,
    fingerprint,
    path: derivation === "bip32" ? `${path}/${index}` : `${path}/${branch}/${index}`
  })
}
