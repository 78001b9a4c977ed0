/**
 * Finds the unspent outputs of addresses, as of one block, in what a node has for that: `scantxoutset` of Bitcoin Core
 * 0.17 and its descendants, which reads through all of its coins, or the address index of Zebra and zcashd.
 */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import type { Coin, CoinsAt } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import { consistent } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"

/** The addresses of a branch at the indices 0 … `count` − 1. */
export interface Range {
  readonly branch: Derivation.Branch
  readonly count: number
}

/**
 * The coins of addresses; undefined where the node has no way to find them. May take minutes. Fails where the node's
 * chain moves on while it answers and its answer does not say of which block it is: worth another try.
 *
 * Where `ranges` are the same addresses, nodes that read descriptors with a range are asked for these.
 */
export type CoinSearch = (
  addresses: ReadonlyArray<Address.AddressBytes>,
  ranges?: ReadonlyArray<Range>
) => Effect.Effect<CoinsAt | undefined, NodeError>

const methodNotFound = -32601

/** `rpc` has to have the patience that a search takes. */
export const make = (chain: Chain, rpc: JsonRpc): CoinSearch => {
  const tip = Effect.flatMap(rpc.call("getblockchaininfo", []), (answer) =>
    consistent(rpc, "getblockchaininfo", () => {
      const info = NodeJson.record(answer, () => "the answer")
      return {
        height: NodeJson.count(info.blocks, () => "blocks"),
        hash: NodeJson.hash(info.bestblockhash, () => "bestblockhash")
      }
    })
  )

  /** Nodes that do not say of which block their answer is have answered of the one that was newest before and after. */
  const pinned = Effect.fnUntraced(function* (method: string, search: Effect.Effect<Partial<CoinsAt>, NodeError>) {
    const before = yield* tip
    const { coins = [], hash, height } = yield* search
    if (hash !== undefined && height !== undefined) return { height, hash, coins }
    const after = yield* tip
    if (Buffer.compare(before.hash, after.hash) !== 0) {
      return yield* new NodeInconsistent({ node: rpc.node, method, message: "a block came while coins were searched" })
    }
    return { ...before, coins }
  })

  const texts = (addresses: ReadonlyArray<Address.AddressBytes>) =>
    addresses.flatMap((address) => Address.encode(chain, address) ?? [])

  /** `objects` say what to look for, each a descriptor with or without a range. */
  const scan = (objects: ReadonlyArray<unknown>) =>
    pinned(
      "scantxoutset",
      Effect.flatMap(rpc.call("scantxoutset", ["start", objects], "decimalText"), (answer) =>
        consistent(rpc, "scantxoutset", (): Partial<CoinsAt> => {
          const found = NodeJson.record(answer, () => "the answer")
          const coins = NodeJson.list(found.unspents, () => "unspents").map((item, i): Coin => {
            const coin = NodeJson.record(item, () => `unspents[${i}]`)
            const output = { value: coin.amount, scriptPubKey: { hex: coin.scriptPubKey } }
            return {
              outpoint: {
                transactionId: NodeJson.hash(coin.txid, () => `unspents[${i}].txid`),
                index: NodeJson.count(coin.vout, () => `unspents[${i}].vout`)
              },
              ...NodeTransaction.readOutput(chain, output, () => `unspents[${i}]`),
              height: NodeJson.count(coin.height, () => `unspents[${i}].height`)
            }
          })
          return found.bestblock === undefined
            ? { coins }
            : {
                coins,
                hash: NodeJson.hash(found.bestblock, () => "bestblock"),
                height: NodeJson.count(found.height, () => "height")
              }
        })
      )
    )

  const index = (addresses: ReadonlyArray<Address.AddressBytes>) =>
    pinned(
      "getaddressutxos",
      Effect.flatMap(
        rpc.call("getaddressutxos", [{ addresses: texts(addresses), chainInfo: true }], "decimalText"),
        (answer) =>
          consistent(rpc, "getaddressutxos", (): Partial<CoinsAt> => {
            const found = Array.isArray(answer) ? { utxos: answer } : NodeJson.record(answer, () => "the answer")
            const coins = NodeJson.list(found.utxos, () => "utxos").map((item, i): Coin => {
              const coin = NodeJson.record(item, () => `utxos[${i}]`)
              return {
                outpoint: {
                  transactionId: NodeJson.hash(coin.txid, () => `utxos[${i}].txid`),
                  index: NodeJson.count(coin.outputIndex, () => `utxos[${i}].outputIndex`)
                },
                script: Address.fromBytes(NodeJson.bytes(coin.script, () => `utxos[${i}].script`)),
                amount: BigInt(NodeJson.count(coin.satoshis, () => `utxos[${i}].satoshis`)),
                height: NodeJson.count(coin.height, () => `utxos[${i}].height`)
              }
            })
            return "hash" in found && found.hash !== undefined
              ? {
                  coins,
                  hash: NodeJson.hash(found.hash, () => "hash"),
                  height: NodeJson.count(found.height, () => "height")
                }
              : { coins }
          })
      )
    )

  const scanAddresses = (addresses: ReadonlyArray<Address.AddressBytes>) =>
    scan(texts(addresses).map((address) => `addr(${address})`))

  /** Descriptors came without ranges, and are not known in every form by every node: `range` is the last index. */
  const scanRanges = (ranges: ReadonlyArray<Range>) =>
    scan(ranges.map(({ branch, count }) => ({ desc: Derivation.descriptor(branch), range: count - 1 })))

  return (addresses, ranges) => {
    const byAddress = scanAddresses(addresses)
    const byRange =
      ranges === undefined ? byAddress : Effect.catchTag(scanRanges(ranges), "NodeRejected", () => byAddress)
    return [byRange, index(addresses)].reduceRight(
      (otherwise: Effect.Effect<CoinsAt | undefined, NodeError>, search) =>
        Effect.catchTag(search, "NodeRejected", (error) =>
          error.code === methodNotFound ? otherwise : Effect.fail(error)
        ),
      Effect.undefined
    )
  }
}
