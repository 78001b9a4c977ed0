/** The root of a block's transaction tree: proof that a list of transaction ids is the block's, whole and in order. */
import * as DoubleSha256 from "./DoubleSha256.ts"
import { written } from "./RawBytes.ts"

/** Nodes that are taken between two steps. */
const nodesOfStep = 1_024

/** Ids, which are written, as the hashes that are computed, one behind another. */
export function* hashesOf(ids: ReadonlyArray<Uint8Array>): Generator<void, Uint8Array> {
  const hashes = new Uint8Array(ids.length * 32)
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]!
    for (let byte = 0; byte < 32; byte++) hashes[index * 32 + byte] = id[31 - byte]!
    if (index % nodesOfStep === 0) yield
  }
  return hashes
}

/** The root of a tree whose leaves stand one behind another, each and the root as they are computed. */
export function* rootOf(leaves: Uint8Array): Generator<void, Uint8Array> {
  const nodes = new Uint8Array(leaves.length + 32)
  nodes.set(leaves)
  for (let width = leaves.length / 32; width > 1; width = (width + 1) >> 1) {
    // The last node of an odd number stands for its missing sibling, too.
    if (width % 2 === 1) nodes.copyWithin(width * 32, (width - 1) * 32, width * 32)
    yield* DoubleSha256.ofPairs(nodes, (width + 1) >> 1)
  }
  return nodes.subarray(0, 32)
}

/**
 * Merkle root of transaction ids, ids and root as they are written (byte-reversed). A list whose end is repeated has
 * the same root as the list without (CVE-2012-2459): the ids must be checked to be different.
 */
export function* merkleRoot(ids: ReadonlyArray<Uint8Array>): Generator<void, Uint8Array> {
  return written(yield* rootOf(yield* hashesOf(ids)))
}
