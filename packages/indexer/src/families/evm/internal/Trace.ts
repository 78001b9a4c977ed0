/** What both tracers come down to: per transaction, whether it failed and which coins moved below its top. */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Schema from "effect/Schema"
import type { TicketMove } from "./Retryable.ts"
import { type BlockAnswer, hashedTransactions } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"

export interface Trace {
  /** The top frame ended in an error. */
  readonly failed: boolean
  readonly transfers: ReadonlyArray<InternalTransfer>
  /** Of a transaction of a retryable ticket, where the tracer shows what moves outside of calls. */
  readonly ticket?: ReadonlyArray<TicketMove>
}

/** The node has answered that it cannot trace the block, or one of its transactions. */
export class NotTraced extends Schema.TaggedError<NotTraced>()("NotTraced", { reason: Schema.String }) {}

/** The tracers that nodes have, by the method that answers. */
export type Tracer = "debug_traceBlockByHash" | "trace_block"

/**
 * Checks that there are as many traces as transactions; Polygon's state-sync transaction may go without, and moves no
 * coins that a trace would show.
 */
export const checkCount = (count: number, block: BlockAnswer): void => {
  const hashed = hashedTransactions(block).length
  if (count !== block.transactions.length && count !== hashed) {
    throw new Hex.Malformed(`${count} traces for ${block.transactions.length} transactions`)
  }
}

/** `call_0_1` of the trace address `[0, 1]`. */
export const operationOf = (address: ReadonlyArray<number>): string => `call_${address.join("_")}`
