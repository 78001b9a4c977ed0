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

/** What the node is on if it is not on `chain`; undefined where it is, or where nothing says otherwise. */
const otherThan = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  rpc: JsonRpc,
  called: unknown
): Effect.fn.Return<string | undefined, NodeError> {
  const name = Chain.nameOf(chain)
  const isLive = chain.networkKind === "live"
  const first = yield* hashAt(rpc, 0)
  if (first === undefined) {
    return typeof called === "string" && (called === "main") !== isLive ? `the network "${called}"` : undefined
  }
  const candidates = withGenesis(first)
  const names = candidates.map(Chain.nameOf)
  if (!names.includes(name)) {
    // A private test network has a first block of its own.
    return names.join(" or ") || (isLive ? `a network whose first block is ${first}` : undefined)
  }
  for (const candidate of candidates) {
    const { fork } = candidate.utxo!
    const forked = Chain.nameOf(candidate)
    const isOwn = forked === name
    if (fork === undefined || !(isOwn || fork.from === chain.blockchain)) continue
    const hash = yield* hashAt(rpc, fork.height)
    if (hash === undefined || (hash === fork.hash) === isOwn) continue
    return isOwn ? `${fork.from}/${chain.network}` : forked
  }
  return undefined
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
  Effect.map(otherThan(chain, rpc, called), (other) =>
    other === undefined
      ? Capability.has(Capability.network, Chain.nameOf(chain))
      : Capability.lacks(
          Capability.network,
          `the node is on ${other}, not on ${Chain.nameOf(chain)}: it belongs to another network; correct the node's URL`
        )
  )
