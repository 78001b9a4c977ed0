/** Heights and hashes of an EVM node's blocks: the newest, the newest final one, and the one at a height. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SteadyTime from "../../../SteadyTime.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent, type NodeRejected } from "../../node/NodeError.ts"
import type { Head } from "../../Source.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"

/** For how long a node that refused the `finalized` tag is not asked for it. */
const finalityRestMillis = 300_000

/** The node's words for a block that it does not have, yet or any more (EIP-4444): geth, Avalanche, anvil. */
export const missingWords =
  /block.*not found|header not found|unknown block|unfinalized|out ?of ?range|pruned history unavailable/i

export const missing = (rpc: JsonRpc, block: string) => new BlockMissing({ node: rpc.node, block })

/** A refusal, as `BlockMissing` where it says that the node does not have the block. */
export const missingOr = (rpc: JsonRpc, error: NodeRejected, block: string) =>
  missingWords.test(error.message) ? missing(rpc, block) : error

export const blockCall = (tag: string, full: boolean) => ({ method: "eth_getBlockByNumber", params: [tag, full] })

/** A header's height, hash and parent; `null` is a block that the node does not have. */
const headerOf = (rpc: JsonRpc, answer: unknown, block: string) =>
  answer === null
    ? Effect.fail(missing(rpc, block))
    : read(rpc, "eth_getBlockByNumber", () => {
        const json = Hex.object(answer, "block")
        return {
          height: Hex.integer(json.number, "block.number"),
          hash: Hex.hash(json.hash, "block.hash"),
          parent: Hex.hash(json.parentHash, "block.parentHash")
        }
      })

/** The newest block, and the newest final one of a node that knows the `finalized` tag. */
export const head = () => {
  let finalityRestsUntil = Number.NEGATIVE_INFINITY
  return Effect.fn("EvmSource.head")(function* (rpc: JsonRpc): Effect.fn.Return<Head, NodeError> {
    const now = yield* SteadyTime.millis
    const tags = finalityRestsUntil > now ? ["latest"] : ["latest", "finalized"]
    const [latest, finalized] = yield* rpc.results(tags.map((tag) => blockCall(tag, false)))
    const newest = yield* headerOf(rpc, yield* Effect.fromResult(latest!), "latest")
    if (finalized !== undefined && Result.isFailure(finalized)) finalityRestsUntil = now + finalityRestMillis
    const answer = finalized === undefined ? null : Result.getOrElse(finalized, () => null)
    const final = answer === null ? undefined : (yield* headerOf(rpc, answer, "finalized")).height
    return { ...newest, final: final === undefined || final > newest.height ? undefined : final }
  })
}

/** The hash of the block at a height. */
export const hashAt = Effect.fn("EvmSource.hashAt")(function* (
  rpc: JsonRpc,
  height: number
): Effect.fn.Return<Uint8Array, NodeError> {
  const tag = Hex.encodeQuantity(height)
  const answer = yield* Effect.catchTag(rpc.call("eth_getBlockByNumber", [tag, false]), "NodeRejected", (error) =>
    Effect.fail(missingOr(rpc, error, String(height)))
  )
  const header = yield* headerOf(rpc, answer, String(height))
  if (header.height === height) return header.hash
  const message = `asked for block ${height}, answered block ${header.height}`
  return yield* new NodeInconsistent({ node: rpc.node, method: "eth_getBlockByNumber", message })
})
