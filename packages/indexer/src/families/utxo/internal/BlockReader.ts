/**
 * Blocks from one chain's nodes, in the ways that they have: decoded by the node, as ids whose transactions are fetched
 * in batches, or raw.
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
export type Way = "decoded" | "transactions" | "raw"

export interface BlockReader {
  /** The ways that the node has, best first. A block that it refuses in one way is asked for in the next. */
  readonly ways: ReadonlyArray<Way>
  /** Reads and checks a block. */
  readonly block: (asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>
  readonly details: (asked: NodeBlock.Asked) => Effect.Effect<BlockDetails, NodeError>
}

type Read = (asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>

/** Makes the reader that a node's abilities allow, restricted to one way if wanted; fails where they allow none. */
export const make = (
  chain: Chain,
  rpc: JsonRpc,
  abilities: Capabilities,
  only: Way | undefined
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

  const { listed } = abilities
  const reads: ReadonlyArray<readonly [Way, Read | undefined]> = [
    ["decoded", abilities.decoded && decoded(abilities.decoded)],
    ["transactions", listed && abilities.txindex ? transactions(listed, abilities.verbose) : undefined],
    ["raw", listed && abilities.raw && raw(listed, abilities.raw)]
  ]
  const possible = reads.flatMap(([way, read]) =>
    read !== undefined && (only === undefined || way === only) ? [{ way, read }] : []
  )
  const summary = listed ?? abilities.decoded
  if (possible.length === 0 || summary === undefined) {
    const message = `shows a block's transactions in no ${only === undefined ? "known way" : `way of "${only}"`}`
    return Effect.fail(new NodeInconsistent({ node: rpc.node, method: "getblock", message }))
  }

  return Effect.succeed({
    ways: possible.map(({ way }) => way),
    block: (asked) =>
      possible
        .map(({ read }) => read(asked))
        .reduce((first, next) => Effect.catchTag(first, "NodeRejected", () => next)),
    details: Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, summary)
      // Old Zebra versions say no size.
      const unsized = NodeJson.isRecord(answer) && answer.size === undefined && abilities.raw !== undefined
      const hex = unsized ? yield* getBlock(asked.hash, abilities.raw) : undefined
      const rawSize = typeof hex === "string" ? hex.length / 2 : undefined
      return yield* consistent(rpc, "getblock", () => NodeBlock.details(answer, asked, rawSize))
    })
  })
}
