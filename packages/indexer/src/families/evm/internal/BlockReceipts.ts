/** Asks a node for the receipts of a block, by number at first and by hash where the answer is of another block. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as BatchInParts from "../../node/BatchInParts.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent, type NodeRejected } from "../../node/NodeError.ts"
import type * as BlockAnswer from "./BlockAnswer.ts"
import * as Receipts from "./Receipts.ts"

/**
 * Receipts of this very block. `byNumber` is the answer to `eth_getBlockReceipts` with the block's number, undefined
 * where the node lacks the method: receipts of another block are asked for by the block's hash, and those that are still
 * missing, as that of Polygon's state-sync transaction, one by one. Fails where the node gives none at all.
 */
export const fetch = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  block: BlockAnswer.BlockAnswer,
  byNumber: Result.Result<unknown, NodeRejected> | undefined
): Effect.fn.Return<ReadonlyArray<unknown>, NodeError> {
  if (block.listed.length === 0) return []
  const lacking = (receipts: unknown) => {
    const found = Receipts.byTransaction(receipts, block)
    return block.listed.filter(({ hashText }) => hashText !== "" && !found.has(hashText))
  }
  const isWhole = (receipts: unknown) => lacking(receipts).length === 0
  let given = byNumber === undefined ? null : Result.getOrUndefined(byNumber)
  if (byNumber !== undefined && Result.isSuccess(byNumber) && !isWhole(given)) {
    const [byHash] = yield* rpc.results([{ method: "eth_getBlockReceipts", params: [block.hashText] }])
    // A node may fail at the receipts of one block, and give each of them by itself (bor #1654).
    given = Result.getOrElse(byHash!, () => null)
  }
  const receipts = Array.isArray(given) ? (given as ReadonlyArray<unknown>) : []
  const single = yield* BatchInParts.batch(
    rpc,
    lacking(receipts).map(({ hashText }) => ({ method: "eth_getTransactionReceipt", params: [hashText] }))
  )
  const all = [...receipts, ...single.filter((receipt) => receipt !== null)]
  if (all.length > 0) return all
  const message = "the node has no receipts of the block"
  return yield* new NodeInconsistent({ node: rpc.node, method: "eth_getBlockReceipts", message })
})
