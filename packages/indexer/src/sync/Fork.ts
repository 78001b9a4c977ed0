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

/** Whether the node's chain has our block at the cursor. */
export const agrees = (source: Source, cursor: Cursor, head?: Head) =>
  cursor.hash === undefined
    ? Effect.succeed(true)
    : Effect.map(head?.height === cursor.height ? Effect.succeed(head.hash) : source.hashAt(cursor.height), (hash) =>
        Bytes.equal(hash, cursor.hash!)
      )

/**
 * The last block that the node's chain shares with ours, at most `undoDepth` blocks below the cursor. The node's hash of
 * one block is not enough: the parent of the block above has to be that hash, and the node's chain as long as ours.
 */
export const find = Effect.fnUntraced(function* (source: Source, store: ChainStore, cursor: Cursor, undoDepth: number) {
  const final = (yield* store.final) ?? -1
  for (let height = cursor.height - 1; cursor.height - height <= undoDepth; height--) {
    const ours = yield* store.hashAt(height)
    // Below the first block that was ever committed there is nothing to compare, and nothing to undo.
    if (ours === undefined) return height
    if (!Bytes.equal(ours, yield* source.hashAt(height))) continue
    if (height < final) {
      return yield* new UnrecoverableFork({
        message: `The node now disagrees with block ${height + 1}, although block ${final} was final`
      })
    }
    const child = yield* source.blockAt(height + 1)
    if (!Bytes.equal(child.parent, ours)) {
      return yield* new NodeInconsistent({
        node: nameOf(source.chain),
        method: "blockAt",
        message: `block ${height + 1} does not have the parent that the node shows`
      })
    }
    return height
  }
  return yield* new UnrecoverableFork({
    message: `The node's chain differs from ours for more than ${undoDepth} blocks below ${cursor.height}`
  })
})
