/**
 * Blocks of EVM chains (all of the family but Tron) from a node's JSON-RPC: full blocks with receipts and, if wanted,
 * traces. Receipts and traces are found by their transactions, and the receipts hash to the header's root. A block that no
 * node can trace is given without its internal transfers, and a transaction that cannot be understood with what is
 * certain of the transaction; the block says so.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, UnprovenPart } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SteadyTime from "../../SteadyTime.ts"
import * as TimeSlice from "../../TimeSlice.ts"
import * as BytesInFlight from "../node/BytesInFlight.ts"
import * as Heads from "../node/Heads.ts"
import type { Call, JsonRpc, Nodes, Numbers } from "../node/JsonRpc.ts"
import * as JsonText from "../node/JsonText.ts"
import type { NodeError, NodeRejected } from "../node/NodeError.ts"
import * as Proof from "../node/Proof.ts"
import type { SideSources } from "../SideSources.ts"
import type { Source } from "../Source.ts"
import * as DecodedTransaction from "../DecodedTransaction.ts"
import * as BlockAnswer from "./internal/BlockAnswer.ts"
import * as BlockInParts from "./internal/BlockInParts.ts"
import * as BlockProof from "./internal/BlockProof.ts"
import * as BlockReceipts from "./internal/BlockReceipts.ts"
import * as BlockTraces from "./internal/BlockTraces.ts"
import * as Capabilities from "./internal/Capabilities.ts"
import * as Headers from "./internal/Headers.ts"
import * as Hex from "./internal/Hex.ts"
import * as KernelBlock from "./internal/KernelBlock.ts"
import * as Network from "./internal/Network.ts"
import { proved, readInSlices } from "./internal/NodeAnswer.ts"
import * as Receipts from "./internal/Receipts.ts"
import type { Tracer } from "./internal/Trace.ts"
import * as TracingNode from "./internal/TracingNode.ts"
import * as TokenFlood from "./internal/TokenFlood.ts"
import * as Transfers from "./internal/Transfers.ts"
import * as TokenMetadata from "./TokenMetadata.ts"

export interface EvmSourceOptions {
  /** Fetch traces for internal transactions. */
  readonly internal: boolean
  /** Tracers to try, in this order; by default both, `debug_traceBlockByHash` first. */
  readonly tracers?: ReadonlyArray<Tracer>
  /** As in `Heads.Options`. */
  readonly quorum?: number
  /** How far blocks are proved; `roots` by default. */
  readonly verify?: Proof.Level
  /**
   * Clients of one node each, in order of preference, that are asked for traces, and how long they wait for those of a
   * block; by default the one client, for 60 s.
   */
  readonly tracing?: { readonly nodes: ReadonlyArray<JsonRpc>; readonly timeoutMillis: number }
}

export interface EvmSource extends Source {
  /** As in `SideSources`; undefined where no internal transactions are read. */
  readonly wholeBlockAt: SideSources["wholeBlockAt"]
  /** Undefined where no internal transactions are read, or no node shows any. */
  readonly traces: BlockTraces.BlockTraces | undefined
  /** As in `Source`. */
  readonly tokenMetadata: (
    contracts: ReadonlyArray<AddressBytes>,
    height?: number
  ) => Effect.Effect<ReadonlyArray<TokenMetadata.TokenMetadata>, NodeError>
}

type TracesOf = BlockTraces.BlockTraces["atOnce"]

/** For so long a request for a block and its traces is waited for. */
const patience = "2 seconds"

/**
 * Finds out what the node can do and makes the source.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
 * import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
 * import * as Effect from "effect/Effect"
 *
 * export const newestTransfers = Effect.gen(function* () {
 *   const chain = yield* Effect.fromResult(Chain.find("ethereum", "mainnet"))
 *   const rpc = yield* JsonRpc.make({ urls: ["http://127.0.0.1:8545"] })
 *   const source = yield* EvmSource.make(chain, rpc, { internal: false })
 *   const { height } = yield* source.head
 *   const { transfers } = yield* source.blockAt(height)
 *   return transfers
 * }).pipe(Effect.scoped)
 * ```
 */
