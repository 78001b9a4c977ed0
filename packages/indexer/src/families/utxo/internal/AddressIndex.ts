/** `getaddressutxos`: the address index of Zebra and zcashd. */
import * as Address from "@headwater/core/address/Address"
import type { Coin, CoinsAt } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

const method = "getaddressutxos"

const coinOf = (item: unknown, i: number): Coin => {
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
}

/** A node that does not know `chainInfo` answers with the list alone. */
const read = (answer: unknown): Partial<CoinsAt> => {
  const found = Array.isArray(answer) ? { utxos: answer } : NodeJson.record(answer, () => "the answer")
  const coins = NodeJson.list(found.utxos, () => "utxos").map(coinOf)
  return "hash" in found && found.hash !== undefined
    ? {
        coins,
        hash: NodeJson.hash(found.hash, () => "hash"),
        height: NodeJson.count(found.height, () => "height")
      }
    : { coins }
}

/** The coins of addresses, given as text. */
export const byAddress = (rpc: JsonRpc, addresses: ReadonlyArray<string>): Effect.Effect<Partial<CoinsAt>, NodeError> =>
  Effect.flatMap(rpc.call(method, [{ addresses, chainInfo: true }], "decimalText"), (answer) =>
    consistent(rpc, method, () => read(answer))
  )
