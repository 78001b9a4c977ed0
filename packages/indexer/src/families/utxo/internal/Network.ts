/**
 * Which network a node of the Bitcoin family is on. The first block says so; where chains share a first block, the block
 * at which one forked from the other decides.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Capability from "../../Capability.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"

/** The hash at a height as the node says it; undefined where it has no such block, or does not say. */
const hashAt = (rpc: JsonRpc, height: number): Effect.Effect<string | undefined, NodeError> =>
  Effect.map(rpc.results([{ method: "getblockhash", params: [height] }]), ([answer]) => {
    const hash = Result.getOrUndefined(answer!)
    return typeof hash === "string" ? hash.toLowerCase() : undefined
  })

/** The networks that begin with a block. */
const withGenesis = (hash: string): ReadonlyArray<Chain.Chain> =>
  Chain.all.filter(({ utxo }) => utxo?.genesis.includes(hash))

/** Why blocks do not prove the network; undefined where they do. Fails with the other network that the node is on. */
const doubt = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  rpc: JsonRpc,
  called: unknown
): Effect.fn.Return<Result.Result<string | undefined, string>, NodeError> {
  const name = Chain.nameOf(chain)
  const isLive = chain.networkKind === "live"
  const first = yield* hashAt(rpc, 0)
  if (first === undefined) {
    return typeof called === "string" && (called === "main") !== isLive
      ? Result.fail(`the network "${called.slice(0, 20)}"`)
      : Result.succeed("the node does not show block 0")
  }
  const candidates = withGenesis(first)
  const names = candidates.map(Chain.nameOf)
  if (!names.includes(name)) {
    if (names.length > 0) return Result.fail(names.join(" or "))
    // A private test network has a first block of its own.
    const own = `a network whose first block is ${first.slice(0, 64)}`
    return isLive ? Result.fail(own) : Result.succeed(`the node is on ${own}, which is no public network's`)
  }
  for (const candidate of candidates) {
    const { fork } = candidate.utxo!
    const forked = Chain.nameOf(candidate)
    const isOwn = forked === name
    if (fork === undefined || !(isOwn || fork.from === chain.blockchain)) continue
    const hash = yield* hashAt(rpc, fork.height)
    if (hash === undefined) {
      return Result.succeed(
        `${names.join(" and ")} have the same block 0, and the node does not show block ${fork.height}`
      )
    }
    if ((hash === fork.hash) !== isOwn) return Result.fail(isOwn ? `${fork.from}/${chain.network}` : forked)
  }
  return Result.succeed(undefined)
})

/**
 * Whether the node is on the chain's network. `called` is the name that the node gives its network (`chain` of
 * `getblockchaininfo`), which counts where it shows no first block.
 */
export const capability = (
  chain: Chain.Chain,
  rpc: JsonRpc,
  called: unknown
): Effect.Effect<Capability.Capability, NodeError> =>
  Effect.map(doubt(chain, rpc, called), (found) => Capability.networkByBlocks(Chain.nameOf(chain), found))
