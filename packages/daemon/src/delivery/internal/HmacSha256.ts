/**
 * HMAC-SHA256 (RFC 2104) over Node's one-shot hash. Node's own HMAC makes an object for each text, and another for each key;
 * callbacks are signed twice each, and these objects cost more than the hashing.
 */
import { hash } from "node:crypto"
import type * as Signature from "@headwater/core/events/Signature"

const [blockBytes, digestBytes] = [64, 32]

/** Signs texts under a key. */
export const ofKey: Signature.Mac = (key) => {
  const block = key.length > blockBytes ? hash("sha256", key, "buffer") : key
  const inner = new Uint8Array(blockBytes).fill(0x36)
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c)
  for (let i = 0; i < block.length; i++) {
    inner[i]! ^= block[i]!
    outer[i]! ^= block[i]!
  }
  return (text, encoding) => {
    const signed = Buffer.allocUnsafe(blockBytes + Buffer.byteLength(text))
    signed.set(inner)
    signed.write(text, blockBytes)
    outer.write(hash("sha256", signed, "binary"), blockBytes, "binary")
    return hash("sha256", outer, encoding)
  }
}
