/** Canonical address bytes of public keys, by address format. */
import { keccak_256 } from "@noble/hashes/sha3.js"
import type { Format } from "../../chains/Blockchain.ts"
import { hash160, taggedHash } from "../../utxo/BitcoinHash.ts"
import * as LockingScript from "../../utxo/LockingScript.ts"
import * as BaseMultiples from "./BaseMultiples.ts"

const keyHash = (point: BaseMultiples.Affine): Uint8Array => hash160(BaseMultiples.compress(point))

const tapTweak = taggedHash("TapTweak")

/** BIP-86: the internal key tweaked by its own hash, no script; undefined at infinity or where the hash is no scalar. */
const taprootKeys = (points: ReadonlyArray<BaseMultiples.Affine>): ReadonlyArray<Uint8Array | undefined> => {
  const internal = points.map(BaseMultiples.withEvenY)
  const tweaks = internal.map((point) => tapTweak(BaseMultiples.xOnly(point)))
  return BaseMultiples.addBaseMultiples(internal, tweaks).map((point, index) =>
    point !== undefined && BaseMultiples.isScalar(tweaks[index]!) ? BaseMultiples.xOnly(point) : undefined
  )
}

const one = (format: Exclude<Format, "P2TR">, point: BaseMultiples.Affine): Uint8Array => {
  switch (format) {
    case "P2PKH":
      return LockingScript.pubKeyHash(keyHash(point))
    case "P2WPKH":
      return LockingScript.witness(0, keyHash(point))
    case "P2SH-P2WPKH":
      return LockingScript.scriptHash(hash160(LockingScript.witness(0, keyHash(point))))
    case "STANDARD":
      return keccak_256(BaseMultiples.coordinates(point)).subarray(12)
    case "CLASSIC":
      return keyHash(point)
  }
}

/** Points → locking scripts (UTXO) or accounts; undefined where there is no point, or taproot has no key for the point. */
export const addressBytes = (
  format: Format,
  points: ReadonlyArray<BaseMultiples.Affine | undefined>
): ReadonlyArray<Uint8Array | undefined> => {
  if (format !== "P2TR") return points.map((point) => point && one(format, point))
  const keys = taprootKeys(points.filter((point) => point !== undefined)).values()
  return points.map((point) => {
    const key = point && keys.next().value
    return key && LockingScript.witness(1, key)
  })
}
