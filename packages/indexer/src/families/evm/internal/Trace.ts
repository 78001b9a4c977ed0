/** What both tracers come down to: per transaction, whether it failed and which coins moved below its top. */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isStateSync, type Listed } from "./BlockAnswer.ts"
import type { TicketMove } from "./Retryable.ts"

export interface Trace {
  /** The top frame ended in an error. */
  readonly failed: boolean
  readonly transfers: ReadonlyArray<InternalTransfer>
  /** Of a transaction of a retryable ticket, where the tracer shows what moves outside of calls. */
  readonly ticket?: ReadonlyArray<TicketMove>
  /** The rules that frames break; `transfers` holds nothing of those. */
  readonly broken: ReadonlyArray<string>
}

/** A block's trace of each transaction, in the order of the transactions; undefined for one that needs none. */
export type Traces = ReadonlyArray<Result.Result<Trace, string> | undefined>

/** The node has answered that it cannot trace the block, or one of its transactions. */
export class NotTraced extends Schema.TaggedError<NotTraced>()("NotTraced", { reason: Schema.String }) {}

/** The tracers that nodes have, by the method that answers. */
export type Tracer = "debug_traceBlockByHash" | "trace_block"

/** That a transaction has no trace; Polygon's state-sync transaction may go without, and moves no coins that one would show. */
export const missing = ({ transaction }: Listed): Traces[number] =>
  transaction !== undefined && isStateSync(transaction)
    ? undefined
    : Result.fail("there is no trace of the transaction")

/** `call_0_1` of the trace address `[0, 1]`. */
export const operationOf = (address: ReadonlyArray<number>): string => `call_${address.join("_")}`
