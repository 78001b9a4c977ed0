/** bip32, which reads and writes extended keys and derives one child of them, over a library of the curve. */
import { type BIP32API, BIP32Factory, type BIP32Interface } from "bip32"
import type { Secp256k1 } from "../Secp256k1.ts"

const made = new WeakMap<Secp256k1, BIP32API>()

/** Once for each library of the curve: bip32 tries it out first, which takes some milliseconds. */
export const over = (curve: Secp256k1): BIP32API => {
  const known = made.get(curve)
  if (known !== undefined) return known
  const bip32 = BIP32Factory(curve)
  made.set(curve, bip32)
  return bip32
}

/** What bip32 reads and writes under a public version; it asks for numbers of private keys too, which are none here. */
export const networkOf = (version: number): BIP32Interface["network"] => ({
  wif: 0,
  bip32: { public: version, private: 0 }
})
