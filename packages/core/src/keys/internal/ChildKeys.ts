/** Public child keys of one extended public key (BIP-32, CKDpub), many at a time. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha512 } from "@noble/hashes/sha2.js"
import * as BaseMultiples from "../BaseMultiples.ts"

/** The part of an extended public key from which child keys derive. */
export interface Node {
  readonly publicKey: Uint8Array
  readonly chainCode: Uint8Array
}

/** HMAC-SHA512 of public key and index under the chain code; its key is set up once for all children. */
const childMac = ({ publicKey, chainCode }: Node): ((index: number) => Uint8Array) => {
  const keyed = hmac.create(sha512, chainCode)
  const data = new Uint8Array(37)
  data.set(publicKey)
  const view = new DataView(data.buffer)
  return (index) => {
    view.setUint32(33, index)
    return keyed.clone().update(data).digest()
  }
}

/**
 * The points of children `from` … `from + count − 1`, not hardened; undefined where BIP-32 declares an index invalid
 * (the left half is no scalar, or the sum is infinity: chance below 2^-127).
 */
export const derive = (node: Node, from: number, count: number): ReadonlyArray<BaseMultiples.Affine | undefined> => {
  const macOf = childMac(node)
  const parent = BaseMultiples.decompress(node.publicKey)
  const tweaks = Array.from({ length: count }, (_, offset) => macOf(from + offset).subarray(0, 32))
  const points = BaseMultiples.addBaseMultiples(new Array(count).fill(parent), tweaks)
  return points.map((point, offset) => (BaseMultiples.isScalar(tweaks[offset]!) ? point : undefined))
}

/** One child that is a parent itself; undefined where BIP-32 declares the index invalid. */
export const child = (node: Node, index: number): Node | undefined => {
  const [point] = derive(node, index, 1)
  return point === undefined
    ? undefined
    : { publicKey: BaseMultiples.compress(point), chainCode: childMac(node)(index).slice(32) }
}
