/**
 * Finds the unspent outputs of addresses, as of one block: by a node's `scantxoutset`, or by its index of addresses.
 */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import type { CoinSearch } from "../SideSources.ts"
import * as AddressIndex from "./internal/AddressIndex.ts"
import { consistent } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as TxOutSetScan from "./internal/TxOutSetScan.ts"

const methodNotFound = -32601

const tip = (rpc: JsonRpc) =>
  Effect.flatMap(rpc.call("getblockchaininfo", []), (answer) =>
    consistent(rpc, "getblockchaininfo", () => {
      const info = NodeJson.record(answer, () => "the answer")
      return {
        height: NodeJson.count(info.blocks, () => "blocks"),
        hash: NodeJson.hash(info.bestblockhash, () => "bestblockhash")
      }
    })
  )

/** Nodes that do not say of which block their answer is have answered of the one that was newest before and after. */
const pinned = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  method: string,
  search: Effect.Effect<Partial<CoinsAt>, NodeError>
): Effect.fn.Return<CoinsAt, NodeError> {
  const before = yield* tip(rpc)
  const { coins = [], hash, height } = yield* search
  if (hash !== undefined && height !== undefined) return { height, hash, coins }
  const after = yield* tip(rpc)
  if (Buffer.compare(before.hash, after.hash) !== 0) {
    return yield* new NodeInconsistent({ node: rpc.node, method, message: "a block came while coins were searched" })
  }
  return { ...before, coins }
})

/** The first search whose method the node has. */
const firstKnown = (searches: ReadonlyArray<Effect.Effect<CoinsAt, NodeError>>) =>
  searches.reduceRight(
    (otherwise: Effect.Effect<CoinsAt | undefined, NodeError>, search) =>
      Effect.catchTag(search, "NodeRejected", (error) =>
        error.code === methodNotFound ? otherwise : Effect.fail(error)
      ),
    Effect.undefined
  )

/** The timeout of `rpc` has to be as long as a search takes. */
export const make =
  (chain: Chain, rpc: JsonRpc): CoinSearch =>
  (addresses, ranges) => {
    const texts = addresses.flatMap((address) => Address.encode(chain, address) ?? [])
    const byAddress = pinned(rpc, "scantxoutset", TxOutSetScan.byAddress(chain, rpc, texts))
    const scan =
      ranges === undefined
        ? byAddress
        : Effect.catchTag(
            pinned(rpc, "scantxoutset", TxOutSetScan.byRange(chain, rpc, ranges)),
            "NodeRejected",
            () => byAddress
          )
    return firstKnown([scan, pinned(rpc, "getaddressutxos", AddressIndex.byAddress(rpc, texts))])
  }
