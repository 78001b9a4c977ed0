/**
 * Which network a node of the Bitcoin family is on. Its first block says so; Bitcoin Cash shares Bitcoin's first block,
 * so there the block in which they parted decides. Sources of the hashes: each chain's `chainparams.cpp`.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Capability from "../../Capability.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"

/** The first block of every network, by what it is called; several where one name stands for several networks. */
const genesis: Readonly<Record<string, ReadonlyArray<string>>> = {
  "bitcoin/mainnet": ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"],
  // testnet3, testnet4, signet
  "bitcoin/testnet": [
    "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043",
    "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"
  ],
  "bitcoin/regtest": ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"],
  "bitcoin-cash/mainnet": ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"],
  // testnet3; testnet4 and chipnet
  "bitcoin-cash/testnet": [
    "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    "000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b"
  ],
  "bitcoin-cash/regtest": ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"],
  "litecoin/mainnet": ["12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"],
  "litecoin/testnet": ["4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"],
  "litecoin/regtest": ["530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"],
  "dogecoin/mainnet": ["1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691"],
  "dogecoin/testnet": ["bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e"],
  "dogecoin/regtest": ["3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5"],
  "dash/mainnet": ["00000ffd590b1485b3caadc19b22e6379c733355108f107a430458cdf3407ab6"],
  "dash/testnet": ["00000bafbc94add76cb75e2ec92894837288a481e5c005f6563d91623bf8bc2c"],
  "dash/regtest": ["000008ca1832a4baf228eb1553c03d3a2c8e02399550dd6ea8d65cec3ef23d2e"],
  "zcash/mainnet": ["00040fe8ec8471911baa1db1266ea15dd06b4a8a5c453883c000b031973dce08"],
  "zcash/testnet": ["05a60a92d99d85997cce3b87616c089f6124d7342af37106edc76126334a2c38"],
  "zcash/regtest": ["029f11d80ef9765602235e1bc9727e3eb6ba20839319f761fee920d63401e327"]
}

/** The first block of Bitcoin Cash that Bitcoin does not have (UAHF). */
const parting: Readonly<Record<string, { readonly height: number; readonly hash: string }>> = {
  mainnet: { height: 478_559, hash: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec" },
  testnet: { height: 1_155_876, hash: "00000000000e38fef93ed9582a7df43815d5c2ba9fd37ef70c9a0ea4a285b8f5" }
}

const shared = new Set(["bitcoin", "bitcoin-cash"])

/** The hash at a height as the node says it; undefined where it has no such block, or does not say. */
const hashAt = (rpc: JsonRpc, height: number): Effect.Effect<string | undefined, NodeError> =>
  Effect.map(rpc.results([{ method: "getblockhash", params: [height] }]), ([answer]) => {
    const hash = Result.getOrUndefined(answer!)
    return typeof hash === "string" ? hash.toLowerCase() : undefined
  })

/** The network that a first block belongs to, in words. */
const ofGenesis = (hash: string): string | undefined =>
  Object.entries(genesis)
    .filter(([, hashes]) => hashes.includes(hash))
    .map(([name]) => name)
    .join(" or ") || undefined

/** What the node is on if it is not on `chain`; undefined where it is, or where nothing says otherwise. */
const otherThan = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  rpc: JsonRpc,
  called: unknown
): Effect.fn.Return<string | undefined, NodeError> {
  const name = Chain.nameOf(chain)
  const first = yield* hashAt(rpc, 0)
  if (first === undefined) {
    const main = chain.network === "mainnet"
    return typeof called === "string" && (called === "main") !== main ? `the network "${called}"` : undefined
  }
  if (!genesis[name]!.includes(first)) {
    const known = ofGenesis(first)
    // A private test network has a first block of its own.
    return known ?? (chain.network === "mainnet" ? `a network whose first block is ${first}` : undefined)
  }
  const fork = parting[chain.network]
  if (
    fork === undefined ||
    !shared.has(chain.blockchain) ||
    !genesis[`bitcoin/${chain.network}`]![0]!.includes(first)
  ) {
    return undefined
  }
  const parted = yield* hashAt(rpc, fork.height)
  if (parted === undefined || (parted === fork.hash) === (chain.blockchain === "bitcoin-cash")) return undefined
  return parted === fork.hash ? `bitcoin-cash/${chain.network}` : `bitcoin/${chain.network}`
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
