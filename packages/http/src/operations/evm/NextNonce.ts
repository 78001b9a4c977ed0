/** The nonce of an address's next transaction. */
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { decodeAddress } from "../Field.ts"

type Operation = ChainOperations["nextNonce"]

export const make = ({ chain }: ChainReader, freshness: Freshness<EvmConnection>): Operation => {
  const nextNonce = Effect.fnUntraced(function* (request: Parameters<Operation>[0]) {
    const address = yield* decodeAddress(chain, "address", request.address)
    const { evm } = yield* freshness.node
    return { nextAvailableNonce: yield* evm.nextNonce(address) }
  })
  return Effect.fn("NextNonce.nextNonce")((request: Parameters<Operation>[0]) =>
    freshness.orUnavailable(nextNonce(request))
  )
}
