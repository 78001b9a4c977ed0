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
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"

type AskedFee = NonNullable<Parameters<ChainOperations["prepare"]>[0]["fee"]>

/** The transaction that is to be priced, and what prices are to be had. */
interface Priced {
  readonly type: Preparation.TransactionType
  readonly gasLimit: bigint
  /** Whether the fee is taken from the amount. */
  readonly fromAmount: boolean
  readonly prices: GasPrices
  /** What the waiting transaction offers whose place it takes. */
  readonly replaced: Account["replaced"]
  readonly feeFault: EvmConnection["feeFault"]
}

const faultOf = ({ feeFault, gasLimit, prices }: Priced, { cap }: Preparation.FeeQuote) =>
  feeFault(cap, gasLimit, prices.suggestedPrice)

const byPriority = (priority: AskedFee["priority"], priced: Priced) => {
  const { fromAmount, prices, replaced, type } = priced
  const usual = Preparation.feeQuote(type, prices, priority, fromAmount)
  const isWhole = fromAmount || type !== "gas-fee-market-transaction"
  const quote = replaced === undefined ? usual : Preparation.raised(usual, Preparation.outbidding(replaced), isWhole)
  const fault = faultOf(priced, quote)
  if (fault === undefined) return Effect.succeed(quote)
  // Where few transactions are mined, what one of them has paid by mistake is the tip of all recent blocks.
  const reason =
    faultOf(priced, usual) === undefined
      ? "in the place of the waiting transaction with this nonce nodes take no less"
      : "so much was paid in recent blocks: name fee.exactAmount, or come back"
  return Effect.fail(conflictingField("fee.priority", `${fault}; ${reason}`))
}

const exactly = Effect.fnUntraced(function* (text: string, priced: Priced) {
  const { gasLimit, prices, replaced } = priced
  const amount = yield* Effect.mapError(Effect.fromResult(Amount.parse(text, 0)), () =>
    invalidField("fee.exactAmount", "must be a whole number of Wei")
  )
  const quote = Preparation.exactFeeQuote(amount, gasLimit)
  const tooLow = (rule: string) =>
    conflictingField("fee.exactAmount", `${amount} Wei is ${quote.cap} for each of ${gasLimit} gas; ${rule} or more`)
  // Blocks of BNB Smart Chain have a base fee of 0, and its nodes take nothing for nothing all the same.
  const { baseFee = 0n, leastTip = 0n } = prices
  const least = baseFee + leastTip || 1n
  if (quote.cap < least) return yield* tooLow(`blocks take ${least}`)
  const outbidding = replaced && Preparation.outbidding(replaced)
  if (outbidding !== undefined && quote.cap < outbidding.cap) {
    return yield* tooLow(`in the place of the waiting transaction with this nonce nodes take ${outbidding.cap}`)
  }
  const fault = faultOf(priced, quote)
  return fault === undefined ? quote : yield* invalidField("fee.exactAmount", fault)
})

/** The price of the transaction's gas: by a priority, or so that the fee is exactly what the request says. */
export const quote = (fee: AskedFee, priced: Priced) => {
  // Nodes keep what has blobs from any that has none (EIP-4844).
  if (priced.replaced?.hasBlobs === true) {
    return Effect.fail(
      conflictingField(
        "nonce",
        "the waiting transaction with this nonce has blobs, and nodes take none without in its place"
      )
    )
  }
  return fee.exactAmount === undefined ? byPriority(fee.priority, priced) : exactly(fee.exactAmount, priced)
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
