/** `scantxoutset` of Bitcoin Core 0.17 and its descendants, which reads through all of a node's coins. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import type { Coin, CoinsAt } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import type { BranchRange } from "../../SideSources.ts"
import { refuse } from "./Malformed.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"
import * as NodeTransaction from "./NodeTransaction.ts"

const method = "scantxoutset"

const coinOf = (chain: Chain, item: unknown, i: number): Coin => {
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
}

const read = (chain: Chain, answer: unknown): Partial<CoinsAt> => {
  const found = NodeJson.record(answer, () => "the answer")
  // Somebody has ended it ("abort"), or a coin could not be read: what was found until then is named all the same.
  if (found.success === false) refuse("the search", "ended before it had read all coins")
  const coins = NodeJson.list(found.unspents, () => "unspents").map((item, i) => coinOf(chain, item, i))
  return found.bestblock === undefined
    ? { coins }
    : {
        coins,
        hash: NodeJson.hash(found.bestblock, () => "bestblock"),
        height: NodeJson.count(found.height, () => "height")
      }
}

/** `objects` say what to look for, each a descriptor with or without a range. */
const scan = (
  chain: Chain,
  rpc: JsonRpc,
  objects: ReadonlyArray<unknown>
): Effect.Effect<Partial<CoinsAt>, NodeError> =>
  Effect.flatMap(rpc.call(method, ["start", objects], "decimalText"), (answer) =>
    consistent(rpc, method, () => read(chain, answer))
  )

const byAddress = (addresses: ReadonlyArray<string>) => addresses.map((address) => `addr(${address})`)

/** The coins of addresses, given as text. */
export const ofAddresses = (chain: Chain, rpc: JsonRpc, addresses: ReadonlyArray<string>) =>
  scan(chain, rpc, byAddress(addresses))

/**
 * The coins of addresses and branches. Descriptors came without ranges, and are not known in every form by every node;
 * `range` is the last index.
 */
export const ofBranches = (
  chain: Chain,
  rpc: JsonRpc,
  addresses: ReadonlyArray<string>,
  ranges: ReadonlyArray<BranchRange>
) =>
  scan(chain, rpc, [
    ...byAddress(addresses),
    ...ranges.map(({ branch, count }) => ({ desc: Derivation.descriptor(branch), range: count - 1 }))
  ])

/** The search under way, if there is any. */
export const status = (rpc: JsonRpc): Effect.Effect<{ readonly progress: number | undefined }, NodeError> =>
  Effect.map(rpc.call(method, ["status"]), (answer) => ({
    progress: Predicate.isReadonlyObject(answer) && typeof answer.progress === "number" ? answer.progress : undefined
  }))
