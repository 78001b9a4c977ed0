/**
 * The taproot output that a control block and a script belong to.
 *
 * Source: BIP-341, "Script validation rules".
 */
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { concatBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import { taggedHash } from "../BitcoinHash.ts"

const { Point } = secp256k1

const leafVersionMask = 0xfe
/** A byte with the leaf's version and a parity, and the internal key; the path follows, 32 bytes a node. */
const headSize = 33
const nodeSize = 32

const tapLeaf = taggedHash("TapLeaf")
const tapBranch = taggedHash("TapBranch")
const tapTweak = taggedHash("TapTweak")

const compactSize = (size: number): Uint8Array => {
  if (size < 0xfd) return Uint8Array.of(size)
  const bytes = new Uint8Array(size <= 0xffff ? 3 : 5)
  const view = new DataView(bytes.buffer)
  bytes[0] = size <= 0xffff ? 0xfd : 0xfe
  if (size <= 0xffff) view.setUint16(1, size, true)
  else view.setUint32(1, size, true)
  return bytes
}

const isBelow = (a: Uint8Array, b: Uint8Array): boolean => {
  const at = a.findIndex((byte, index) => byte !== b[index])
  return at !== -1 && a[at]! < b[at]!
}

/** The 32 bytes of the output key; undefined where the bytes are no control block. */
export const outputKey = (control: Uint8Array, script: Uint8Array): Uint8Array | undefined => {
  if (control.length < headSize || (control.length - headSize) % nodeSize !== 0) return undefined
  const internal = control.subarray(1, headSize)
  let node = tapLeaf(concatBytes(Uint8Array.of(control[0]! & leafVersionMask), compactSize(script.length), script))
  for (let at = headSize; at < control.length; at += nodeSize) {
    const other = control.subarray(at, at + nodeSize)
    node = tapBranch(isBelow(node, other) ? concatBytes(node, other) : concatBytes(other, node))
  }
  // Throws where no point has the internal key, or the tweak is no scalar.
  return Result.getOrUndefined(
    Result.try(() => {
      const tweak = Point.Fn.fromBytes(tapTweak(concatBytes(internal, node)))
      const even = Point.fromBytes(concatBytes(Uint8Array.of(2), internal))
      return even.add(Point.BASE.multiply(tweak)).toBytes(true).subarray(1)
    })
  )
}
