/** The formats in which a UTXO chain pays to one public key: each makes a locking script of the key. */
import * as BaseMultiples from "../../keys/BaseMultiples.ts"
import { each, type KeyFormat } from "../../keys/KeyFormat.ts"
import { hash160, taggedHash } from "../BitcoinHash.ts"
import * as LockingScript from "../LockingScript.ts"
import type { UtxoNetwork } from "../UtxoNetwork.ts"

export type Name = "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR"

const keyHash = (point: BaseMultiples.Affine): Uint8Array => hash160(BaseMultiples.compress(point))

const p2pkh: KeyFormat<Name> = {
  name: "P2PKH",
  addresses: each((point) => LockingScript.pubKeyHash(keyHash(point))),
  descriptor: (keys) => `pkh(${keys})`
}

const p2shP2wpkh: KeyFormat<Name> = {
  name: "P2SH-P2WPKH",
  addresses: each((point) => LockingScript.scriptHash(hash160(LockingScript.witness(0, keyHash(point))))),
  descriptor: (keys) => `sh(wpkh(${keys}))`
}

const p2wpkh: KeyFormat<Name> = {
  name: "P2WPKH",
  addresses: each((point) => LockingScript.witness(0, keyHash(point))),
  descriptor: (keys) => `wpkh(${keys})`
}

const tapTweak = taggedHash("TapTweak")

/** BIP-86: the internal key tweaked by its own hash, no script; undefined at infinity or where the hash is no scalar. */
const taprootKeys = (points: ReadonlyArray<BaseMultiples.Affine>): ReadonlyArray<Uint8Array | undefined> => {
  const internal = points.map(BaseMultiples.withEvenY)
  const tweaks = internal.map((point) => tapTweak(BaseMultiples.xOnly(point)))
  return BaseMultiples.addBaseMultiples(internal, tweaks).map((point, index) =>
    point !== undefined && BaseMultiples.isScalar(tweaks[index]!) ? BaseMultiples.xOnly(point) : undefined
  )
}

const p2tr: KeyFormat<Name> = {
  name: "P2TR",
  addresses: (points) => {
    const keys = taprootKeys(points.filter((point) => point !== undefined)).values()
    return points.map((point) => {
      const key = point && keys.next().value
      return key && LockingScript.witness(1, key)
    })
  },
  descriptor: (keys) => `tr(${keys})`
}

export const all: ReadonlyArray<KeyFormat<Name>> = [p2pkh, p2shP2wpkh, p2wpkh, p2tr]

/**
 * The formats that a network can pay to, the default first. P2SH-P2WPKH is an ordinary script hash, which wallets write
 * also on chains without segwit; there a key's version or the caller must ask for the format.
 */
export const of = ({ address }: UtxoNetwork): readonly [KeyFormat<Name>, ...ReadonlyArray<KeyFormat<Name>>] =>
  address.segwit === undefined ? [p2pkh, p2shP2wpkh] : [p2wpkh, p2shP2wpkh, p2pkh, p2tr]
