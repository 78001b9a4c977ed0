/**
 * `debug_traceBlockByHash` with geth's `callTracer`: a tree of call frames for each transaction.
 *
 * A frame's move of coins counts if neither it nor any frame above it ended in an error: a call that succeeded inside a
 * reverted one carries no error of its own. DELEGATECALL, CALLCODE and STATICCALL move nothing; DELEGATECALL only
 * repeats the value of the frame above.
 */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Result from "effect/Result"
import { type BlockAnswer, hashText } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import * as Retryable from "./Retryable.ts"
import { checkCount, NotTraced, operationOf, type Trace } from "./Trace.ts"

/**
 * Parameters beside the block hash. `timeout` is how long the node may take for a transaction, as a duration of Go; without
 * one it is the node's own, 5 s at geth.
 */
export const config = (timeout: string | undefined) => ({
  tracer: "callTracer",
  ...(timeout === undefined ? {} : { timeout })
})

/** The frame types that move coins, by their names in lower case. */
const movingTypes = new Map<unknown, string>([
  ["CALL", "call"],
  ["CREATE", "create"],
  ["CREATE2", "create2"],
  ["SELFDESTRUCT", "selfdestruct"]
])

/** Above the EVM's 1,024 frames; a deeper tree is an attack on the stack. */
const maxDepth = 1_100

const collect = (
  frame: Hex.Json,
  address: Array<number>,
  transaction: number,
  found: Array<InternalTransfer>
): void => {
  if (frame.error != null) return
  const operationType = address.length === 0 ? undefined : movingTypes.get(frame.type)
  if (operationType !== undefined && frame.value != null) {
    const amount = Hex.quantity(frame.value, "frame.value")
    if (amount > 0n) {
      found.push({
        kind: "internal",
        transaction,
        operation: operationOf(address),
        operationType,
        from: Hex.address(frame.from, "frame.from"),
        to: Hex.address(frame.to, "frame.to"),
        amount
      })
    }
  }
  if (frame.calls == null) return
  if (address.length >= maxDepth) throw new Hex.Malformed("frames must not be deeper than the EVM allows")
  const calls = Hex.array(frame.calls, "frame.calls")
  for (let index = 0; index < calls.length; index++) {
    address.push(index)
    collect(Hex.object(calls[index], "frame"), address, transaction, found)
    address.pop()
  }
}

/**
 * One trace for each transaction. Fails where the tracer gave up on a transaction. Throws {@link Hex.Malformed} where
 * traces are missing, foreign, or from another tracer.
 */
export const decode = (answer: unknown, block: BlockAnswer): Result.Result<ReadonlyArray<Trace>, NotTraced> => {
  const items = Hex.array(answer, "traces")
  checkCount(items.length, block)
  const traces = items.map((item, index): Result.Result<Trace, NotTraced> => {
    const json = Hex.object(item, `trace ${index}`)
    const transaction = block.transactions[index]!
    if (json.txHash != null && hashText(json.txHash, "trace.txHash") !== transaction.hashText) {
      throw new Hex.Malformed(`trace ${index} is not of transaction ${index}`)
    }
    // A tracer that failed says so in place of a result; some proxies give the frame itself as the item.
    const result = json.result ?? (typeof json.type === "string" ? json : undefined)
    if (result === undefined) {
      const reason = typeof json.error === "string" ? json.error : "no result and no reason"
      return Result.fail(new NotTraced({ reason: `transaction ${index} could not be traced: ${reason}` }))
    }
    const frame = Hex.object(result, `trace ${index}.result`)
    if (typeof frame.type !== "string") throw new Hex.Malformed(`trace ${index} is not of the callTracer`)
    const transfers: Array<InternalTransfer> = []
    collect(frame, [], index, transfers)
    const ticket = Retryable.movesOf(transaction, frame)
    return Result.succeed({ failed: frame.error != null, transfers, ...(ticket === undefined ? {} : { ticket }) })
  })
  return Result.all(traces)
}
