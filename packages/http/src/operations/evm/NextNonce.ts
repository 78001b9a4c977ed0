/** The nonce of an address's next transaction. */
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { decodeAddress } from "../Field.ts"

export const make = ({ chain }: ChainReader, freshness: Freshness<EvmConnection>): ChainOperations["nextNonce"] =>
  Effect.fn("NextNonce.nextNonce")(function* (request) {
    const address = yield* decodeAddress(chain, "address", request.address)
    const { evm } = yield* freshness.node
    return { nextAvailableNonce: yield* evm.nextNonce(address) }
  }, freshness.orUnavailable)
