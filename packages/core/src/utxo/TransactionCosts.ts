/** Fees of transactions of UTXO chains, and which of their outputs are dust. */
import type * as CoinSelection from "./CoinSelection.ts"
import * as TransactionSize from "./TransactionSize.ts"
import type { UtxoNetwork } from "./UtxoNetwork.ts"

/** Of Bitcoin Core, in the smallest unit for 1,000 bytes (`DUST_RELAY_TX_FEE`). */
const usualDustRate = 3_000n

/** ZIP-317: what an action cost until ZIP-2009, and costs where the node says nothing else. */
export const firstActionFee = 5_000n
/** As many cost that at the least. */
const graceActions = 2
const actionInputSize = 150
const actionOutputSize = 34

/** Nodes relay no heavier transaction (`MAX_STANDARD_TX_WEIGHT`), nor one with more bytes where there is no witness. */
const maxWeight = 400_000

/** For 1,000 bytes, rounded up: less would be below the rate. */
export const feeAt = (rate: bigint, size: number): bigint => (rate * BigInt(size) + 999n) / 1_000n

/**
 * The least amount that nodes relay in an output.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as LockingScript from "@headwater/core/utxo/LockingScript"
 * import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
 *
 * const { utxo } = Chain.ofName("bitcoin/mainnet")!
 * TransactionCosts.dustOf(utxo!, LockingScript.pubKeyHash(new Uint8Array(20))) // => 546n
 * TransactionCosts.dustOf(utxo!, LockingScript.witness(0, new Uint8Array(20))) // => 294n
 * ```
 */
export const dustOf = (
  { dustAmount, dustRate = usualDustRate }: Pick<UtxoNetwork, "dustAmount" | "dustRate">,
  script: Uint8Array
): bigint => {
  const size = TransactionSize.outputSize(script) + TransactionSize.spendingSize(script)
  return dustAmount ?? (dustRate * BigInt(size)) / 1_000n
}

/** What nodes ask for. */
export interface LeastRates {
  /** For 1,000 virtual bytes: below this nodes relay no transaction, or miners leave it out. */
  readonly least: bigint
  /** On Zcash, for an action in place of bytes (ZIP-317), where the node says that (ZIP-2009). */
  readonly action?: bigint | undefined
}

/** By the rate for 1,000 virtual bytes, now and in the long term; or one amount, whatever the size. */
export type Fee =
  | { readonly rate: bigint; readonly longTermRate: bigint; readonly action?: bigint | undefined }
  | { readonly exact: bigint }

export interface Payment {
  /** Of the wallet, and so of all inputs. */
  readonly format: TransactionSize.InputFormat
  /** Locking scripts of the outputs without the change. */
  readonly scripts: ReadonlyArray<Uint8Array>
  /** Locking script of the change. */
  readonly change: Uint8Array
}

const sizesOf = ({ change, scripts }: Payment) => {
  const outputs = scripts.map(TransactionSize.outputSize)
  return { without: outputs, with: [...outputs, TransactionSize.outputSize(change)] }
}

const shapeOf = ({ wireFormat }: UtxoNetwork, payment: Payment) => {
  const sizes = sizesOf(payment)
  return (inputs: number, hasChange: boolean): TransactionSize.Shape => ({
    format: payment.format,
    inputs,
    outputs: hasChange ? sizes.with : sizes.without,
    wireFormat
  })
}

/** The least fee of a payment with so many inputs, by the least rate that nodes relay and miners take. */
export const leastFee = (
  network: UtxoNetwork,
  payment: Payment,
  { action, least }: LeastRates,
  inputs: number,
  hasChange: boolean
): bigint => {
  const shape = shapeOf(network, payment)(inputs, hasChange)
  return network.wireFormat === "zcash"
    ? conventionalFee(shape, action)
    : feeAt(least, TransactionSize.virtualSize(shape))
}

/** Virtual bytes of a payment with so many inputs. */
export const sizeOf = (network: UtxoNetwork, payment: Payment, inputs: number, hasChange: boolean): number =>
  TransactionSize.virtualSize(shapeOf(network, payment)(inputs, hasChange))

/** ZIP-317, of transparent inputs and outputs. */
const conventionalFee = ({ format, inputs, outputs }: TransactionSize.Shape, actionFee = firstActionFee): bigint => {
  const taken = Math.ceil((inputs * TransactionSize.inputWeights[format]) / 4 / actionInputSize)
  const paid = Math.ceil(outputs.reduce((sum, size) => sum + size, 0) / actionOutputSize)
  return actionFee * BigInt(Math.max(graceActions, taken, paid))
}

/** The most that ZIP-317 asks for 1,000 bytes of a transparent transaction, which are outputs then. */
export const conventionalRate = (actionFee = firstActionFee): bigint => (actionFee * 1_000n) / BigInt(actionOutputSize)

const feesOf = (network: UtxoNetwork, { format }: Payment, fee: Fee) => {
  if ("exact" in fee) return { of: () => fee.exact, input: 0n, longTermInput: 0n }
  const { inputWeights, virtualSize } = TransactionSize
  if (network.wireFormat === "zcash") {
    const { action = firstActionFee } = fee
    return {
      of: (shape: TransactionSize.Shape) => conventionalFee(shape, action),
      input: action,
      longTermInput: action
    }
  }
  const ofInput = (rate: bigint) => (rate * BigInt(inputWeights[format]) + 3_999n) / 4_000n
  return {
    of: (shape: TransactionSize.Shape) => feeAt(fee.rate, virtualSize(shape)),
    input: ofInput(fee.rate),
    longTermInput: ofInput(fee.longTermRate)
  }
}

/** The costs of a payment, by which its coins are selected. `maxSize`: virtual bytes, where nodes relay fewer than of others. */
export const of = (network: UtxoNetwork, payment: Payment, fee: Fee, maxSize = maxWeight / 4): CoinSelection.Costs => {
  const shape = shapeOf(network, payment)
  const fees = feesOf(network, payment, fee)
  const room = maxSize * 4 - TransactionSize.weightOf(shape(0, true)) - 4 * 4
  return {
    feeOf: (inputs, hasChange) => fees.of(shape(inputs, hasChange)),
    inputFee: fees.input,
    longTermInputFee: fees.longTermInput,
    dust: dustOf(network, payment.change),
    maxInputs: Math.max(0, Math.floor(room / TransactionSize.inputWeights[payment.format]))
  }
}
