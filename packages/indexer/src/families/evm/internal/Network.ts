/**
 * Which network an EVM node is on. The node's chain id is no more than the node's word: the first block proves the
 * network, and where networks share a first block, a block that only one of them has.
 */
import * as Chain from "@headwater/core/chains/Chain"
import type { EvmNetwork, KnownBlock } from "@headwater/core/evm/EvmFamily"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Capability from "../../Capability.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import type * as Hex from "./Hex.ts"

interface Public {
  readonly name: string
  readonly network: EvmNetwork
}

/** The public networks of the family, with the facts by which they are known. */
const publicNetworks: ReadonlyArray<Public> = Chain.all.flatMap((chain) => {
  const { chainId, genesis, ownBlock } = chain.evm ?? {}
  return chainId === undefined || genesis === undefined
    ? []
    : [{ name: Chain.nameOf(chain), network: { chainId, genesis, ...(ownBlock && { ownBlock }) } }]
})

/** The hash of the node's block at a height; undefined where the node does not show one. */
type HashAt = (height: number) => string | undefined

/** Why blocks do not prove the network; undefined where they do. Fails with the other network that the node is on. */
const doubt = (
  { name, network: { genesis, ownBlock } }: Public,
  hashAt: HashAt
): Result.Result<string | undefined, string> => {
  const first = hashAt(0)
  if (first === undefined) return Result.succeed("the node does not show block 0")
  const sharing = publicNetworks.filter(({ network }) => network.genesis === first)
  if (first !== genesis) {
    return Result.fail(sharing.map((other) => other.name).join(" or ") || `a network whose block 0 is ${first}`)
  }
  const others = sharing.filter((other) => other.name !== name)
  for (const { name, network } of others) {
    if (network.ownBlock && hashAt(network.ownBlock.height) === network.ownBlock.hash) return Result.fail(name)
  }
  const [deciding]: ReadonlyArray<KnownBlock | undefined> = ownBlock
    ? [ownBlock]
    : others.map(({ network }) => network.ownBlock)
  if (deciding === undefined) return Result.succeed(undefined)
  const shown = hashAt(deciding.height)
  if (shown === undefined) {
    const names = others.map((other) => other.name).join(" and ")
    return Result.succeed(`${names} has the same block 0, and the node does not show block ${deciding.height}`)
  }
  return ownBlock !== undefined && shown !== ownBlock.hash
    ? Result.fail(`a network whose block ${ownBlock.height} is ${shown}`)
    : Result.succeed(undefined)
}

const judge = (chain: Chain.Chain, chainId: number | undefined, hashAt: HashAt): Capability.Capability => {
  const name = Chain.nameOf(chain)
  const known = publicNetworks.find((one) => one.name === name)
  if (known === undefined) {
    return chainId === undefined
      ? Capability.networkPresumed("the node does not say its chain id")
      : Capability.has(Capability.network, `chain id ${chainId} of a development network`)
  }
  if (chainId !== undefined && chainId !== known.network.chainId) {
    return Capability.networkWrong(`the node is on chain id ${chainId}, not ${known.network.chainId}`)
  }
  const word = chainId === undefined ? "" : `; chain id ${chainId} is the node's word alone`
  return Capability.networkByBlocks(
    name,
    Result.map(doubt(known, hashAt), (why) => why && `${why}${word}`)
  )
}

/** Asks the node for the blocks that prove its network. `chainId` is its answer to `eth_chainId`. */
export const capability = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  rpc: JsonRpc,
  chainId: Result.Result<unknown, NodeRejected>
): Effect.fn.Return<Capability.Capability, NodeError> {
  const id = Number(Result.getOrUndefined(chainId) ?? Number.NaN)
  const own = chain.evm?.genesis
  const heights = publicNetworks.flatMap(({ network: { genesis, ownBlock } }) =>
    ownBlock !== undefined && genesis === own ? [ownBlock.height] : []
  )
  const asked = own === undefined ? [] : [...new Set([0, ...heights])]
  const answers = yield* rpc.results(
    asked.map((height) => ({ method: "eth_getBlockByNumber", params: [`0x${height.toString(16)}`, false] }))
  )
  const hashes = new Map(
    answers.flatMap((answer, i): ReadonlyArray<readonly [number, string]> => {
      const { hash } = (Result.getOrUndefined(answer) ?? {}) as Hex.Json
      return typeof hash === "string" ? [[asked[i]!, hash.toLowerCase()]] : []
    })
  )
  return judge(chain, Number.isNaN(id) ? undefined : id, (height) => hashes.get(height))
})
