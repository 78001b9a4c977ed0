/**
 * Blocks of EVM chains (all of the family but Tron) from a node's JSON-RPC: full blocks with receipts and, if wanted,
 * traces. What is given was checked to belong together: receipts and traces are of the very block hash, complete and in
 * order, and the receipts hash to the header's root.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent, type NodeRejected } from "../node/NodeError.ts"
import type { Head, Source } from "../Source.ts"
import * as BlockAnswer from "./internal/BlockAnswer.ts"
import * as CallTracer from "./internal/CallTracer.ts"
import * as Capabilities from "./internal/Capabilities.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"
import * as Receipts from "./internal/Receipts.ts"
import * as ReceiptsRoot from "./internal/ReceiptsRoot.ts"
import * as TokenMetadata from "./internal/TokenMetadata.ts"
import type { Trace, Tracer } from "./internal/Trace.ts"
import * as TraceBlock from "./internal/TraceBlock.ts"
import * as Transfers from "./internal/Transfers.ts"

export interface EvmSourceOptions {
  /** Fetch traces for internal transactions. */
  readonly internal: boolean
  /** Tracers to try, in this order; by default both, `debug_traceBlockByHash` first. */
  readonly tracers?: ReadonlyArray<Tracer>
  /** Recompute the receipts' root hash of every block; on by default. */
  readonly verifyReceipts?: boolean
}

