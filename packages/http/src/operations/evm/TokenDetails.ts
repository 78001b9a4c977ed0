/** What a token's contract says of itself, after the newest block. */
import * as Amount from "@headwater/core/Amount"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { TokenDetailsNotFound } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { decodeAddress } from "../Field.ts"

type Operation = ChainOperations["tokenDetails"]

export const make = ({ chain, name: chainName }: ChainReader, freshness: Freshness<EvmConnection>): Operation => {
  const tokenDetails = Effect.fnUntraced(function* (request: Parameters<Operation>[0]) {
    const contract = yield* decodeAddress(chain, "contractAddress", request.contractAddress)
    const { evm } = yield* freshness.node
    const token = yield* evm.tokenDetails(contract)
    if (token === undefined) {
      return yield* new TokenDetailsNotFound({
        message: `${chainName} has no contract of a token of a known standard at this address`
      })
    }
    const { decimals, kind, name, symbol, totalSupply } = token
    return {
      ...{ name, symbol, standard: chain.tokenStandards?.[kind] ?? "" },
      ...(totalSupply === undefined || decimals === undefined
        ? {}
        : { fungibleValues: { decimals, totalSupply: Amount.format(totalSupply, decimals) } })
    }
  })
  return Effect.fn("TokenDetails.tokenDetails")((request: Parameters<Operation>[0]) =>
    freshness.orUnavailable(tokenDetails(request))
  )
}
