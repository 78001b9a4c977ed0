/**
 * Blocks from one chain's nodes, by the strategies that the nodes allow: decoded by the node, raw, or as ids whose
 * transactions are fetched in batches.
 */
import type { Block } from "@headwater/core/Block"
import type { BlockDetails } from "@headwater/core/BlockDetails"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as BatchInParts from "../../node/BatchInParts.ts"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import type { JsonRpc, Numbers } from "../../node/JsonRpc.ts"
import { LongText } from "../../node/LongText.ts"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import * as Proof from "../../node/Proof.ts"
import * as SecondLook from "../../SecondLook.ts"
import type { Capabilities, Parameters } from "./Capabilities.ts"
import { consistent, consistentInSlices, orMissing } from "./NodeAnswer.ts"
import * as NodeBlock from "./NodeBlock.ts"
import * as NodeJson from "./NodeJson.ts"
import * as ProvedBlock from "./ProvedBlock.ts"

/** How a block's transactions are had from a node. */
export type Strategy = "decoded" | "raw" | "transactions"

export interface BlockReader {
  /** The strategies that the node allows, best first. A block that the node refuses by one is asked for by the next. */
  readonly strategies: ReadonlyArray<Strategy>
  /** Reads, checks and proves a block, all of it from what `rpc` answers. */
  readonly block: (rpc: JsonRpc, asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>
  readonly details: (rpc: JsonRpc, asked: NodeBlock.AskedByHash) => Effect.Effect<BlockDetails, NodeError>
}

type Read = (rpc: JsonRpc, asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>

/**
 * Makes the reader that a node's capabilities allow, by one strategy only if wanted; fails where they allow none. At
 * `full` the raw block proves decoded transactions whose bytes the node does not show.
 */
export const make = (
  chain: Chain,
  rpc: JsonRpc,
  capabilities: Capabilities,
  options: { readonly only: Strategy | undefined; readonly verify: Proof.Level }
): Effect.Effect<BlockReader, NodeError> => {
  const { only, verify } = options
  const provedBlock = ProvedBlock.make(chain, verify)
  /** Whether a raw block's name is computed from its bytes. */
  const namesItself = chain.utxo!.headerHash === undefined
  const getBlock = (rpc: JsonRpc, hash: string, parameters: Parameters, numbers: Numbers = "decimalText") =>
    orMissing(rpc, hash)(rpc.call("getblock", [hash, ...parameters], numbers, "shared"))

  /** Ids are little beside the transactions that they are asked for by. */
  const getListed = (rpc: JsonRpc, hash: string, listed: Parameters) => BytesInFlight.part(getBlock(rpc, hash, listed))

  const finish = (rpc: JsonRpc, method: string, { block, outcome }: ProvedBlock.Proved) =>
    Effect.map(
      Proof.unprovenOf(outcome, { node: rpc.node, method }),
      (unproven): Block => (unproven.length === 0 ? block : { ...block, unproven })
    )

  const bytesOf = (rpc: JsonRpc, hash: string, parameters: Parameters) =>
    Effect.flatMap(getBlock(rpc, hash, parameters, "text"), (hex) =>
      consistentInSlices(rpc, "getblock", () => NodeJson.longBytes(hex, () => "the raw block"))
    )

  /** Decoded transactions, proved by their bytes; by the raw block at `full`, where the node does not show their bytes. */
  const provedDecoded = Effect.fnUntraced(function* (
    rpc: JsonRpc,
    asked: NodeBlock.Asked,
    block: NodeBlock.NodeBlock,
    transactions: ReadonlyArray<unknown>
  ): Effect.fn.Return<ProvedBlock.Proved, NodeError> {
    const isBare = transactions.some(
      (transaction) => !Predicate.isReadonlyObject(transaction) || transaction.hex === undefined
    )
    if (verify !== "full" || !isBare || capabilities.raw === undefined) {
      return yield* consistentInSlices(rpc, "getblock", () => provedBlock.ofDecoded(block, transactions))
    }
    const bytes = yield* bytesOf(rpc, asked.hash, capabilities.raw)
    return yield* consistentInSlices(rpc, "getblock", () => provedBlock.ofDecodedAndBytes(block, transactions, bytes))
  })

  const decoded = (parameters: Parameters): Read =>
    Effect.fnUntraced(function* (rpc, asked) {
      const answer = yield* getBlock(rpc, asked.hash, parameters)
      const block = yield* consistent(rpc, "getblock", () => NodeBlock.read(answer, asked))
      return yield* finish(rpc, "getblock", yield* provedDecoded(rpc, asked, block, block.tx))
    })

  const transactions = (listed: Parameters, verbose: Parameters): Read =>
    Effect.fnUntraced(function* (rpc, asked) {
      const answer = yield* getListed(rpc, asked.hash, listed)
      const block = yield* consistent(rpc, "getblock", () => NodeBlock.read(answer, asked))
      const calls = block.tx.map((id) => ({ method: "getrawtransaction", params: [id, ...verbose] }))
      const answers = yield* BatchInParts.batch(rpc, calls, "decimalText")
      return yield* finish(rpc, "getrawtransaction", yield* provedDecoded(rpc, asked, block, answers))
    })

  const raw = (listed: Parameters, parameters: Parameters): Read =>
    Effect.fnUntraced(function* (rpc, asked) {
      const bytes = yield* bytesOf(rpc, asked.hash, parameters)
      const alone = namesItself
        ? yield* consistentInSlices(rpc, "getblock", () => provedBlock.ofBytesAlone(asked, bytes))
        : undefined
      if (alone !== undefined) return yield* finish(rpc, "getblock", alone)
      const answer = yield* getListed(rpc, asked.hash, listed)
      const block = yield* consistent(rpc, "getblock", () => NodeBlock.read(answer, asked))
      const found = yield* consistentInSlices(rpc, "getblock", () => provedBlock.ofListedBytes(block, bytes))
      return yield* finish(rpc, "getblock", found)
    })

  const { listed } = capabilities
  const byDecoded = ["decoded", capabilities.decoded && decoded(capabilities.decoded)] as const
  // A block in two calls, where a batch has one for each transaction and shows no more of what inputs spend.
  const byRaw = ["raw", listed && capabilities.raw && raw(listed, capabilities.raw)] as const
  const reads: ReadonlyArray<readonly [Strategy, Read | undefined]> = [
    // To parse what a node has decoded takes several times as long as to read the bytes, which show as much without prevouts.
    ...(capabilities.prevouts === false ? [byRaw, byDecoded] : [byDecoded, byRaw]),
    ["transactions", listed && capabilities.txindex ? transactions(listed, capabilities.verbose) : undefined]
  ]
  const possible = reads.flatMap(([strategy, read]) =>
    read !== undefined && (only === undefined || strategy === only) ? [{ strategy, read }] : []
  )
  const summary = listed ?? capabilities.decoded
  if (possible.length === 0 || summary === undefined) {
    const message = `shows a block's transactions in no ${only === undefined ? "known way" : `way of "${only}"`}`
    return Effect.fail(new NodeInconsistent({ node: rpc.node, method: "getblock", message }))
  }

  return Effect.succeed({
    strategies: possible.map(({ strategy }) => strategy),
    block: (rpc, asked) =>
      possible
        .map(({ read }) => read(rpc, asked))
        .reduce((first, next) =>
          first.pipe(
            Effect.catchTag("NodeRejected", () => next),
            Effect.filterOrElse(
              (block) => block.notUnderstood === undefined,
              (block) =>
                Effect.map(
                  Effect.orElseSucceed(next, () => block),
                  (other) => SecondLook.better(block, other)
                )
            )
          )
        ),
    details: Effect.fnUntraced(function* (rpc, asked) {
      const answer = yield* getBlock(rpc, asked.hash, summary)
      // Old Zebra versions say no size.
      const unsized = Predicate.isReadonlyObject(answer) && answer.size === undefined && capabilities.raw !== undefined
      const hex = unsized ? yield* getBlock(rpc, asked.hash, capabilities.raw) : undefined
      const digits = hex instanceof LongText ? hex.bytes : hex
      const rawSize = typeof digits === "string" || digits instanceof Buffer ? digits.length / 2 : undefined
      return yield* consistent(rpc, "getblock", () => NodeBlock.details(answer, asked, rawSize))
    })
  })
}
