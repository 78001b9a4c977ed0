/** What a token's contract says of itself, after the newest block. */
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as TokenDetails from "@headwater/indexer/families/evm/TokenDetails"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { TokenDetailsNotFound } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { decodeAddress } from "../Field.ts"

type Fetch = (contract: AddressBytes) => Effect.Effect<TokenDetails.TokenDetails | undefined, NodeError>

/** `fetchOf`: how a connection asks a contract. */
export const make = <C extends ConnectedNode>(
  { chain, name: chainName }: ChainReader,
  freshness: Freshness<C>,
  fetchOf: (connection: C) => Fetch
): ChainOperations["tokenDetails"] =>
  Effect.fn("TokenDetails.tokenDetails")(function* (request) {
    const contract = yield* decodeAddress(chain, "contractAddress", request.contractAddress)
    const token = yield* fetchOf(yield* freshness.node)(contract)
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
  }, freshness.orUnavailable)
