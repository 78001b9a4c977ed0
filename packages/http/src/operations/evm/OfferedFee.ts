/** What a prepared transaction offers for its gas. */
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Preparation from "@headwater/core/evm/Preparation"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { Account } from "@headwater/indexer/families/evm/EvmNode"
import type { GasPrices } from "@headwater/indexer/families/evm/GasPrices"
import * as RawTransaction from "@headwater/indexer/families/evm/RawTransaction"
import type { ReservedNonces } from "@headwater/indexer/store/wallets/ReservedNonces"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"

type AskedFee = NonNullable<Parameters<ChainOperations["prepare"]>[0]["fee"]>

/**
 * The price of the transaction's gas: by a priority, or so that the fee is exactly what the request says. `replaced` is that of
 * a waiting transaction whose place it takes: nodes keep what has blobs from any that has none (EIP-4844).
 */
export const quote = (
  type: Preparation.TransactionType,
  { prices, replaced }: { readonly prices: GasPrices; readonly replaced: Account["replaced"] },
  fee: AskedFee,
  gasLimit: bigint,
  fromAmount: boolean,
  feeFault: EvmConnection["feeFault"]
) => {
  if (replaced?.hasBlobs === true) {
    return Effect.fail(
      conflictingField(
        "nonce",
        "the waiting transaction with this nonce has blobs, and nodes take none without in its place"
      )
    )
  }
  const outbidding = replaced && Preparation.outbidding(replaced)
  const faultOf = ({ cap }: Preparation.FeeQuote) => feeFault(cap, gasLimit, prices.suggestedPrice)
  if (fee.exactAmount === undefined) {
    const usual = Preparation.feeQuote(type, prices, fee.priority, fromAmount)
    const isWhole = fromAmount || type !== "gas-fee-market-transaction"
    const quote = outbidding === undefined ? usual : Preparation.raised(usual, outbidding, isWhole)
    const fault = faultOf(quote)
    if (fault === undefined) return Effect.succeed(quote)
    // Where few transactions are mined, what one of them has paid by mistake is the tip of all recent blocks.
    const reason =
      faultOf(usual) === undefined
        ? "in the place of the waiting transaction with this nonce nodes take no less"
        : "so much was paid in recent blocks: name fee.exactAmount, or come back"
    return Effect.fail(conflictingField("fee.priority", `${fault}; ${reason}`))
  }
  const exact = Amount.parse(fee.exactAmount, 0)
  if (Result.isFailure(exact)) return Effect.fail(invalidField("fee.exactAmount", "must be a whole number of Wei"))
  const quote = Preparation.exactFeeQuote(exact.success, gasLimit)
  // Blocks of BNB Smart Chain have a base fee of 0, and its nodes take nothing for nothing all the same.
  const { baseFee = 0n, leastTip = 0n } = prices
  const least = baseFee + leastTip || 1n
  if (quote.cap < least) {
    return Effect.fail(
      conflictingField(
        "fee.exactAmount",
        `${exact.success} Wei is ${quote.cap} for each of ${gasLimit} gas; blocks take ${least} or more`
      )
    )
  }
  if (outbidding !== undefined && quote.cap < outbidding.cap) {
    return Effect.fail(
      conflictingField(
        "fee.exactAmount",
        `${exact.success} Wei is ${quote.cap} for each of ${gasLimit} gas; in the place of the waiting transaction with this ` +
          `nonce nodes take ${outbidding.cap} or more`
      )
    )
  }
  const fault = faultOf(quote)
  return fault === undefined ? Effect.succeed(quote) : Effect.fail(invalidField("fee.exactAmount", fault))
}

/**
 * What the account's own transactions with a nonce offer that were broadcast here, the highest of each price: many nodes show none
 * of what waits, and refuse for as much what takes its place.
 */
export const sent = Effect.fnUntraced(function* (
  nonces: ReservedNonces,
  account: number,
  sender: AddressBytes,
  nonce: number
) {
  const raws = yield* Effect.orDie(nonces.sentWith(account, sender, nonce))
  const offers = yield* Effect.forEach(raws, (raw) =>
    Effect.map(Effect.orDie(RawTransaction.read(Hex.prefixed(raw))), RawTransaction.offerOf)
  )
  return offers.reduce<Account["replaced"]>(
    (most, offer) =>
      most === undefined
        ? offer
        : { ...Preparation.raised(most, offer, false), hasBlobs: most.hasBlobs || offer.hasBlobs },
    undefined
  )
})

/** The fee in the words of the contract, in Wei. */
export const item = (type: Preparation.TransactionType, cap: number, tip: number) => {
  const isMarket = type === "gas-fee-market-transaction"
  return {
    gasPrice: isMarket ? 0 : cap,
    maxFeePerGas: isMarket ? cap : 0,
    maxPriorityFeePerGas: isMarket ? tip : 0,
    unit: "Wei"
  }
}
