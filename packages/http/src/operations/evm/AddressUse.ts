/** Whether addresses of a wallet are used: by the node's accounts, and by what is recorded. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader, Tip } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import type { Conflict } from "../../contract/Errors.ts"
import type * as NodeCalls from "../NodeCalls.ts"
import type * as Wallet from "../Wallet.ts"

/** Calls of the node for an address: balance and transaction count. */
const callsOfAddress = 2

const isRecorded = Effect.fnUntraced(function* (record: ChainReader, address: AddressBytes) {
  if ((yield* record.prunedTotals([address])).size > 0) return true
  for (const kind of ["coin", "token", "internal"] as const) {
    const { transfers } = yield* record.page(kind, address, { order: "ascending", limit: 1 })
    if (transfers.length > 0) return true
  }
  return false
})

/** At a block: what the node has of each address, and whether the record has anything of the others. */
export const lookupOf =
  (record: ChainReader) =>
  (
    evm: Pick<EvmNode, "accountsAt">,
    tip: Tip,
    takeCalls: NodeCalls.NodeCalls
  ): Wallet.AddressLookup<NodeError | Conflict> =>
    Effect.fnUntraced(function* (addresses) {
      yield* takeCalls(addresses.length * callsOfAddress)
      const accounts = yield* evm.accountsAt(addresses, tip.hash)
      return yield* Effect.forEach(addresses, (address, i) => {
        const { balance, nonce } = accounts[i]!
        const hasCoins = balance > 0n || nonce > 0
        const isUsed = hasCoins ? Effect.succeed(true) : Effect.orDie(isRecorded(record, address))
        return Effect.map(isUsed, (isUsed) => ({ address, balance, hasCoins, isUsed }))
      })
    })
