/**
 * Sizes of signed transactions and of their parts, in weight units (BIP-141) and bytes; a signature has the most bytes that
 * wallets make: 72 of ECDSA with its type, 64 of Schnorr.
 */
import * as LockingScript from "./LockingScript.ts"

/** Forms of inputs: those of the addresses of wallets. */
export type InputFormat = "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR"

/** Of base data each byte weighs four. */
const perByte = 4

/** Outpoint, sequence and the length of the script that unlocks. */
const bareInput = 36 + 4 + 1
const signature = 1 + 72
const publicKey = 1 + 33

/** Of an input, with its witness. */
export const inputWeights: Readonly<Record<InputFormat, number>> = {
  P2PKH: (bareInput + signature + publicKey) * perByte,
  "P2SH-P2WPKH": (bareInput + 23) * perByte + 1 + signature + publicKey,
  P2WPKH: bareInput * perByte + 1 + signature + publicKey,
  P2TR: bareInput * perByte + 1 + 1 + 64
}

/** Bytes of a number before a list or a script. */
export const compactSize = (value: number): number => (value < 0xfd ? 1 : value <= 0xffff ? 3 : 5)

/** Bytes of an output. */
export const outputSize = (script: Uint8Array): number => 8 + compactSize(script.length) + script.length

/** Bytes beside inputs and outputs and their counts: version and locktime; of Zcash's version 5 also what ZIP-225 adds. */
const frame = { bitcoin: 4 + 4, zcash: 20 + 3 }

export interface Shape {
  readonly format: InputFormat
  readonly inputs: number
  /** The sizes of the outputs. */
  readonly outputs: ReadonlyArray<number>
  /** Absent where that is Bitcoin's. */
  readonly wireFormat?: "zcash" | undefined
}

/** Of a whole transaction, whose inputs are all of one form. */
export const weightOf = ({ format, inputs, outputs, wireFormat }: Shape): number => {
  const paid = outputs.reduce((sum, size) => sum + size, 0)
  const around = frame[wireFormat ?? "bitcoin"] + compactSize(inputs) + compactSize(outputs.length)
  return (around + paid) * perByte + inputs * inputWeights[format] + (format === "P2PKH" ? 0 : 2)
}

/**
 * The bytes that fees are counted by: a quarter of the weight, rounded up.
 *
 * @example
 * ```ts
 * import * as TransactionSize from "@headwater/core/utxo/TransactionSize"
 *
 * TransactionSize.virtualSize({ format: "P2PKH", inputs: 1, outputs: [34, 34] }) // => 226
 * ```
 */
export const virtualSize = (shape: Shape): number => Math.ceil(weightOf(shape) / perByte)

/** Bytes of the input by which nodes reckon that an output will be spent some day (`GetDustThreshold`). */
export const spendingSize = (script: Uint8Array): number =>
  LockingScript.parse(script)?.kind === "witness" ? 36 + 4 + 1 + Math.floor(107 / 4) : 148
