/** A block that is too large for one answer: its hashes first, then its transactions in batches, or each one's trace. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as BatchInParts from "../../node/BatchInParts.ts"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError, type NodeRejected } from "../../node/NodeError.ts"
import { type BlockAnswer, hashedTransactions } from "./BlockAnswer.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Headers from "./Headers.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import { NotTraced, type Trace, type Tracer } from "./Trace.ts"
import * as TraceBlock from "./TraceBlock.ts"

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

const methodOf = { debug_traceBlockByHash: "debug_traceTransaction", trace_block: "trace_transaction" } as const

/** The traces of a block, each asked for by itself and read before the next one comes. */
export const traces = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  tracer: Tracer,
  block: BlockAnswer
): Effect.fn.Return<ReadonlyArray<Trace>, NotTraced> {
  const method = methodOf[tracer]
  return yield* Effect.forEach(hashedTransactions(block), (transaction, index) =>
    BytesInFlight.part(
      Effect.gen(function* () {
        const params =
          tracer === "trace_block" ? [transaction.hashText] : [transaction.hashText, CallTracer.config(undefined)]
        const notTraced = ({ message }: NodeError) =>
          new NotTraced({ reason: `transaction ${index}: ${message || "refused"}` })
        const answer = yield* Effect.mapError(rpc.call(method, params), notTraced)
        const alone = { ...block, transactions: [transaction] }
        const decoded = yield* Effect.mapError(
          read(rpc, method, () =>
            tracer === "trace_block"
              ? Result.succeed(TraceBlock.decode(answer, alone))
              : CallTracer.decode([{ result: answer }], alone)
          ),
          notTraced
        )
        const [trace] = yield* Effect.fromResult(decoded)
        return { ...trace!, transfers: trace!.transfers.map((transfer) => ({ ...transfer, transaction: index })) }
      })
    )
  )
})
