/**
 * Blocks from one chain's nodes, by the strategies that the nodes allow: decoded by the node, raw, or as ids whose
 * transactions are fetched in batches.
 */
import type { Block } from "@headwater/core/Block"
import type { BlockDetails } from "@headwater/core/BlockDetails"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import * as BlockBody from "./BlockBody.ts"
import type { Capabilities, Parameters } from "./Capabilities.ts"
import { refuse } from "./Malformed.ts"
import { consistent, orMissing } from "./NodeAnswer.ts"
import * as NodeBlock from "./NodeBlock.ts"
import * as NodeJson from "./NodeJson.ts"
import * as NodeTransaction from "./NodeTransaction.ts"
import * as RawBlock from "./RawBlock.ts"

/** How a block's transactions are had from a node. */
export type Strategy = "decoded" | "raw" | "transactions"

export interface BlockReader {
  /** The strategies that the node allows, best first. A block that the node refuses by one is asked for by the next. */
  readonly strategies: ReadonlyArray<Strategy>
  /** Reads and checks a block. */
  readonly block: (asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>
  readonly details: (asked: NodeBlock.Asked) => Effect.Effect<BlockDetails, NodeError>
}

type Read = (asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>

/** Makes the reader that a node's capabilities allow, by one strategy only if wanted; fails where they allow none. */
export const make = (
  chain: Chain,
  rpc: JsonRpc,
  capabilities: Capabilities,
  only: Strategy | undefined
): Effect.Effect<BlockReader, NodeError> => {
  const getBlock = (hash: string, parameters: Parameters) =>
    orMissing(rpc, hash)(rpc.call("getblock", [hash, ...parameters], "decimalText"))

  const bodyOf = (transactions: ReadonlyArray<unknown>) => {
    const body = BlockBody.empty()
    for (const [index, transaction] of transactions.entries()) NodeTransaction.read(chain, transaction, index, body)
    return body
  }

  const decoded = (parameters: Parameters): Read =>
    Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, parameters)
      return yield* consistent(rpc, "getblock", () => {
        const block = NodeBlock.read(answer, asked)
        return NodeBlock.assemble(block, bodyOf(block.tx))
      })
    })

  const transactions = (listed: Parameters, verbose: Parameters): Read =>
    Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, listed)
      const block = yield* consistent(rpc, "getblock", () => NodeBlock.read(answer, asked))
      const calls = block.tx.map((id) => ({ method: "getrawtransaction", params: [id, ...verbose] }))
      const answers = yield* rpc.batch(calls, "decimalText")
      return yield* consistent(rpc, "getrawtransaction", () => NodeBlock.assemble(block, bodyOf(answers)))
    })

  const raw = (listed: Parameters, parameters: Parameters): Read =>
    Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, listed)
      const hex = yield* getBlock(asked.hash, parameters)
      return yield* consistent(rpc, "getblock", () => {
        const block = NodeBlock.read(answer, asked)
        const bytes = NodeJson.bytes(hex, () => "the raw block")
        const { hash, merkleRoot, body } = RawBlock.read(chain, bytes, NodeBlock.listedIds(block))
        if (hash !== undefined && Buffer.compare(hash, block.hash) !== 0) refuse("hash", "is not that of the raw block")
        if (Buffer.compare(merkleRoot, block.merkleRoot) !== 0) refuse("merkleroot", "is not that of the raw block")
        return NodeBlock.assemble(block, body)
      })
    })

  const { listed } = capabilities
  const reads: ReadonlyArray<readonly [Strategy, Read | undefined]> = [
    ["decoded", capabilities.decoded && decoded(capabilities.decoded)],
    // A block in two calls, where a batch has one for each transaction and shows no more of what inputs spend.
    ["raw", listed && capabilities.raw && raw(listed, capabilities.raw)],
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
    block: (asked) =>
      possible
        .map(({ read }) => read(asked))
        .reduce((first, next) => Effect.catchTag(first, "NodeRejected", () => next)),
    details: Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, summary)
      // Old Zebra versions say no size.
      const unsized = NodeJson.isRecord(answer) && answer.size === undefined && capabilities.raw !== undefined
      const hex = unsized ? yield* getBlock(asked.hash, capabilities.raw) : undefined
      const rawSize = typeof hex === "string" ? hex.length / 2 : undefined
      return yield* consistent(rpc, "getblock", () => NodeBlock.details(answer, asked, rawSize))
    })
  })
}
