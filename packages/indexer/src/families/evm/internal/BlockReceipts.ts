/** Asks a node for the receipts of a block, by number at first and by hash where the answer is of another block. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as BatchInParts from "../../node/BatchInParts.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import * as BlockAnswer from "./BlockAnswer.ts"
import * as Receipts from "./Receipts.ts"

const oneByOne = (rpc: JsonRpc, transactions: ReadonlyArray<BlockAnswer.Transaction>) =>
  BatchInParts.batch(
    rpc,
    transactions.map(({ hashText }) => ({ method: "eth_getTransactionReceipt", params: [hashText] }))
  )

/**
 * Receipts of this very block. `byNumber` is the answer to `eth_getBlockReceipts` with the block's number, undefined
 * where the node lacks the method. Receipts of another block are asked for again by hash; where the node has no list that
 * fits this block (bor #1654), they are asked for one by one, as is that of Polygon's state-sync transaction.
 */
export const fetch = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  block: BlockAnswer.BlockAnswer,
  byNumber: Result.Result<unknown, NodeRejected> | undefined
): Effect.fn.Return<ReadonlyArray<unknown>, NodeError> {
  const { hashText, transactions } = block
  if (transactions.length === 0) return []
  if (byNumber === undefined || Result.isFailure(byNumber)) return yield* oneByOne(rpc, transactions)
  let receipts = byNumber.success
  if (!Receipts.areOf(receipts, block)) {
    const [byHash] = yield* rpc.results([{ method: "eth_getBlockReceipts", params: [hashText] }])
    receipts = Result.getOrUndefined(byHash!)
    if (!Receipts.areOf(receipts, block)) return yield* oneByOne(rpc, transactions)
  }
  const hashed = BlockAnswer.hashedTransactions(block).length
  if (receipts.length === transactions.length) return receipts
  if (receipts.length !== hashed) return yield* oneByOne(rpc, transactions)
  return [...receipts, ...(yield* oneByOne(rpc, transactions.slice(hashed)))]
})
