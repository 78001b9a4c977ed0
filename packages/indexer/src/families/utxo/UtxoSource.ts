/** Blocks, mempool and block details of the Bitcoin family. */
import type { BlockDetails } from "@headwater/core/BlockDetails"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { type Broadcasting, defaultMaximumFee } from "../Broadcasting.ts"
import * as Capability from "../Capability.ts"
import * as Heads from "../node/Heads.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import type * as Proof from "../node/Proof.ts"
import type * as SideSources from "../SideSources.ts"
import type { Head, Source } from "../Source.ts"
import type { Announcements } from "./Announcements.ts"
import * as BlockExplorer from "./BlockExplorer.ts"
import * as CoinSearch from "./CoinSearch.ts"
import * as BlockReader from "./internal/BlockReader.ts"
import * as Capabilities from "./internal/Capabilities.ts"
import * as HashAt from "./internal/HashAt.ts"
import * as HashesAhead from "./internal/HashesAhead.ts"
import * as Network from "./internal/Network.ts"
import { reading } from "./internal/Malformed.ts"
import { consistent } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as UtxoBroadcasting from "./Broadcasting.ts"
import * as Mempool from "./Mempool.ts"

export interface UtxoSource extends Source {
  /** The newest block in the words of interface section 2.8. */
  readonly latestDetails: Effect.Effect<BlockDetails, NodeError>
  readonly blocks: BlockExplorer.BlockExplorer
  /** What the node was found to allow at start. */
  readonly capable: Capabilities.Capabilities
  readonly mempool: SideSources.Mempool
  readonly broadcasting: Broadcasting
  /** Finds the coins of addresses that were not watched when they were paid. */
  readonly search: SideSources.CoinSearch
}

export interface UtxoSourceOptions {
  /** Reads blocks by this strategy only; by default by the best that the node allows. */
  readonly strategy?: BlockReader.Strategy
  /** The client of calls that may take many minutes; by default the same as of all others. */
  readonly longCalls?: JsonRpc
  /** As in `Heads.Options`. */
  readonly quorum?: number
  /** As in the settings. */
  readonly maximumFee?: number
  /** How far blocks are proved; `roots` by default. */
  readonly verify?: Proof.Level
  /** The node's announcements, if it makes any. */
  readonly announcements?: Announcements
}

interface Tip {
  readonly height: number
  /** As text and as bytes. */
  readonly hex: string
  readonly hash: Uint8Array
  /** Whether old blocks are thrown away; undefined where the node does not say it. */
  readonly pruned: boolean | undefined
  readonly pruneHeight: number | undefined
  /** The network by the node's own name for it. */
  readonly network: unknown
}

const described: Record<BlockReader.Strategy, string> = {
  decoded: "getblock shows decoded transactions",
  raw: "raw blocks are decoded here: the node itself shows no more of them",
  transactions: "the node shows blocks as ids alone: getrawtransaction is asked for each in batches (txindex=1)"
}

/** Whether inputs show what they spend; undefined where no block that was looked at has an input. */
const prevouts = (shown: boolean | undefined) =>
  shown === true
    ? Capability.has("prevouts", "inputs show what they spend (getblock verbosity 3)")
    : Capability.lacks(
        "prevouts",
        shown === undefined
          ? "the newest blocks have no input by which to tell whether the node shows what inputs spend"
          : "inputs do not show what they spend, so the UTXO set says it: coins that an address had before it was " +
              "watched are not recognised when they are spent",
        {
          ...(shown === undefined ? { unsure: true } : {}),
          advice:
            "Bitcoin Core 23, Bitcoin Cash Node 28 and Dash Core 23 show it; elsewhere subscribe to addresses before they " +
            'are first paid, or follow the chain anew with start = 0 and record = "all"; an index of transactions (txindex=1) ' +
            "decides amounts that are in doubt"
        }
      )

const history = ({ pruned, pruneHeight }: Tip) => {
  if (pruned === false) return Capability.has("history", "the node keeps all blocks")
  if (pruned === undefined)
    return Capability.presumed(
      "history",
      "the node does not say whether it keeps all blocks",
      "see whether it is pruned"
    )
  const from = pruneHeight === undefined ? "does not keep all blocks" : `has blocks from height ${pruneHeight} on`
  return Capability.lacks("history", `the node is pruned and ${from}: a replay cannot begin below`, {
    advice: "use a node that keeps all blocks, if ever the chain is to be read again from below"
  })
}

/** How long a node may take to say whether it searches coins, which nothing else waits for. */
const searchTimeout = "3 seconds"

/** Whether the coins of addresses and wallets can be had that were paid before they were watched. */
const coinSearch = ({ isAvailable }: SideSources.CoinSearch): Effect.Effect<Capability.Capability> => {
  const name = "coin search"
  const advice =
    "Bitcoin Core 0.17 and its descendants have scantxoutset, for this user too if rpcwhitelist allows it; Zebra has an " +
    'index of addresses; elsewhere follow the chain anew with start = 0 and record = "all"'
  return Effect.match(Effect.timeout(isAvailable, searchTimeout), {
    onFailure: ({ message }) =>
      Capability.presumed(name, `the node has not said whether it has one: ${message}`, advice),
    onSuccess: (available) =>
      available
        ? Capability.has(name, "the node searches the coins of addresses")
        : Capability.lacks(
            name,
            "the node has neither scantxoutset nor an index of addresses: of wallets and addresses that were paid before " +
              "they were watched, the coins stay unknown, and their balances are refused",
            { advice }
          )
  })
}

