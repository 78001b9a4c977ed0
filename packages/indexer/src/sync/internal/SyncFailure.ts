/** Why a chain does not go on, as an operator is told. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { isRefusedForNow, type NodeError } from "../../families/node/NodeError.ts"
import type { Head, Source } from "../../families/Source.ts"
import type { ChainStore, NotNext } from "../../store/chain/ChainStore.ts"
import type { TokensUnknown } from "../../store/chain/Tokens.ts"
import type { DatabaseError } from "../../store/database/Database.ts"
import type { UnrecoverableFork } from "../Fork.ts"

export type SyncError = NodeError | NotNext | TokensUnknown | DatabaseError | UnrecoverableFork

/** Blocks below a node's head that one of several nodes behind one URL may yet lack. */
const nearHead = 10

/** A source that remembers which block a failure stood for, and the messages of failures of its chain, which begins at `start`. */
export const make = (given: Source, store: Pick<ChainStore, "cursor">, start: number | "latest") => {
  /** Failures that nodes answered in place of a block, and the block's height. */
  const lacks = new WeakMap<SyncError, number>()
  const source: Source = {
    ...given,
    blockAt: (height) =>
      Effect.tapError(given.blockAt(height), (error) =>
        Effect.sync(() => {
          if (error._tag !== "NodeUnreachable" && !isRefusedForNow(error)) lacks.set(error, height)
        })
      )
  }

  /**
   * The failure, and the way out where no node gives a block that is far from the head: a new one may be on its way, or be given
   * a moment later.
   */
  const messageOf = Effect.fnUntraced(function* (error: SyncError, newest: Head | undefined) {
    if (error._tag !== "BlockMissing" && !lacks.has(error)) return error.message
    const cursor = yield* Effect.orElseSucceed(store.cursor, () => undefined)
    const next = lacks.get(error) ?? (cursor === undefined ? start : cursor.height + 1)
    if (newest === undefined || next === "latest" || newest.height - next < nearHead) return error.message
    const cause = error._tag === "BlockMissing" ? "has it any more" : `ever gives block ${next} otherwise`
    const otherwise = error._tag === "ProofFailed" ? 'verify = "links" believes them without the proof, or ' : ""
    const name = nameOf(source.chain)
    const wayOut =
      cursor === undefined
        ? "a later start is a way out, and headwater doctor names the first block that the nodes have"
        : `headwater skip ${name} is the way out`
    return `${error.message}. If none of the nodes ${cause}, ${otherwise}${wayOut}`
  })

  return { source, messageOf }
}
