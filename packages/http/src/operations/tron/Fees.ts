/** What Tron charges, by the chain's parameters, and what transfers take: bandwidth of a plain one, energy of a call. */
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import type { TransferRefused } from "@headwater/indexer/families/tron/TronPreparation"
import * as TronPreparation from "@headwater/indexer/families/tron/TronPreparation"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { conflictingField, invalidField, Unimplemented } from "../../contract/Errors.ts"
import * as TokenTransfer from "../evm/TokenTransfer.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"

type Operations = Pick<ChainOperations, "marketFees" | "gasPrices" | "nativeGas" | "tokenGas" | "nextNonce">

/** The error of a transfer that cannot be made, or not so. */
export const refusalOf = ({ attribute, message, reason }: TransferRefused) =>
  (reason === "invalid" ? invalidField : conflictingField)(attribute, message)

export const make = ({ chain }: ChainReader, freshness: Freshness<TronConnection>): Operations => {
  const gasPrices: Operations["gasPrices"] = Effect.fn("TronFees.gasPrices")(function* () {
    const { source } = yield* freshness.node
    const prices = yield* source.prices
    const energy = String(prices.energy)
    return {
      ...{ slow: energy, standard: energy, fast: energy },
      bandwidthPrice: String(prices.bandwidth),
      unit: "SUN"
    }
  }, freshness.orUnavailable)

  const nativeGas: Operations["nativeGas"] = Effect.fn("TronFees.nativeGas")(function* (request) {
    const transfer = {
      sender: yield* decodeAddress(chain, "sender", request.sender),
      recipient: yield* decodeAddress(chain, "recipient", request.recipient),
      amount: yield* decodeAmount(chain, "amount", request.amount),
      memo: new TextEncoder().encode(request.additionalData ?? ""),
      feeFromAmount: false
    }
    return { gasLimit: yield* Effect.mapError(Effect.fromResult(TronPreparation.bandwidthOf(transfer)), refusalOf) }
  })

  const tokenGas: Operations["tokenGas"] = Effect.fn("TronFees.tokenGas")(function* (request) {
    const { source } = yield* freshness.node
    const { amount, contractType, ...transfer } = request
    const wanted = contractType.endsWith("20") ? { amount } : { tokenId: amount, attribute: "amount" }
    const call = yield* TokenTransfer.write(chain, source.tokenDecimals, { ...transfer, ...wanted })
    const energy = source.energyOf(TokenTransfer.callOnTron(call))
    return { gasLimit: yield* Effect.catchTag(energy, "TransferRefused", (refused) => Effect.fail(refusalOf(refused))) }
  }, freshness.orUnavailable)

  /** What the chain has nothing of. */
  const without = (what: string) => () =>
    Effect.fail(new Unimplemented({ message: `${chain.blockchain} has no ${what}` }))

  return {
    marketFees: without("fee market (EIP-1559): the chain sets its prices, which …/mempool shows"),
    gasPrices,
    nativeGas,
    tokenGas,
    nextNonce: without("nonces: a transaction refers to a recent block, and has a time at which it expires")
  }
}
