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

/** An address that nobody has: that a node answers for it says that the node has the method. */
const probe = Address.fromBytes(
  Uint8Array.of(0x76, 0xa9, 20, ...new TextEncoder().encode("headwater asks a key"), 0x88, 0xac)
)

/**
 * Whether the node answers a call. A node's or a proxy's list of allowed methods may refuse in the words of HTTP.
 */
const answers = (call: Effect.Effect<unknown, NodeError>): Effect.Effect<boolean, NodeError> =>
  call.pipe(
    Effect.as(true),
    Effect.catchIf(
      (error) =>
        error._tag === "NodeRejected" || (error._tag === "NodeUnreachable" && /^HTTP 40[0345]$/.test(error.message)),
      () => Effect.succeed(false)
    )
  )

/** `longCalls` is the client of calls that may take many minutes. */
export const make = (chain: Chain, rpc: JsonRpc, longCalls: JsonRpc = rpc): CoinSearch => {
  const textsOf = (addresses: ReadonlyArray<Address.AddressBytes>) =>
    addresses.flatMap((address) => Address.encode(chain, address) ?? [])

  const method = Effect.gen(function* () {
    if (yield* answers(TxOutSetScan.status(rpc))) return "scantxoutset"
    if (yield* answers(AddressIndex.byAddress(rpc, textsOf([probe])))) return "getaddressutxos"
    return undefined
  })

  const find: CoinSearch["find"] = Effect.fn("CoinSearch.find")(function* (addresses, ranges = []) {
    const found = yield* method
    if (found === undefined) return undefined
    const each = textsOf([...addresses, ...ranges.flatMap(({ addresses }) => addresses)])
    if (found === "getaddressutxos") return yield* pinned(rpc, found, AddressIndex.byAddress(longCalls, each))
    const byAddress = pinned(rpc, found, TxOutSetScan.ofAddresses(chain, longCalls, each))
    if (ranges.length === 0) return yield* byAddress
    const byRange = pinned(rpc, found, TxOutSetScan.ofBranches(chain, longCalls, textsOf(addresses), ranges))
    return yield* Effect.catchTag(byRange, "NodeRejected", () => byAddress)
  })

  return {
    isAvailable: Effect.map(method, (found) => found !== undefined),
    find,
    progress: Effect.map(TxOutSetScan.status(rpc), ({ progress }) => progress)
  }
}
