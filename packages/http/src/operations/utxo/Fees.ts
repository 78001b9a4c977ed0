/** What transactions of a UTXO chain pay at the moment, by its node. */
import * as Amount from "@headwater/core/Amount"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { EstimateMode, Priority } from "@headwater/indexer/families/utxo/UtxoPreparation"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"

/** A rate for 1,000 virtual bytes has three more decimals as one for a byte. */
const byteDecimals = 3

const defaultTarget = 6

type Operations = Pick<ChainOperations, "utxoFees" | "smartFee">

export const make = ({ chain, name }: ChainReader, freshness: Freshness<UtxoConnection>): Operations => {
  const utxoFees: Operations["utxoFees"] = Effect.fn("Fees.utxoFees")(function* () {
    const { preparation } = yield* freshness.node
    const rateOf = (priority: Priority) =>
      Effect.map(preparation.feeRates(priority), ({ rate }) => Amount.format(rate, chain.decimals + byteDecimals))
    const levels = { slow: rateOf("slow"), standard: rateOf("standard"), fast: rateOf("fast") }
    return { ...(yield* Effect.all(levels, { concurrency: "unbounded" })), unit: chain.unit }
  }, freshness.orUnavailable)

  const smartFee: Operations["smartFee"] = Effect.fn("Fees.smartFee")(function* (request) {
    const { confirmationTarget = defaultTarget, estimateMode = "conservative" } = request
    const { preparation } = yield* freshness.node
    const found = yield* preparation.smartFee(confirmationTarget, estimateMode.toUpperCase() as EstimateMode)
    if (found === undefined) {
      return yield* new Unimplemented({
        message: `The node of ${name} has no estimate: it has seen too few blocks with transactions, or has no estimatesmartfee`
      })
    }
    return {
      confirmationTarget: found.blocks,
      feeRate: Amount.format(found.rate, chain.decimals),
      unit: chain.unit
    }
  }, freshness.orUnavailable)

  return { utxoFees, smartFee }
}
