/** Public child keys of one extended public key (BIP-32, CKDpub): one by bip32, many at a time by hand. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha512 } from "@noble/hashes/sha2.js"
import type { BIP32Interface } from "bip32"
import * as Result from "effect/Result"
import * as BaseMultiples from "../BaseMultiples.ts"

/** One child, not hardened; undefined where BIP-32 has none at the index. */
export const child = (node: BIP32Interface, index: number): BIP32Interface | undefined => {
  const found = Result.try(() => node.derive(index))
  // Where BIP-32 declares an index invalid, bip32 gives the child of the next one.
  return Result.isSuccess(found) && found.success.index === index ? found.success : undefined
}

/**
 * The points of children `from` … `from + count − 1`, not hardened; undefined where BIP-32 declares an index invalid
 * (the left half is no scalar, or the sum is infinity: chance below 2^-127).
 */
export const derive = (
  node: BIP32Interface,
  from: number,
  count: number,
  addBaseMultiples: BaseMultiples.AddBaseMultiples
): ReadonlyArray<BaseMultiples.Affine | undefined> => {
  // HMAC-SHA512 of public key and index under the chain code; its key is set up once for all children.
  const keyed = hmac.create(sha512, node.chainCode)
  const data = new Uint8Array(37)
  data.set(node.publicKey)
  const view = new DataView(data.buffer)
  const tweaks = Array.from({ length: count }, (_, offset) => {
    view.setUint32(33, from + offset)
    return keyed.clone().update(data).digest().subarray(0, 32)
  })
  const parent = BaseMultiples.decompress(node.publicKey)
  const points = addBaseMultiples(new Array(count).fill(parent), tweaks)
  return points.map((point, offset) => (BaseMultiples.isScalar(tweaks[offset]!) ? point : undefined))
}
