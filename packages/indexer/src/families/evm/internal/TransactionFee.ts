/** What the sender of a transaction has paid for it, by its receipt: on Ethereum and on the rollups above it. */
import { blobType, depositType, postExecType, type Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"

const optional = (value: unknown, field: string): bigint => (value == null ? 0n : Hex.quantity(value, field))

/** The price of a unit of gas: as the receipt says, which it has said since London, else by the rule of EIP-1559. */
const priceOf = ({ json }: Transaction, receipt: Hex.Json, baseFee: bigint): bigint => {
  if (receipt.effectiveGasPrice != null) return Hex.quantity(receipt.effectiveGasPrice, "receipt.effectiveGasPrice")
  if (json.maxFeePerGas == null) return optional(json.gasPrice, "transaction.gasPrice")
  const cap = Hex.quantity(json.maxFeePerGas, "transaction.maxFeePerGas")
  const price = baseFee + optional(json.maxPriorityFeePerGas, "transaction.maxPriorityFeePerGas")
  if (price > cap) return cap
  return price
}

/** The operator's fee of the OP stack since Isthmus; Jovian, whose receipts have a further scalar, counts it otherwise. */
const operatorFee = (receipt: Hex.Json, gasUsed: bigint): bigint => {
  const scalar = optional(receipt.operatorFeeScalar, "receipt.operatorFeeScalar")
  const constant = optional(receipt.operatorFeeConstant, "receipt.operatorFeeConstant")
  const scaled = receipt.daFootprintGasScalar == null ? (gasUsed * scalar) / 1_000_000n : gasUsed * scalar * 100n
  return scaled + constant
}

export interface Paid {
  /** In Wei, as the price. */
  readonly fee: bigint
  readonly price: bigint
  readonly gasUsed: bigint
}

/**
 * Gas at its price; blobs at theirs (EIP-4844); on the OP stack the fee for the chain below and the operator's. Arbitrum
 * counts the chain below as gas. Deposits were paid for below, and pay nothing here, nor does what a sequencer adds itself. Throws
 * {@link Hex.Malformed}.
 */
export const of = (transaction: Transaction, receipt: Hex.Json, baseFee: bigint): Paid => {
  const gasUsed = Hex.quantity(receipt.gasUsed, "receipt.gasUsed")
  if (transaction.type === depositType || transaction.type === postExecType) return { fee: 0n, price: 0n, gasUsed }
  const price = priceOf(transaction, receipt, baseFee)
  const blobs =
    transaction.type === blobType
      ? Hex.quantity(receipt.blobGasUsed, "receipt.blobGasUsed") *
        Hex.quantity(receipt.blobGasPrice, "receipt.blobGasPrice")
      : 0n
  const below = optional(receipt.l1Fee, "receipt.l1Fee") + operatorFee(receipt, gasUsed)
  return { fee: gasUsed * price + blobs + below, price, gasUsed }
}
