/**
 * Looks for a transaction in the blocks of a node, by their lists of ids: what a node without an index of transactions needs
 * once the outputs are spent too, and every node where the transaction is in Litecoin's MWEB alone. In bounded steps, each of
 * which goes on where the last one ended.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import { refuse } from "./Malformed.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

export type Found =
  | { readonly state: "mined"; readonly height: number; readonly hash: Uint8Array }
  /** No block up to the node's newest one has it. */
  | { readonly state: "nowhere" }
  /** There are more blocks to be looked through. */
  | { readonly state: "searching" }
  /** The node does not show a block that may have it. */
  | { readonly state: "hidden" }

/** Blocks of one step. */
const atOnce = 20

/** Blocks that are looked through where it is not said since when the transaction may be mined. */
const newest = 6

/**
 * Blocks before the given one that are looked through too: another node may have been behind when that was noted, and blocks
 * may have left the chain since, whose transactions are mined lower now.
 */
const before = 100

/** Searches that are remembered; a forgotten one begins anew. */
const remembered = 10_000

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

interface Reached {
  /** The first block that was looked through, and the last. */
  readonly first: number
  readonly height: number
  readonly hash: string
}

const hashAt = Effect.fnUntraced(function* (node: JsonRpc, height: number) {
  const answer = yield* node.call("getblockhash", [height])
  return yield* consistent(node, "getblockhash", () =>
    typeof answer === "string" ? answer : refuse("the hash", "must be text")
  )
})

/** Blocks whose ids are remembered: many may ask about the same ones. */
const rememberedBlocks = 24

/**
 * Looks through a block and those before it, up to {@link newest} in all, the newest first; undefined where none shows the
 * transaction. Fails where the node has not come to the block.
 */
export const recent = () => {
  /** By node and hash; the last ones that were asked for. */
  const idsOf = new Map<string, ReadonlySet<unknown>>()

  const idsAt = Effect.fnUntraced(function* (node: JsonRpc, hash: string) {
    const key = `${node.node} ${hash}`
    let ids = idsOf.get(key)
    if (ids === undefined) {
      const block = yield* Effect.catchTag(node.call("getblock", [hash]), "NodeRejected", () => Effect.undefined)
      if (!Predicate.isReadonlyObject(block) || !Array.isArray(block.tx)) return undefined
      ids = new Set(block.tx)
    }
    idsOf.delete(key)
    idsOf.set(key, ids)
    if (idsOf.size > rememberedBlocks) idsOf.delete(idsOf.keys().next().value!)
    return ids
  })

  return Effect.fn("MinedSearch.recent")(function* (
    node: JsonRpc,
    id: Uint8Array,
    upTo: number
  ): Effect.fn.Return<Extract<Found, { readonly state: "mined" }> | undefined, NodeError> {
    for (let height = upTo; height >= Math.max(0, upTo - newest + 1); height--) {
      const text = yield* hashAt(node, height)
      if ((yield* idsAt(node, text))?.has(hex(id)) !== true) continue
      const hash = yield* consistent(node, "getblockhash", () => NodeJson.hash(text, () => "the hash"))
      return { state: "mined", height, hash }
    }
    return undefined
  })
}

/** What a block is known by to have a transaction: its id, or where it is in MWEB alone, the excess of its first kernel. */
export interface Sought {
  readonly id: Uint8Array
  readonly kernel?: Uint8Array
}

/** Whether a block has it; undefined where the node does not show that. */
const isIn = (block: unknown, { id, kernel }: Sought): boolean | undefined => {
  if (!Predicate.isReadonlyObject(block) || !Array.isArray(block.tx)) return undefined
  if (kernel === undefined) return block.tx.includes(hex(id))
  // Blocks of before MWEB have no such part.
  const kernels = Predicate.isReadonlyObject(block.mweb) ? block.mweb.kernels : []
  return Array.isArray(kernels) ? kernels.includes(hex(kernel)) : undefined
}

export const make = () => {
  /** By node and transaction. */
  const searches = new Map<string, Reached>()

  const remember = (key: string, reached: Reached) => {
    searches.delete(key)
    searches.set(key, reached)
    if (searches.size > remembered) searches.delete(searches.keys().next().value!)
  }

  /** A search that began no later than at `first`, and whose last block is still there. */
  const resumed = Effect.fnUntraced(function* (node: JsonRpc, key: string, first: number, tip: number) {
    const reached = searches.get(key)
    if (reached === undefined || reached.first > first || reached.height > tip) return undefined
    return (yield* hashAt(node, reached.height)) === reached.hash ? reached : undefined
  })

  /** `since`: a height of the chain at which the transaction was not mined yet. */
  return Effect.fn("MinedSearch")(function* (
    node: JsonRpc,
    sought: Sought,
    since: number | undefined
  ): Effect.fn.Return<Found, NodeError> {
    const key = `${node.node} ${hex(sought.id)}`
    const answer = yield* node.call("getblockcount", [])
    const tip = yield* consistent(node, "getblockcount", () => NodeJson.count(answer, () => "the height"))
    // It stands still, or another one behind the same address does.
    if (since !== undefined && tip < since) return { state: "hidden" }
    const first = Math.max(0, since === undefined ? tip - newest + 1 : since - before)
    const reached = since === undefined ? undefined : yield* resumed(node, key, first, tip)
    const start = reached === undefined ? first : reached.height + 1
    let last = reached?.hash
    for (let height = start; height <= tip; height++) {
      if (height === start + atOnce) return { state: "searching" }
      const hash = yield* hashAt(node, height)
      const block = yield* Effect.catchTag(node.call("getblock", [hash]), "NodeRejected", () => Effect.undefined)
      const isThere = isIn(block, sought)
      if (!Predicate.isReadonlyObject(block) || isThere === undefined) return { state: "hidden" }
      if (isThere) {
        return {
          ...{ state: "mined", height },
          hash: yield* consistent(node, "getblockhash", () => NodeJson.hash(hash, () => "the hash"))
        }
      }
      const { previousblockhash: previous } = block
      if (last !== undefined && typeof previous === "string" && previous !== last) {
        // The chain has changed in between: the blocks below are not those that were looked through.
        searches.delete(key)
        return { state: "searching" }
      }
      last = hash
      if (since !== undefined) remember(key, { first: reached?.first ?? first, height, hash })
    }
    return { state: "nowhere" }
  })
}
