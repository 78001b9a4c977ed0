/** Asks a node for the receipts of a block, by number at first and by hash where the answer is of another block. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as BatchInParts from "../../node/BatchInParts.ts"
import type { Call, JsonRpc } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError, type NodeRejected } from "../../node/NodeError.ts"
import type * as BlockAnswer from "./BlockAnswer.ts"
import * as Headers from "./Headers.ts"
import * as Receipts from "./Receipts.ts"

/** The receipts that the node gives of those that are asked for one by one, and its refusal of one that it does not give. */
const oneByOne = (rpc: JsonRpc, calls: ReadonlyArray<Call>) =>
  Effect.map(BatchInParts.batch(rpc, calls), (answers) => ({ answers, refusal: undefined })).pipe(
    Effect.catchIf(
      (error) => error._tag === "NodeRejected" && !isTooLarge(error),
      (error) =>
        // One that is refused takes no other with it.
        Effect.map(rpc.results(calls), (results) => ({
          answers: results.map((result) => Result.getOrElse(result, () => null)),
          refusal: error.message
        }))
    )
  )

/**
 * Receipts of this very block. `byNumber` is the answer to `eth_getBlockReceipts` with the block's number, undefined
 * where the node lacks the method: receipts of another block are asked for by the block's hash, and those that are still
 * missing, as that of Polygon's state-sync transaction, one by one. A block of which the node gives none at all counts
 * as one that the node does not have: without them nothing is certain but the header.
 */
export const fetch = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  block: BlockAnswer.BlockAnswer,
  byNumber: Result.Result<unknown, NodeRejected> | undefined
): Effect.fn.Return<Receipts.Found, NodeError> {
  if (block.listed.length === 0) return new Map()
  const find = (answer: unknown) => TimeSlice.run(() => Receipts.byTransaction(answer, block))
  const lacking = (found: Receipts.Found) =>
    block.listed.filter(({ hashText }) => hashText !== "" && !found.has(hashText))
  let given = byNumber === undefined ? null : Result.getOrUndefined(byNumber)
  let found = yield* find(given)
  if (byNumber !== undefined && Result.isSuccess(byNumber) && lacking(found).length > 0) {
    const [byHash] = yield* rpc.results([{ method: "eth_getBlockReceipts", params: [block.hashText] }])
    // A node may fail at the receipts of one block, and give each of them by itself (bor #1654).
    given = Result.getOrElse(byHash!, () => null)
    found = yield* find(given)
  }
  const single = yield* oneByOne(
    rpc,
    lacking(found).map(({ hashText }) => ({ method: "eth_getTransactionReceipt", params: [hashText] }))
  )
  const others = single.answers.filter((receipt) => receipt !== null)
  if (others.length > 0) return new Map([...found, ...(yield* find(others))])
  if (Array.isArray(given) && given.length > 0) return found
  const why = single.refusal === undefined ? "" : `: ${single.refusal}`
  return yield* Headers.missing(rpc, `${block.header.height} (no receipts${why})`)
})
