/**
 * What a transaction that nobody has sent would do on top of a recent block, by the node's `debug_traceCall` with geth's
 * `callTracer` and its logs; without that method, whether it would succeed and how much gas it takes, and nothing of its calls.
 */
import type { InternalTransfer, TokenTransfer } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as DecodedTransaction from "../DecodedTransaction.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as CallTracer from "./internal/CallTracer.ts"
import * as Hex from "./internal/Hex.ts"
import { isMethodMissing, read, readInSlices } from "./internal/NodeAnswer.ts"
import * as RepeatedMoves from "./internal/RepeatedMoves.ts"
import * as TokenTransfers from "./TokenTransfers.ts"
import { requestJson, type TransactionRequest } from "./TransactionRequest.ts"

export interface SimulationRequest extends TransactionRequest {
  readonly gasLimit: bigint
  /** In Wei; the price that the sender has to be able to pay. */
  readonly gasPrice: bigint
}

export interface Simulation {
  /** The block on whose state the transaction was run. */
  readonly block: { readonly height: number; readonly hash: Uint8Array; readonly time: number }
  readonly failed: boolean
  /** Undefined where the transaction fails and the node does not trace it. */
  readonly gasUsed: bigint | undefined
  /** What it would move inside; undefined where the node traces nothing. */
  readonly moves:
    | { readonly internal: ReadonlyArray<InternalTransfer>; readonly tokens: ReadonlyArray<TokenTransfer> }
    | undefined
}

/** The trace of one call, however much it does: a node gives up by itself. */
const timeout = "5s"

/** Logs of the frames that no error undid, in the order of the calls. */
function* logsOf(frame: Hex.Json, found: Array<Hex.Json>): Generator<void, void> {
  if (frame.error != null) return
  for (const log of Hex.array(frame.logs ?? [], "frame.logs")) found.push(Hex.object(log, "frame.logs"))
  yield
  for (const call of Hex.array(frame.calls ?? [], "frame.calls")) yield* logsOf(Hex.object(call, "frame"), found)
}

function* tokensOf(frame: Hex.Json): Generator<void, ReadonlyArray<TokenTransfer>> {
  const logs: Array<Hex.Json> = []
  yield* logsOf(frame, logs)
  const found: Array<TokenTransfer> = []
  for (const [position, { address, data, topics }] of logs.entries()) {
    const transfers = yield* TokenTransfers.ofLog({
      ...{ transaction: 0, position, contract: Hex.address(address, "log.address") },
      topics: Hex.array(topics, "log.topics").map((topic) => String(topic).toLowerCase()),
      data: typeof data === "string" ? data.toLowerCase() : "0x"
    })
    // One log may have more transfers than a call takes arguments.
    for (const transfer of transfers) found.push(transfer)
  }
  return found
}

function* decodeTrace(answer: unknown) {
  const frame = Hex.object(answer, "the trace")
  if (typeof frame.type !== "string") throw new Hex.Malformed("the trace is not of the callTracer")
  const parts = DecodedTransaction.parts()
  const internal: Array<InternalTransfer> = []
  yield* CallTracer.collect(frame, [], 0, internal, parts)
  const tokens = yield* tokensOf(frame)
  if (parts.broken.length > 0) throw new Hex.Malformed(parts.broken[0]!)
  return { failed: frame.error != null, gasUsed: Hex.quantity(frame.gasUsed, "gasUsed"), moves: { internal, tokens } }
}

/** Whether a refusal is about the transaction, and not about the node. */
const wouldFail = /revert|out of gas|gas required|insufficient|invalid opcode|exceeds|intrinsic gas|base fee/i

export const simulate = Effect.fn("Simulation.simulate")(function* (
  rpc: JsonRpc,
  request: SimulationRequest
): Effect.fn.Return<Simulation, NodeError> {
  const latest = yield* rpc.call("eth_getBlockByNumber", ["latest", false])
  const block = yield* read(rpc, "eth_getBlockByNumber", () => {
    const { hash, number, timestamp } = Hex.object(latest, "block")
    return {
      height: Hex.integer(number, "number"),
      hash: Hex.hash(hash, "hash"),
      time: Hex.integer(timestamp, "timestamp")
    }
  })
  const call = {
    ...requestJson(request),
    gas: `0x${request.gasLimit.toString(16)}`,
    gasPrice: `0x${request.gasPrice.toString(16)}`
  }
  const at = Hex.encodeQuantity(block.height)
  const tracer = { tracer: "callTracer", tracerConfig: { withLog: true }, timeout }
  const traced = yield* Effect.result(rpc.call("debug_traceCall", [call, at, tracer]))
  if (Result.isSuccess(traced)) {
    const { moves, ...done } = yield* readInSlices(rpc, "debug_traceCall", () => decodeTrace(traced.success))
    const states = rpc.call("debug_traceCall", [call, at, RepeatedMoves.balances])
    const internal = yield* RepeatedMoves.without(rpc, { ...request, states, miner: undefined }, moves.internal)
    return { block, ...done, moves: { ...moves, internal } }
  }
  const { failure } = traced
  if (failure._tag !== "NodeRejected") return yield* failure
  const failed = { block, failed: true, gasUsed: undefined, moves: undefined }
  if (!isMethodMissing(failure)) return wouldFail.test(failure.message) ? failed : yield* failure
  const [returned, gas] = yield* rpc.results([
    { method: "eth_call", params: [call, at] },
    { method: "eth_estimateGas", params: [call, at] }
  ])
  const refusal = [returned!, gas!].find(Result.isFailure)?.failure
  if (refusal !== undefined) {
    return refusal.code === 3 || wouldFail.test(refusal.message) ? failed : yield* refusal
  }
  const taken = yield* Effect.fromResult(gas!)
  const gasUsed = yield* read(rpc, "eth_estimateGas", () => Hex.quantity(taken, "gas"))
  return { block, failed: false, gasUsed, moves: undefined }
})
