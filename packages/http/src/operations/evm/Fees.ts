/** Prices of gas at the moment, and the gas that a transfer takes. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { Unimplemented } from "../../contract/Errors.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as CallGas from "./CallGas.ts"
import * as SafeInteger from "./SafeInteger.ts"
import * as TokenTransfer from "./TokenTransfer.ts"

const byPriority = (priceOf: (priority: Preparation.Priority) => bigint) => ({
  ...Record.map({ slow: "slow", standard: "standard", fast: "fast" } as const, (priority) => String(priceOf(priority))),
  unit: "Wei"
})

const gasItem = Effect.fnUntraced(function* (chain: Chain, evm: EvmNode, call: CallGas.Called) {
  const estimate = yield* CallGas.estimate(evm, call)
  return { gasLimit: yield* SafeInteger.of("gasLimit", yield* CallGas.limit(chain, evm, call, estimate)) }
})

type Operations = Pick<ChainOperations, "marketFees" | "gasPrices" | "nativeGas" | "tokenGas">

export const make = ({ chain }: ChainReader, freshness: Freshness<EvmConnection>): Operations => {
  const marketFees: Operations["marketFees"] = Effect.fn("Fees.marketFees")(function* () {
    const { evm } = yield* freshness.node
    const prices = yield* evm.gasPrices(Preparation.percentiles)
    const { baseFee } = prices
    if (baseFee === undefined) {
      return yield* new Unimplemented({ message: `Blocks of ${chain.blockchain} have no base fee (EIP-1559)` })
    }
    const quote = (priority: Preparation.Priority) =>
      Preparation.feeQuote("gas-fee-market-transaction", prices, priority, false)
    return {
      lastBlock: prices.height,
      baseFeePerGas: { unit: "Wei", value: String(baseFee) },
      maxFeePerGas: byPriority((priority) => quote(priority).cap),
      maxPriorityFeePerGas: byPriority((priority) => quote(priority).tip)
    }
  }, freshness.orUnavailable)

  const gasPrices: Operations["gasPrices"] = Effect.fn("Fees.gasPrices")(function* () {
    const { evm } = yield* freshness.node
    const prices = yield* evm.gasPrices(Preparation.percentiles)
    return byPriority((priority) => Preparation.feeQuote("legacy-transaction", prices, priority, true).cap)
  }, freshness.orUnavailable)

  const nativeGas: Operations["nativeGas"] = Effect.fn("Fees.nativeGas")(function* (request) {
    const from = yield* decodeAddress(chain, "sender", request.sender)
    const to = yield* decodeAddress(chain, "recipient", request.recipient)
    const value = yield* decodeAmount(chain, "amount", request.amount)
    const { evm } = yield* freshness.node
    return yield* gasItem(chain, evm, { from, to, value, data: new TextEncoder().encode(request.additionalData ?? "") })
  }, freshness.orUnavailable)

  const tokenGas: Operations["tokenGas"] = Effect.fn("Fees.tokenGas")(function* (request) {
    const { evm } = yield* freshness.node
    const { amount, contractType, ...transfer } = request
    const isFungible = contractType.endsWith("20")
    const call = yield* TokenTransfer.callOf(chain, evm, {
      ...transfer,
      ...(isFungible ? { amount } : { tokenId: amount, attribute: "amount" })
    })
    return yield* gasItem(chain, evm, { ...call, value: 0n })
  }, freshness.orUnavailable)

  return { marketFees, gasPrices, nativeGas, tokenGas }
}
