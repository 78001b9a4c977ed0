/** Any block of a UTXO chain in the words of the interface, by hash or height, and the newest ones. */
import type { BlockDetails } from "@headwater/core/BlockDetails"
import * as Effect from "effect/Effect"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent, orNone, untilConsistent } from "../node/NodeError.ts"
import * as HashAt from "./internal/HashAt.ts"
import type * as BlockReader from "./internal/BlockReader.ts"

/** A hash is 64 hex digits in lower case. */
export type BlockName = { readonly height: number } | { readonly hash: string }

export interface ExplorerBlock extends BlockDetails {
  /** Of the next block; undefined where this one is the newest. */
  readonly next: string | undefined
}

export interface BlockExplorer {
  /** Fails with `BlockMissing` where the chain has no such block. */
  readonly block: (name: BlockName) => Effect.Effect<ExplorerBlock, NodeError>
  /** So many of the newest blocks, newest first. */
  readonly newest: (count: number) => Effect.Effect<ReadonlyArray<BlockDetails>, NodeError>
}

/** Blocks that are asked for at the same time. */
const concurrency = 4

export const make = (
  rpc: Nodes,
  reader: Pick<BlockReader.BlockReader, "details">,
  tip: (one: JsonRpc) => Effect.Effect<{ readonly height: number; readonly hex: string }, NodeError>
): BlockExplorer => {
  const changed = ({ node }: JsonRpc) =>
    new NodeInconsistent({ node, method: "getblockhash", message: "the chain changed while it was read" })

  const block = Effect.fnUntraced(function* (
    one: JsonRpc,
    name: BlockName
  ): Effect.fn.Return<ExplorerBlock, NodeError> {
    const hash = "hash" in name ? name.hash : yield* HashAt.hex(one, name.height)
    const details = yield* reader.details(one, { hash, ...name })
    const { height } = details
    const next = yield* orNone(HashAt.hex(one, height + 1))
    // Nodes know blocks by their hash that have left the chain.
    const present = yield* HashAt.hex(one, height)
    if (present !== hash) {
      return yield* "hash" in name ? new BlockMissing({ node: one.node, block: hash }) : changed(one)
    }
    return { ...details, next }
  })

  const newest = Effect.fnUntraced(function* (
    one: JsonRpc,
    count: number
  ): Effect.fn.Return<ReadonlyArray<BlockDetails>, NodeError> {
    const { height, hex } = yield* tip(one)
    const blocks = yield* Effect.forEach(
      Array.from({ length: Math.min(count, height + 1) }, (_, index) => height - index),
      (at) =>
        Effect.flatMap(at === height ? Effect.succeed(hex) : HashAt.hex(one, at), (hash) =>
          reader.details(one, { hash, height: at })
        ),
      { concurrency }
    )
    for (const [index, { hash }] of blocks.entries()) {
      if (index > 0 && blocks[index - 1]!.previousBlockHash !== hash) return yield* changed(one)
    }
    return blocks
  })

  const ask = <A>(work: (one: JsonRpc) => Effect.Effect<A, NodeError>) => untilConsistent(rpc.withOne(work))

  return {
    block: Effect.fn("BlockExplorer.block")((name) => ask((one) => block(one, name))),
    newest: Effect.fn("BlockExplorer.newest")((count) => ask((one) => newest(one, count)))
  }
}