/** The hash that a ChainLock names, if it can be read. */
const lockedHash = (hash: unknown): Uint8Array | undefined =>
  Result.getOrUndefined(reading(() => NodeJson.hash(hash, () => "blockhash")))

/**
 * Opens the source of a UTXO chain: asks its node which strategies of reading it allows. Fails where the node cannot be
 * reached or shows blocks in no known way.
 */
export const make = Effect.fn("UtxoSource.make")(function* (
  chain: Chain,
  rpc: Nodes,
  options: UtxoSourceOptions = {}
): Effect.fn.Return<UtxoSource, NodeError> {
  const tipOf = (rpc: JsonRpc) =>
    Effect.flatMap(rpc.call("getblockchaininfo", []), (answer) =>
      consistent(rpc, "getblockchaininfo", (): Tip => {
        const info = NodeJson.record(answer, () => "the answer")
        const hash = NodeJson.hash(info.bestblockhash, () => "bestblockhash")
        return {
          height: NodeJson.count(info.blocks, () => "blocks"),
          hash,
          hex: Buffer.from(hash).toString("hex"),
          pruned: typeof info.pruned === "boolean" ? info.pruned : undefined,
          pruneHeight: typeof info.pruneheight === "number" ? info.pruneheight : undefined,
          network: info.chain
        }
      })
    )
  const tip = tipOf(rpc)
  const { announcements } = options
  const atStart = yield* tip
  const network = yield* Network.capability(chain, rpc, atStart.network)
  const capabilities = yield* Capabilities.find(rpc, atStart.hex)
  const reader = yield* BlockReader.make(chain, rpc, capabilities, {
    only: options.strategy,
    verify: options.verify ?? "roots"
  })
  const [strategy] = reader.strategies

  /** A ChainLock (DIP-8) is final at once; none yet, or one ahead of this node's chain, says nothing. */
  const chainLocked = (rpc: JsonRpc, height: number) =>
    rpc.call("getbestchainlock", []).pipe(
      Effect.map((lock) =>
        Predicate.isReadonlyObject(lock) && lock.known_block !== false && Number.isSafeInteger(lock.height)
          ? { final: lock.height as number, finalHash: lockedHash(lock.blockhash) }
          : undefined
      ),
      Effect.map((locked) => (locked !== undefined && locked.final <= height ? locked : undefined)),
      Effect.catchTag("NodeRejected", () => Effect.undefined)
    )

  let newest = atStart.height
  const hexOf = HashesAhead.make()

  const search = CoinSearch.make(chain, rpc, options.longCalls)

  const heads = Heads.make(
    chain,
    rpc,
    {
      name: ({ node }) => node,
      head: Effect.fnUntraced(function* (one: JsonRpc) {
        const { height, hash } = yield* tipOf(one)
        newest = height
        const locked = chain.utxo!.chainLocks ? yield* chainLocked(one, height) : undefined
        return { height, hash, final: undefined, ...locked } satisfies Head
      }),
      hashAt: HashAt.bytes,
      block: (one, height) => Effect.flatMap(hexOf(one, height, newest), (hash) => reader.block(one, { hash, height }))
    },
    options
  )

  return {
    chain,
    ...heads,
    ...(rpc.blocksOfRequest && { blocksOfRequest: rpc.blocksOfRequest }),
    network: Effect.flatMap(tip, (now) => Network.capability(chain, rpc, now.network)),
    resting: rpc.resting,
    capabilities: Effect.map(Effect.all([tip, coinSearch(search)]), ([now, search]) => [
      Capability.has("blocks", described[strategy!]),
      prevouts(strategy === "decoded" ? capabilities.prevouts : false),
      history(now),
      search,
      network
    ]),
    ranges: Effect.map(tip, ({ height, pruned, pruneHeight }) =>
      pruned === false ? [[0, height] as const] : pruneHeight === undefined ? [] : [[pruneHeight, height] as const]
    ),
    latestDetails: Effect.flatMap(tip, ({ hex, height }) => reader.details(rpc, { hash: hex, height })),
    blocks: BlockExplorer.make(rpc, reader, tipOf),
    capable: capabilities,
    mempool: {
      ...Mempool.make(chain, rpc, capabilities.verbose),
      ...(announcements && { announced: announcements.transaction })
    },
    broadcasting: UtxoBroadcasting.make(chain, rpc, {
      maximumFee: options.maximumFee ?? defaultMaximumFee,
      verbose: capabilities.verbose
    }),
    search,
    ...(announcements && {
      announced: announcements.block,
      announcedHead: () => {
        const hash = announcements.blockHash()
        return hash && { hash }
      }
    })
  }
})
