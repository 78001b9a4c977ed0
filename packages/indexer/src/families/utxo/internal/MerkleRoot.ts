/** The root of a block's transaction tree: proof that a list of transaction ids is the block's, whole and in order. */
import { hash } from "node:crypto"

/** Double SHA-256. */
export const sha256d = (bytes: Uint8Array): Buffer => hash("sha256", hash("sha256", bytes, "buffer"), "buffer")

/** Nodes of a level that are hashed between two steps. */
const nodesOfStep = 128

/**
 * Merkle root of transaction ids, ids and root as they are written (byte-reversed). A list whose end is repeated has
 * the same root as the list without (CVE-2012-2459): the ids must be checked to be different.
 */
export function* merkleRoot(ids: ReadonlyArray<Uint8Array>): Generator<void, Uint8Array> {
  const nodes = Buffer.alloc((ids.length + 1) * 32)
  for (const [index, id] of ids.entries()) {
    nodes.set(id, index * 32)
    nodes.subarray(index * 32, (index + 1) * 32).reverse()
    if (index % nodesOfStep === 0) yield
  }
  for (let width = ids.length; width > 1; width = (width + 1) >> 1) {
    if (width % 2 === 1) nodes.copy(nodes, width * 32, (width - 1) * 32, width * 32)
    for (let at = 0; at < width; at += 2) {
      nodes.set(sha256d(nodes.subarray(at * 32, at * 32 + 64)), at * 16)
      if (at % nodesOfStep === 0) yield
    }
  }
  return new Uint8Array(nodes.subarray(0, 32).reverse())
}
