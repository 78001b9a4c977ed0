/** Blocks, mempool and block details of the Bitcoin family. */
import type { BlockDetails } from "@headwater/core/BlockDetails"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import type { Capability, Head, Source } from "../Source.ts"
import type { Announcements } from "./Announcements.ts"
import * as CoinSearch from "./CoinSearch.ts"
import * as BlockReader from "./internal/BlockReader.ts"
import * as Capabilities from "./internal/Capabilities.ts"
import * as Network from "./internal/Network.ts"
import { consistent, orMissing } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as Mempool from "./Mempool.ts"

export interface UtxoSource extends Source {
  /** The newest block in the words of interface section 2.8. */
  readonly latestDetails: Effect.Effect<BlockDetails, NodeError>
  readonly mempool: Mempool.Mempool
  /** Finds the coins of addresses that were not watched when they were paid. */
  readonly search: CoinSearch.CoinSearch
}

export interface UtxoSourceOptions {
  /** Reads blocks in this way only; by default in the best that the node has. */
  readonly way?: BlockReader.Way
  /** Calls that may take many minutes go this way; by default as all others. */
  readonly patient?: JsonRpc
  /** What the node says without being asked. */
  readonly announcements?: Announcements
}

interface Tip {
  readonly height: number
  /** As text and as bytes. */
  readonly hex: string
  readonly hash: Uint8Array
  readonly pruneHeight: number | undefined
  /** What the node calls its network. */
  readonly network: unknown
}

const described: Record<BlockReader.Way, string> = {
  decoded: "getblock shows decoded transactions",
  transactions: "the node decodes no blocks: getblock lists ids, and getrawtransaction is asked for each in batches",
  raw: "the node decodes no blocks and has no index of transactions (txindex=1): raw blocks are decoded here"
}

const capabilitiesOf = (
  way: BlockReader.Way,
  abilities: Capabilities.Capabilities,
  tip: Tip,
  network: Capability
): ReadonlyArray<Capability> => [
  { name: "blocks", available: true, detail: described[way] },
  {
    name: "prevouts",
    available: way === "decoded" && abilities.prevouts !== false,
    detail:
      "Without them the output map says what an input spends: coins that were received before the start height are " +
      "not recognised when they are spent. Bitcoin Core 23 and Bitcoin Cash Node 28 have them (getblock verbosity 3)."
  },
  {
    name: "history",
    available: tip.pruneHeight === undefined,
    detail:
      tip.pruneHeight === undefined
        ? "The node keeps all blocks."
        : `The node is pruned and has blocks from height ${tip.pruneHeight} on: the start height must not be below.`
  },
  network
]

/**
 * Opens the source of a UTXO chain: asks its node which ways of reading it has. Fails where the node cannot be reached
 * or shows blocks in no known way.
 */
export const make = Effect.fn("UtxoSource.make")(function* (
  chain: Chain,
  rpc: JsonRpc,
  options: UtxoSourceOptions = {}
): Effect.fn.Return<UtxoSource, NodeError> {
  const tip = Effect.flatMap(rpc.call("getblockchaininfo", []), (answer) =>
    consistent(rpc, "getblockchaininfo", (): Tip => {
      const info = NodeJson.record(answer, () => "the answer")
      const hash = NodeJson.hash(info.bestblockhash, () => "bestblockhash")
      return {
        height: NodeJson.count(info.blocks, () => "blocks"),
        hash,
        hex: Buffer.from(hash).toString("hex"),
        pruneHeight: info.pruned === true && typeof info.pruneheight === "number" ? info.pruneheight : undefined,
        network: info.chain
      }
    })
  )
  const { announcements } = options
  const atStart = yield* tip
  const network = yield* Network.capability(chain, rpc, atStart.network)
  const abilities = yield* Capabilities.find(rpc, atStart.hex)
  const reader = yield* BlockReader.make(chain, rpc, abilities, options.way)

  /** A ChainLock (DIP-8) is final at once; none yet, or one ahead of this node's chain, says nothing. */
  const chainLocked = (height: number) =>
    rpc.call("getbestchainlock", []).pipe(
      Effect.map((lock) =>
        NodeJson.isRecord(lock) && lock.known_block !== false && Number.isSafeInteger(lock.height)
          ? (lock.height as number)
          : undefined
      ),
      Effect.map((locked) => (locked !== undefined && locked <= height ? locked : undefined)),
      Effect.catchTag("NodeRejected", () => Effect.undefined)
    )

  const hexAt = Effect.fnUntraced(function* (height: number) {
    const answer = yield* orMissing(rpc, String(height))(rpc.call("getblockhash", [height]))
    const hash = yield* consistent(rpc, "getblockhash", () => NodeJson.hash(answer, () => "the hash"))
    return { hash, hex: Buffer.from(hash).toString("hex") }
  })

  return {
    chain,
    head: Effect.gen(function* () {
      const { height, hash } = yield* tip
      return {
        height,
        hash,
        final: chain.utxo!.chainLocks ? yield* chainLocked(height) : undefined
      } satisfies Head
    }),
    hashAt: (height) => Effect.map(hexAt(height), ({ hash }) => hash),
    blockAt: Effect.fnUntraced(function* (height: number) {
      const { hex } = yield* hexAt(height)
      return yield* reader.block({ hash: hex, height })
    }),
    capabilities: Effect.map(tip, (now) => capabilitiesOf(reader.ways[0]!, abilities, now, network)),
    latestDetails: Effect.flatMap(tip, ({ hex, height }) => reader.details({ hash: hex, height })),
    mempool: {
      ...Mempool.make(chain, rpc, abilities.verbose),
      ...(announcements && { announced: announcements.transaction })
    },
    search: CoinSearch.make(chain, options.patient ?? rpc),
    ...(announcements && { announced: announcements.block })
  }
})
