/** Capabilities of an EVM node, found out by asking it about a recent block. */
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Capability from "../../Capability.ts"
import * as JsonText from "../../node/JsonText.ts"
import type { JsonRpc, Nodes } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError } from "../../node/NodeError.ts"
import * as Headers from "./Headers.ts"
import * as Hex from "./Hex.ts"
import * as Network from "./Network.ts"
import { isMethodMissing } from "./NodeAnswer.ts"
import type { Tracer } from "./Trace.ts"
import type { BlockName, TracingNode } from "./TracingNode.ts"

export interface Capabilities {
  /** `eth_getBlockReceipts` exists; else receipts are asked for one by one. */
  readonly blockReceipts: boolean
  readonly tracer: Tracer | undefined
  readonly capabilities: ReadonlyArray<Capability.Capability>
}

/** Blocks to look back for one with transactions, since only its trace shows that the tracer is the right one. */
const lookBack = 16

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
  // Whoever has no newest block has no word on what the nodes can do: another one is asked, or the same one again.
  if (latest === null) return yield* Headers.missing(rpc, "latest")
  const height = Number(latest.number)
  if (!Number.isSafeInteger(height)) return undefined
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

/** Refusals that may pass in a minute, and so say nothing about the node's capabilities. */
const passing = /time(?:d )?out|deadline|cancel/i

/** The node has the tracer, and not the state that this block ran on: geth and what is made of it, reth, Nethermind. */
const lacksState = /historical state|missing trie node|no state|\bpruned\b/i

/**
 * What an answer says of a tracer: it `works`; it has only `errors` to give, as where the node lacks the block's state; it
 * is `unknown`, since the node gave no answer in time; or why the node has none.
 */
const judge = (
  tracer: Tracer,
  answer: Result.Result<unknown, NodeError | Cause.TimeoutError>
): "works" | "errors" | "unknown" | { readonly refusal: string } => {
  if (Result.isSuccess(answer)) {
    // The block has left the chain since it was asked for, or the node has yet to get it.
    if (answer.success === null) return "unknown"
    if (!hasForm(tracer, answer.success)) return { refusal: "an answer of another form" }
    return isOnlyErrors(answer.success) ? "errors" : "works"
  }
  const { _tag, message } = answer.failure
  if (_tag !== "NodeRejected" || passing.test(message)) return "unknown"
  if (Headers.missingWords.test(message) && !isMethodMissing(answer.failure)) return "unknown"
  // geth has no state from before the genesis block, and this block may be a large one: the method is there all the same.
  if (isTooLarge(answer.failure) || /genesis is not traceable/.test(message)) return "works"
  return lacksState.test(message) ? "errors" : { refusal: message || "refused" }
}

/** How long a question about a tracer may hold up the start of a chain. */
const longestQuestion = "10 seconds"

interface FoundTracer {
  readonly tracer: Tracer | undefined
  /** The tracer is presumed: no node has shown it. */
  readonly unsure: boolean
  readonly refusals: string
}

/**
 * The first tracer that one of the nodes gives; else one that has only errors to give; else one that no node has answered
 * about. Later nodes are asked where the ones before do not give any.
 */
const findTracer = Effect.fnUntraced(function* (
  nodes: ReadonlyArray<TracingNode>,
  block: BlockName,
  tracers: ReadonlyArray<Tracer>
): Effect.fn.Return<FoundTracer> {
  const refusals: Array<string> = []
  let onlyErrors: Tracer | undefined
  let unknown: Tracer | undefined
  for (const node of nodes) {
    for (const tracer of tracers) {
      const asked = Effect.flatMap(Effect.flatMap(node.ask(tracer, block, false), Effect.fromResult), JsonText.value)
      const judged = judge(tracer, yield* Effect.result(Effect.timeout(asked, longestQuestion)))
      if (judged === "works") return { tracer, unsure: false, refusals: "" }
      if (judged === "unknown") {
        unknown ??= tracer
        break
      }
      if (judged === "errors") onlyErrors ??= tracer
      else refusals.push(`${tracer}: ${judged.refusal}`)
    }
  }
  return {
    tracer: onlyErrors ?? unknown,
    unsure: onlyErrors === undefined && unknown !== undefined,
    refusals: refusals.join("; ")
  }
})

interface Wishes {
  /** Tracers to try, in this order; none if internal transactions are not wanted. */
  readonly tracers: ReadonlyArray<Tracer>
}

const receiptsOfBlock = (available: boolean) =>
  available
    ? Capability.has("receipts of a block", "eth_getBlockReceipts")
    : Capability.lacks(
        "receipts of a block",
        "the node lacks eth_getBlockReceipts: receipts are fetched one by one, which is slower",
        { advice: "upgrade the node, if catching up is too slow" }
      )

const traces = ({ refusals, tracer, unsure }: FoundTracer, wanted: boolean) => {
  if (tracer !== undefined && unsure) {
    return Capability.presumed(
      Capability.internalTransactions,
      `${tracer}: no node gave an answer in time`,
      "raise traceTimeoutMillis, or see what the nodes are busy with"
    )
  }
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

/**
 * Asks the node, and for traces the nodes `tracing`. A method that is refused is a capability that is lacking. A node that
 * does not answer is a failure, unless it is asked for traces: the chain is followed all the same.
 */
export const detect = Effect.fn("Capabilities.detect")(function* (
  chain: Chain,
  rpc: Nodes,
  tracing: ReadonlyArray<TracingNode>,
  wishes: Wishes
): Effect.fn.Return<Capabilities, NodeError> {
  const block = (yield* rpc.withOne(recentBlock)) ?? { number: "0x0" }
  const [chainId, receipts, finalized] = yield* rpc.results([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockReceipts", params: [block.number] },
    { method: "eth_getBlockByNumber", params: ["finalized", false] }
  ])
  const hasBlockReceipts = Result.isSuccess(receipts!) ? Array.isArray(receipts.success) : isTooLarge(receipts!.failure)
  const { hash, number } = block
  const found = yield* findTracer(tracing, { hash, number }, wishes.tracers)
  return {
    // A refusal of this one block says nothing about others.
    blockReceipts: Result.isSuccess(receipts!) || !isMethodMissing(receipts!.failure),
    tracer: found.tracer,
    capabilities: [
      yield* Network.capability(chain, rpc, chainId!),
      receiptsOfBlock(hasBlockReceipts),
      traces(found, wishes.tracers.length > 0),
      finality(Result.isSuccess(finalized!) && finalized.success !== null)
    ]
  }
})