export interface EvmSource extends Source {
  /** Names, symbols and decimals, in the order of the contracts. */
  readonly tokenMetadata: (
    contracts: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<TokenMetadata.TokenMetadata>, NodeError>
}

/** For how long a node that refused the `finalized` tag is not asked for it. */
const finalityRestMillis = 300_000

/** The node's words for a block that it does not have (yet): geth, Avalanche, anvil. */
const missingWords = /block.*not found|header not found|unknown block|unfinalized|out ?of ?range/i

/** Finds out what the node can do and makes the source. */
export const make = Effect.fn("EvmSource.make")(function* (
  chain: Chain,
  rpc: JsonRpc,
  options: EvmSourceOptions
): Effect.fn.Return<EvmSource, NodeError> {
  const tracers = options.tracers ?? ["debug_traceBlockByHash", "trace_block"]
  const { blockReceipts, capabilities, tracer } = yield* Capabilities.detect(rpc, {
    tracers: options.internal ? tracers : [],
    chainId: chain.evm?.chainId
  })
  const receiptsRoot = yield* ReceiptsRoot.make
  let finalityRestsUntil = 0

  const missing = (block: string) => new BlockMissing({ node: rpc.node, block })
  const missingOr = (error: NodeRejected, block: string) => (missingWords.test(error.message) ? missing(block) : error)
  const blockCall = (tag: string, full: boolean) => ({ method: "eth_getBlockByNumber", params: [tag, full] })

  /** A header's height and hash; `null` is a block that the node does not have. */
  const headerOf = (answer: unknown, block: string) =>
    answer === null
      ? Effect.fail(missing(block))
      : read(rpc, "eth_getBlockByNumber", () => {
          const json = Hex.object(answer, "block")
          return { height: Hex.integer(json.number, "block.number"), hash: Hex.hash(json.hash, "block.hash") }
        })

  const head = Effect.gen(function* (): Effect.fn.Return<Head, NodeError> {
    const now = yield* Clock.currentTimeMillis
    const tags = finalityRestsUntil > now ? ["latest"] : ["latest", "finalized"]
    const [latest, finalized] = yield* rpc.results(tags.map((tag) => blockCall(tag, false)))
    const newest = yield* headerOf(yield* Effect.fromResult(latest!), "latest")
    if (finalized !== undefined && Result.isFailure(finalized)) finalityRestsUntil = now + finalityRestMillis
    const answer = finalized === undefined ? null : Result.getOrElse(finalized, () => null)
    const final = answer === null ? undefined : (yield* headerOf(answer, "finalized")).height
    return { ...newest, final: final === undefined || final > newest.height ? undefined : final }
  }).pipe(Effect.withSpan("EvmSource.head"))

  const hashAt = Effect.fn("EvmSource.hashAt")(function* (height: number) {
    const tag = Hex.encodeQuantity(height)
    const answer = yield* Effect.catchTag(rpc.call("eth_getBlockByNumber", [tag, false]), "NodeRejected", (error) =>
      Effect.fail(missingOr(error, String(height)))
    )
    const header = yield* headerOf(answer, String(height))
    if (header.height === height) return header.hash
    const message = `asked for block ${height}, answered block ${header.height}`
    return yield* new NodeInconsistent({ node: rpc.node, method: "eth_getBlockByNumber", message })
  })

  const receiptsOneByOne = (transactions: ReadonlyArray<BlockAnswer.Transaction>) =>
    rpc.batch(transactions.map(({ hashText }) => ({ method: "eth_getTransactionReceipt", params: [hashText] })))

  /**
   * Receipts of this very block, where those asked for by number were of another one, missing, or without the receipt
   * of Polygon's state-sync transaction.
   */
  const receiptsOf = Effect.fnUntraced(function* (
    block: BlockAnswer.BlockAnswer,
    byNumber: Result.Result<unknown, NodeRejected> | undefined
  ): Effect.fn.Return<ReadonlyArray<unknown>, NodeError> {
    if (block.transactions.length === 0) return []
    if (byNumber === undefined) return yield* receiptsOneByOne(block.transactions)
    if (Result.isFailure(byNumber) && Capabilities.isMethodMissing(byNumber.failure)) {
      return yield* receiptsOneByOne(block.transactions)
    }
    const first = Result.getOrUndefined(byNumber)
    const answer = Receipts.areOf(first, block) ? first : yield* rpc.call("eth_getBlockReceipts", [block.hashText])
    const receipts = yield* read(rpc, "eth_getBlockReceipts", () => Hex.array(answer, "receipts"))
    const hashed = BlockAnswer.hashedTransactions(block).length
    if (receipts.length !== hashed || hashed === block.transactions.length) return receipts
    return [...receipts, ...(yield* receiptsOneByOne(block.transactions.slice(hashed)))]
  })

  const tracesOf = Effect.fnUntraced(function* (
    block: BlockAnswer.BlockAnswer,
    byNumber: Result.Result<unknown, NodeRejected> | undefined
  ): Effect.fn.Return<ReadonlyArray<Trace> | undefined, NodeError> {
    // A block without transactions needs no trace, and geth's genesis has none.
    if (tracer === undefined || block.transactions.length === 0) return undefined
    if (byNumber !== undefined) {
      const answer = yield* Effect.fromResult(byNumber)
      return yield* read(rpc, tracer, () => TraceBlock.decode(answer, block))
    }
    const answer = yield* rpc.call(tracer, [block.hashText, CallTracer.config])
    return yield* read(rpc, tracer, () => CallTracer.decode(answer, block))
  })

  const blockAt = Effect.fnUntraced(function* (height: number): Effect.fn.Return<Block, NodeError> {
    const tag = Hex.encodeQuantity(height)
    const receiptCalls = blockReceipts ? [{ method: "eth_getBlockReceipts", params: [tag] }] : []
    const traceCalls = tracer === "trace_block" ? [{ method: tracer, params: [tag] }] : []
    const [full, ...rest] = yield* rpc.results([blockCall(tag, true), ...receiptCalls, ...traceCalls])
    const answer = yield* Effect.fromResult(Result.mapError(full!, (error) => missingOr(error, String(height))))
    if (answer === null) return yield* missing(String(height))
    const block = yield* read(rpc, "eth_getBlockByNumber", () => BlockAnswer.decode(answer, height))
    const receiptAnswer = yield* receiptsOf(block, blockReceipts ? rest[0] : undefined)
    const traces = yield* tracesOf(block, tracer === "trace_block" ? rest.at(-1) : undefined)
    return yield* read(rpc, "eth_getBlockReceipts", () => {
      const receipts = Receipts.decode(receiptAnswer, block)
      if (options.verifyReceipts !== false && block.receiptsRoot !== undefined) {
        const root = receiptsRoot(receipts, block)
        if (root !== undefined && !Hex.equal(root, block.receiptsRoot)) {
          throw new Hex.Malformed("the receipts do not hash to the receiptsRoot of the block")
        }
      }
      return {
        ...block.header,
        transactions: block.transactions.map(({ hash }) => hash),
        transfers: Transfers.of(block, receipts, traces),
        spends: []
      }
    })
  })

  return {
    chain,
    head,
    hashAt,
    blockAt,
    capabilities: Effect.succeed(capabilities),
    tokenMetadata: (contracts) => TokenMetadata.fetch(rpc, contracts)
  }
})
