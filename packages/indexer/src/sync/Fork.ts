/** Finds the fork: the last block that the node's chain shares with ours. */
import * as Bytes from "@headwater/core/Bytes"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { NodeInconsistent } from "../families/node/NodeError.ts"
import type { Head, Source } from "../families/Source.ts"
import type { ChainStore, Cursor } from "../store/chain/ChainStore.ts"

/** The node's chain has left ours below the blocks that can or may be undone; an operator has to rewind the chain. */
export class UnrecoverableFork extends Schema.TaggedError<UnrecoverableFork>()("UnrecoverableFork", {
  message: Schema.String
}) {}

/**
 * Whether the node's chain has our block at the cursor: the newest block, or the one before that, where the head names
 * them, and else by the node's word for that height. A node that has forgotten just that block shows the block's hash
 * as the parent of the next one.
 */
export const agrees = (source: Source, { hash, height }: Pick<Cursor, "hash" | "height">, head?: Head) => {
  if (hash === undefined) return Effect.succeed(true)
  // That the parent is another one is not taken from the head alone: blocks may be undone for that.
  if (head?.parent !== undefined && head.height === height + 1 && Bytes.equal(head.parent, hash)) {
    return Effect.succeed(true)
  }
  const theirs =
    head?.height === height
      ? Effect.succeed(head.hash)
      : Effect.catchTag(source.hashAt(height), "BlockMissing", (missing) =>
          Effect.map(
            Effect.catchTag(source.blockAt(height + 1), "BlockMissing", () => Effect.fail(missing)),
            ({ parent }) => parent
          )
        )
  return Effect.map(theirs, (theirs) => Bytes.equal(theirs, hash))
}

/** Whether the node's chain has a block of the store's at a height; undefined where the node says nothing of that height. */
const isSame = Effect.fnUntraced(function* (source: Source, ours: Uint8Array, height: number) {
  const theirs = yield* Effect.catchTag(source.hashAt(height), ["BlockMissing", "NodeRejected"], () => Effect.undefined)
  return theirs === undefined ? undefined : Bytes.equal(ours, theirs)
})

/** The last block at `height` or below that the node's chain shares with ours, by bisection; undefined where none is. */
const lastShared = Effect.fnUntraced(function* (source: Source, store: ChainStore, height: number) {
  let shared: number | undefined
  let [below, differing] = [-1, height + 1]
  while (differing - below > 1) {
    const middle = Math.floor((below + differing) / 2)
    const ours = yield* store.hashAt(middle)
    const isShared = ours && (yield* isSame(source, ours, middle))
    if (isShared) shared = middle
    // Where the store has no block it begins further up.
    if (isShared || ours === undefined) below = middle
    else differing = middle
  }
  return shared
})

/** The remedy of an operator where the node's chain has left ours below what may be undone. */
export const remedy = Effect.fnUntraced(function* (source: Source, store: ChainStore, height: number) {
  const name = nameOf(source.chain)
  const shared = yield* Effect.catchTag(
    lastShared(source, store, height),
    ["NodeUnreachable", "NodeInconsistent", "ProofFailed"],
    () => Effect.undefined
  )
  return shared === undefined
    ? "No block is known that both chains have: if the node's URL is wrong, correct it; if the network was reset, begin " +
        `with a new store, or without ${name} in this one`
    : `If the node is wrong, correct its URL; else headwater rewind ${name} ${shared} goes back to the last block that ` +
        "both chains have"
})

/** Fails where the node's block above a height does not have the hash as its parent that the node says is at that height. */
const refuseUnlinked = Effect.fnUntraced(function* (source: Source, height: number, hash: Uint8Array) {
  const child = yield* source.blockAt(height + 1)
  if (Bytes.equal(child.parent, hash)) return
  return yield* new NodeInconsistent({
    node: nameOf(source.chain),
    method: "blockAt",
    message: `block ${height + 1} does not have the parent that the node shows`
  })
})

/**
 * The last block that the node's chain shares with ours, at most `undoDepth` blocks below the cursor. The node's hash of
 * one block is not enough: the parent of the block above has to be that hash, and the node's chain as long as ours.
 */
export const find = Effect.fnUntraced(function* (source: Source, store: ChainStore, cursor: Cursor, undoDepth: number) {
  const final = cursor.final ?? -1
  const unrecoverable = Effect.fnUntraced(function* (message: string, height: number) {
    return yield* new UnrecoverableFork({ message: `${message}. ${yield* remedy(source, store, height)}` })
  })
  for (let height = cursor.height - 1; cursor.height - height <= undoDepth; height--) {
    const ours = yield* store.hashAt(height)
    // Below the first block that was ever committed there is nothing to compare, and nothing to undo.
    if (ours !== undefined && !Bytes.equal(ours, yield* source.hashAt(height))) continue
    if (height < final) {
      return yield* unrecoverable(
        `The node now disagrees with block ${height + 1}, although block ${final} was final`,
        height
      )
    }
    if (ours === undefined) return height
    yield* refuseUnlinked(source, height, ours)
    return height
  }
  // Where the hashes are of no blocks, the node has not left our chain.
  yield* refuseUnlinked(source, cursor.height - 1, yield* source.hashAt(cursor.height - 1))
  return yield* unrecoverable(
    `The node's chain differs from ours for more than ${undoDepth} blocks below ${cursor.height}` +
      (final < cursor.height - undoDepth ? "" : `, although block ${final} was final`),
    cursor.height - undoDepth - 1
  )
})