export const make = Effect.fn("EvmSource.make")(function* (
  chain: Chain,
  rpc: Nodes,
  options: EvmSourceOptions
): Effect.fn.Return<EvmSource, NodeError> {
  const tracers = options.tracers ?? ["debug_traceBlockByHash", "trace_block"]
  const { nodes, timeoutMillis } = options.tracing ?? { nodes: [rpc], timeoutMillis: 60_000 }
  const tracing = nodes.map((node, index) =>
    TracingNode.make(node, timeoutMillis, () => nodes.length === rpc.each.length && rpc.isDoubted(rpc.each[index]!))
  )
  const { blockReceipts, capabilities, tracer } = yield* Capabilities.detect(chain, rpc, tracing, {
    tracers: options.internal ? tracers : []
  })
  const level = options.verify ?? "roots"
  const proof = yield* BlockProof.make(chain, level)

  const traces = tracer === undefined ? undefined : BlockTraces.make(tracing, tracer)
  /** Of many blocks at a time, which are then traced alone, most would have to wait longer than the moment that is left to each. */
  const tracesAreDoubted = () => traces !== undefined && tracing.every(({ isInDoubt }) => isInDoubt())

  /** What a block says beside what is in it. */
  const remarks = (unproven: ReadonlyArray<UnprovenPart>, traced: BlockTraces.Traced) => ({
    ...(Result.isFailure(traced) ? { missing: [traced.failure] } : {}),
    ...(unproven.length === 0 ? {} : { unproven }),
    ...(traces === undefined ? { untraced: true as const } : {})
  })

  const plainBlock = Effect.fnUntraced(function* (
    rpc: JsonRpc,
    height: number,
    tracesOf: TracesOf,
    believed: Proof.Believed | undefined,
    answer: unknown,
    byNumber: Result.Result<unknown, NodeRejected> | undefined
  ): Effect.fn.Return<Block, NodeError> {
    const block = yield* readInSlices(rpc, "eth_getBlockByNumber", () => BlockAnswer.decode(answer, height))
    const isWhole = block.transactions.length === block.listed.length
    const provable = isWhole ? block : { ...block, transactionsRoot: undefined }
    const unproven = yield* proved(rpc, "eth_getBlockByNumber", () => proof.block(provable, believed))
    const found = yield* BlockReceipts.fetch(rpc, block, byNumber)
    const receipts = yield* TimeSlice.run(() => Receipts.decode(found, block))
    const understood = receipts.flatMap(({ broken, receipt }) => (broken.length > 0 ? [] : (receipt ?? [])))
    const unprovenReceipts =
      isWhole && understood.length === receipts.length
        ? yield* proved(rpc, "eth_getBlockReceipts", () => proof.receipts(block, understood, believed))
        : level === "links"
          ? []
          : [Proof.unknown(BlockProof.part.receipts, "not all of them are understood")]
    const traced = yield* tracesOf(BlockTraces.traceable(block))
    const frames = Result.getOrUndefined(traced)
    const unprovenSenders =
      isWhole || level !== "full" ? [] : [Proof.unknown(BlockProof.part.senders, "not all transactions are understood")]
    const unprovenParts = [
      ...unproven,
      ...unprovenSenders,
      ...unprovenReceipts,
      ...(frames === undefined ? [] : proof.traces)
    ]
    const isProven = level !== "links" && !unprovenReceipts.some(({ part }) => part === BlockProof.part.receipts)
    const decoded = yield* TimeSlice.run(() =>
      Transfers.decode(block, receipts, frames, isProven ? "counted" : "given")
    )
    const unlisted = yield* TimeSlice.run(() => Receipts.unlisted(found, block))
    const whole = DecodedTransaction.toBlock(block.header, decoded, unlisted)
    return { ...(yield* TimeSlice.run(() => TokenFlood.bounded(whole))), ...remarks(unprovenParts, traced) }
  })

  /** What a node answers to the calls for a block, and where it may be asked for the traces as well, to that for these. */
  const askFor = Effect.fnUntraced(function* (rpc: JsonRpc, calls: ReadonlyArray<Call>, numbers: Numbers) {
    const named = yield* Heads.NamedHash
    const asked = named && traces && (yield* traces.withBlock(rpc, named))
    if (asked !== undefined) {
      const both = rpc.results([...calls, asked.call], "text", "asOne")
      const results = yield* Effect.result(Effect.timeout(BytesInFlight.attempt(both), patience))
      if (Result.isSuccess(results)) {
        const given: BlockTraces.GivenWithBlock = { asked, answer: results.success[calls.length]! }
        return { results: results.success.slice(0, calls.length), given }
      }
      asked.node.notedWithBlock(undefined, yield* SteadyTime.millis)
    }
    return { results: yield* rpc.results(calls, numbers, "shared"), given: undefined }
  })

  const blockWith = Effect.fnUntraced(function* (
    rpc: JsonRpc,
    height: number,
    tracesBy: TracesOf,
    believed?: Proof.Believed
  ): Effect.fn.Return<Block, NodeError> {
    const tag = Hex.encodeQuantity(height)
    const receiptCalls = blockReceipts ? [{ method: "eth_getBlockReceipts", params: [tag] }] : []
    const numbers = KernelBlock.mayRead(chain, level, height) ? "text" : "plain"
    const { given: withBlock, results } = yield* askFor(rpc, [Headers.blockCall(tag, true), ...receiptCalls], numbers)
    const [full, byNumber] = results
    const tracesOf: TracesOf = (block) => tracesBy(block, withBlock)
    const given = yield* Effect.fromResult(
      Result.mapError(yield* BlockInParts.orParts(rpc, tag, full!), (error) =>
        Headers.missingOr(rpc, error, String(height))
      )
    )
    if (given === null) return yield* Headers.missing(rpc, String(height))
    const receipts = byNumber && Result.getOrUndefined(byNumber)
    const kernelBlock = yield* TimeSlice.run(() => KernelBlock.read(chain, level, height, given, receipts))
    let plainTraces = tracesOf
    if (kernelBlock !== undefined) {
      const { count, hashes, header } = kernelBlock
      const whole = Effect.flatMap(JsonText.value(given), (answer) =>
        readInSlices(rpc, "eth_getBlockByNumber", () => BlockAnswer.decode(answer, height))
      )
      const traced = yield* tracesOf({ header, hashText: Hex.encode(header.hash), count, hashes, whole })
      const frames = Result.getOrUndefined(traced)
      const block = kernelBlock.withTraces(frames)
      if (block !== undefined) {
        const bounded = yield* TimeSlice.run(() => TokenFlood.bounded(block))
        return { ...bounded, ...remarks(frames === undefined ? [] : proof.traces, traced) }
      }
      plainTraces = () => Effect.succeed(traced)
    }
    const answer = yield* JsonText.value(given)
    const value = receipts === undefined ? byNumber : Result.succeed(yield* JsonText.value(receipts))
    return yield* plainBlock(rpc, height, plainTraces, believed, answer, value)
  })

  return {
    chain,
    ...Heads.make(
      chain,
      rpc,
      {
        name: ({ node }) => node,
        head: Headers.head(),
        hashAt: Headers.hashAt,
        block: (one, height, believed) => blockWith(one, height, traces?.atOnce ?? (() => BlockTraces.none), believed)
      },
      options
    ),
    ...(rpc.blocksOfRequest && { blocksOfRequest: () => (tracesAreDoubted() ? 1 : rpc.blocksOfRequest!()) }),
    network: Effect.flatMap(rpc.results([{ method: "eth_chainId", params: [] }]), ([chainId]) =>
      Network.capability(chain, rpc, chainId!)
    ),
    resting: rpc.resting,
    wholeBlockAt: traces && ((height) => rpc.withOne((one) => blockWith(one, height, traces.fromAny))),
    traces,
    capabilities: Effect.succeed(capabilities),
    tokenMetadata: (contracts, height) => rpc.withOne((one) => TokenMetadata.fetch(one, contracts, height))
  }
})
