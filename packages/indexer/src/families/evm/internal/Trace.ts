/** What both tracers come down to: per transaction, whether it failed and which coins moved below its top. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Listed, postExecType, syncsState } from "./BlockAnswer.ts"
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

/**
 * Whether a transaction needs no trace: one that runs no code; and that of Polygon's state-sync, which is left out, empty, refused or
 * right, by the version of the node (bor #2010, #2250, #2236), and what moves is in the logs (`StateSyncCoins`).
 */
export const needsNone = ({ transaction }: Pick<Listed, "transaction">): boolean =>
  transaction !== undefined && (transaction.type === postExecType || syncsState(transaction))

/** That a transaction has no trace, where it needs one. */
export const missing = (listed: Pick<Listed, "transaction">): Traces[number] =>
  needsNone(listed) ? undefined : Result.fail("there is no trace of the transaction")

/** A call below the top of its transaction, of a type that moves coins. */
export interface MovingCall {
  readonly type: string
  readonly from: AddressBytes
  readonly to: AddressBytes
  readonly amount: bigint
  /** Its place among the calls of the frame above, behind the places of those above. */
  readonly path: ReadonlyArray<number>
}

/**
 * What a call moves, named `call_0_1` by its path `[0, 1]`. What a contract leaves to itself with its own end comes to nobody:
 * it is burnt, or stays where it is (EIP-6780).
 */
export const transferOf = (
  { amount, from, path, to, type }: MovingCall,
  transaction: number
): InternalTransfer | undefined =>
  type === "selfdestruct" && Bytes.equal(from, to)
    ? undefined
    : { kind: "internal", transaction, operation: `call_${path.join("_")}`, operationType: type, from, to, amount }
