/** Capabilities of an EVM node, found out by asking it about a recent block. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Capability from "../../Capability.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Hex from "./Hex.ts"
import type { Tracer } from "./Trace.ts"

export interface Capabilities {
  /** `eth_getBlockReceipts` exists; else receipts are asked for one by one. */
  readonly blockReceipts: boolean
  readonly tracer: Tracer | undefined
  readonly capabilities: ReadonlyArray<Capability.Capability>
}

/** Blocks to look back for one with transactions, since only its trace shows that the tracer is the right one. */
const lookBack = 16

/** The node does not have the method at all; hardhat says -32004, ganache -32700 with words. */
export const isMethodMissing = ({ code, message }: NodeRejected): boolean =>
  code === -32601 ||
  /method.*(?:not (?:found|exist|supported|available|allowed|implemented)|does not exist)|unknown method|unsupported method/i.test(
    message
  )

/** A tracer's answer has its form, as far as a block without transactions lets it be seen. */
const hasForm = (tracer: Tracer, answer: unknown): boolean =>
  Array.isArray(answer) &&
  answer.every((item: unknown) => {
    if (typeof item !== "object" || item === null) return false
    const json = item as Hex.Json
    if (tracer === "trace_block") return Array.isArray(json.traceAddress)
    const frame = (json.result ?? json) as Hex.Json
    return typeof frame.type === "string" || json.error != null
  })

/** Every transaction's trace is an error: the method is there, what it reads from is not. */
const isOnlyErrors = (answer: unknown): boolean =>
  Array.isArray(answer) && answer.length > 0 && answer.every((item: Hex.Json) => item.error != null)

const recentBlock = Effect.fnUntraced(function* (rpc: JsonRpc): Effect.fn.Return<Hex.Json | undefined, NodeError> {
  const latest = (yield* rpc.call("eth_getBlockByNumber", ["latest", false])) as Hex.Json | null
  const height = Number(latest?.number)
  if (latest === null || !Number.isSafeInteger(height)) return undefined
  if (Array.isArray(latest.transactions) && latest.transactions.length > 0) return latest
  const older = yield* rpc.results(
    Array.from({ length: Math.min(lookBack, height) }, (_, index) => ({
      method: "eth_getBlockByNumber",
      params: [Hex.encodeQuantity(height - 1 - index), false]
    }))
  )
  const blocks = older.map((result) => Result.getOrUndefined(result) as Hex.Json | null | undefined)
  return blocks.find((block) => Array.isArray(block?.transactions) && block.transactions.length > 0) ?? latest
})

const parameters = (tracer: Tracer, block: Hex.Json) =>
  tracer === "trace_block" ? [block.number] : [block.hash, CallTracer.config]

/** Refusals that may pass in a minute, and so say nothing about the node's capabilities. */
const passing = /time(?:d )?out|deadline|cancel/i

/** The node has the tracer, and not the state that this block ran on: geth and what is made of it, reth, Nethermind. */
const lacksState = /historical state|missing trie node|no state|\bpruned\b/i

/**
 * The first tracer that answers in its form, or what the node said to each. One that has only errors to give, as a node
 * without the state of the block, is taken where there is no other.
 */
const findTracer = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  block: Hex.Json,
  tracers: ReadonlyArray<Tracer>
): Effect.fn.Return<{ readonly tracer: Tracer | undefined; readonly refusals: string }, NodeError> {
  const refusals: Array<string> = []
  let second: Tracer | undefined
  for (const tracer of tracers) {
    const [result] = yield* rpc.results([{ method: tracer, params: parameters(tracer, block) }])
    const answer = result!
    if (Result.isFailure(answer) && passing.test(answer.failure.message)) return yield* answer.failure
    // geth has no state from before the genesis block: the method is there all the same.
    const works = Result.isSuccess(answer)
      ? hasForm(tracer, answer.success)
      : /genesis is not traceable/.test(answer.failure.message)
    const onlyErrors = Result.isSuccess(answer)
      ? works && isOnlyErrors(answer.success)
      : lacksState.test(answer.failure.message)
    if (onlyErrors) {
      second ??= tracer
      continue
    }
    if (works) return { tracer, refusals: "" }
    refusals.push(
      `${tracer}: ${Result.isSuccess(answer) ? "an answer of another form" : answer.failure.message || "refused"}`
    )
  }
  return { tracer: second, refusals: refusals.join("; ") }
})

export interface Wishes {
  /** Tracers to try, in this order; none if internal transactions are not wanted. */
  readonly tracers: ReadonlyArray<Tracer>
  /** EIP-155 id that the chain must have, if it has one. */
  readonly chainId: number | undefined
}

const network = (chainId: number | undefined, answer: Result.Result<unknown, NodeRejected>): Capability.Capability => {
  const answered = Result.isSuccess(answer) ? Number(answer.success) : Number.NaN
  if (Number.isNaN(answered)) return Capability.networkPresumed("the node does not say its chain id")
  if (chainId === undefined || answered === chainId) return Capability.has(Capability.network, `chain id ${answered}`)
  return Capability.lacks(
    Capability.network,
    `the node is on chain id ${answered}, not ${chainId}: it belongs to another network; correct the node's URL`
  )
}

const receiptsOfBlock = (available: boolean) =>
  available
    ? Capability.has("receipts of a block", "eth_getBlockReceipts")
    : Capability.lacks(
        "receipts of a block",
        "the node lacks eth_getBlockReceipts: receipts are fetched one by one, which is slower",
        { advice: "upgrade the node, if catching up is too slow" }
      )

const traces = (tracer: Tracer | undefined, wanted: boolean, refusals: string) => {
  if (tracer !== undefined) return Capability.has(Capability.internalTransactions, tracer)
  const detail = wanted
    ? `the node gives no traces, so there are no internal transactions: enable debug_traceBlockByHash or trace_block (${refusals})`
    : "not fetched: switched off by the settings"
  return Capability.lacks(Capability.internalTransactions, detail, {
    advice:
      "start geth, Erigon or Besu with its debug or trace API, Nethermind with its Trace module; or set " +
      "internalTransactions = false, and do without"
  })
}

const finality = (available: boolean) =>
  available
    ? Capability.has("finality", "finalized tag")
    : Capability.lacks("finality", "the node names no final block: only depth protects against reorganisations", {
        advice: "upgrade the node; or keep undoDepth as deep as you trust"
      })

/** Asks the node. A method that the node refuses is a capability that it lacks; a node that does not answer is a failure. */
export const detect = Effect.fn("Capabilities.detect")(function* (
  rpc: JsonRpc,
  wishes: Wishes
): Effect.fn.Return<Capabilities, NodeError> {
  const block = (yield* recentBlock(rpc)) ?? { number: "0x0" }
  const [chainId, receipts, finalized] = yield* rpc.results([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockReceipts", params: [block.number] },
    { method: "eth_getBlockByNumber", params: ["finalized", false] }
  ])
  const blockReceipts = Result.isSuccess(receipts!) && Array.isArray(receipts.success)
  const { tracer, refusals } = yield* findTracer(rpc, block, wishes.tracers)
  return {
    blockReceipts,
    tracer,
    capabilities: [
      network(wishes.chainId, chainId!),
      receiptsOfBlock(blockReceipts),
      traces(tracer, wishes.tracers.length > 0, refusals),
      finality(Result.isSuccess(finalized!) && finalized.success !== null)
    ]
  }
})
