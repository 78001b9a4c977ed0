/** Asks a node for the receipts of a block, by number at first and by hash where the answer is of another block. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import * as BlockAnswer from "./BlockAnswer.ts"
import * as Capabilities from "./Capabilities.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import * as Receipts from "./Receipts.ts"

const oneByOne = (rpc: JsonRpc, transactions: ReadonlyArray<BlockAnswer.Transaction>) =>
  rpc.batch(transactions.map(({ hashText }) => ({ method: "eth_getTransactionReceipt", params: [hashText] })))

/**
 * Receipts of this very block. `byNumber` is the answer to `eth_getBlockReceipts` with the block's number, undefined
 * where the node lacks the method: receipts of another block, missing ones, and the receipt of Polygon's state-sync
 * transaction are asked for again.
 */
export const fetch = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  block: BlockAnswer.BlockAnswer,
  byNumber: Result.Result<unknown, NodeRejected> | undefined
): Effect.fn.Return<ReadonlyArray<unknown>, NodeError> {
  if (block.transactions.length === 0) return []
  if (byNumber === undefined) return yield* oneByOne(rpc, block.transactions)
  if (Result.isFailure(byNumber) && Capabilities.isMethodMissing(byNumber.failure)) {
    return yield* oneByOne(rpc, block.transactions)
  }
  const first = Result.getOrUndefined(byNumber)
  const answer = Receipts.areOf(first, block) ? first : yield* rpc.call("eth_getBlockReceipts", [block.hashText])
  const receipts = yield* read(rpc, "eth_getBlockReceipts", () => Hex.array(answer, "receipts"))
  const hashed = BlockAnswer.hashedTransactions(block).length
  if (receipts.length !== hashed || hashed === block.transactions.length) return receipts
  return [...receipts, ...(yield* oneByOne(rpc, block.transactions.slice(hashed)))]
})
