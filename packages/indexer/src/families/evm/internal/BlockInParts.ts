/** A block that is too large for one answer: its hashes first, then its transactions in batches, or each one's trace. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as BatchInParts from "../../node/BatchInParts.ts"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError, type NodeRejected } from "../../node/NodeError.ts"
import type { BlockAnswer } from "./BlockAnswer.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Headers from "./Headers.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import { missing, needsNone, NotTraced, type Tracer, type Traces } from "./Trace.ts"
import * as TraceBlock from "./TraceBlock.ts"
import type { TracingNode } from "./TracingNode.ts"

/** The answer to `eth_getBlockByNumber` with full transactions, or what its parts come to where it is too large. */
export const orParts = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  tag: string,
  whole: Result.Result<unknown, NodeRejected>
): Effect.fn.Return<Result.Result<unknown, NodeRejected>, NodeError> {
  if (Result.isSuccess(whole) || !isTooLarge(whole.failure)) return whole
  const { method, params } = Headers.blockCall(tag, false)
  const listed = yield* BytesInFlight.part(rpc.call(method, params))
  if (listed === null) return Result.succeed(null)
  const { hashes, header } = yield* read(rpc, method, () => {
    const header = Hex.object(listed, "block")
    return { header, hashes: Hex.array(header.transactions, "block.transactions") }
  })
  const calls = hashes.map((hash) => ({ method: "eth_getTransactionByHash", params: [hash] }))
  return Result.succeed({ ...header, transactions: yield* BatchInParts.batch(rpc, calls) })
})

/** The traces of a block, each asked for by itself and read before the next one comes. */
export const traces = Effect.fnUntraced(function* (
  node: TracingNode,
  tracer: Tracer,
  block: BlockAnswer
): Effect.fn.Return<Traces, NotTraced> {
  return yield* Effect.forEach(block.listed, (listed, index): Effect.Effect<Traces[number], NotTraced> => {
    const { hashText } = listed
    if (hashText === "" || needsNone(listed)) return Effect.succeed(missing(listed))
    return BytesInFlight.part(
      Effect.gen(function* () {
        const notTraced = ({ message }: NodeError) =>
          new NotTraced({ reason: `transaction ${index}: ${message || "refused"}` })
        const answer = yield* Effect.mapError(node.askOne(tracer, hashText), notTraced)
        const alone = { ...block, listed: [listed] }
        const decoded = yield* TimeSlice.run(() =>
          tracer === "trace_block"
            ? TraceBlock.decode(answer, alone)
            : CallTracer.decode([{ txHash: hashText, result: answer }], alone)
        )
        const [trace] = yield* Effect.fromResult(decoded)
        return (
          trace &&
          Result.map(trace, (read) => ({
            ...read,
            transfers: read.transfers.map((transfer) => ({ ...transfer, transaction: index }))
          }))
        )
      })
    )
  })
})
