/** The hashes that Bitcoin's scripts and keys are built on. */
import { ripemd160 } from "@noble/hashes/legacy.js"
import { sha256 } from "@noble/hashes/sha2.js"

/** RIPEMD-160 of SHA-256. */
export const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes))

/** The hash for one purpose, named by its tag (BIP-340). */
export const taggedHash = (tag: string): ((bytes: Uint8Array) => Uint8Array) => {
  const tagHash = sha256(Uint8Array.from(tag, (letter) => letter.charCodeAt(0)))
  const tagged = sha256.create().update(tagHash).update(tagHash)
  return (bytes) => tagged.clone().update(bytes).digest()
}
