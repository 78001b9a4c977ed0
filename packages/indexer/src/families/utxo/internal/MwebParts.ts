/** The part of a Litecoin transaction that moves coins in MWEB: how much of it there is. Source: LIP-3, LIP-4, Litecoin Core. */
import * as MwebKernelId from "@headwater/core/utxo/MwebKernelId"
import * as TransactionSize from "@headwater/core/utxo/TransactionSize"
import { Malformed } from "./Malformed.ts"
import type { RawBytes } from "./RawBytes.ts"

/** Of a transaction with such a part, beside that of witnesses (BIP-144). */
export const flag = 8

/** Numbers of what hides amounts and addresses, and what comes out of MWEB, in plain sight. */
export interface Mweb {
  readonly inputs: number
  readonly outputs: number
  readonly kernels: number
  readonly pegOuts: ReadonlyArray<{ readonly amount: bigint; readonly script: Uint8Array }>
}

export interface MwebParts {
  readonly mweb: Mweb
  /** The id of a transaction that has nothing else: the hash of its first kernel. */
  readonly id: Uint8Array | undefined
  /** The excess of the first kernel, by which nodes list the kernels of a block. */
  readonly excess: Uint8Array | undefined
  /** BIP-141's, of what the HogEx has of it: an input for what goes in, and outputs for what comes out. */
  readonly weight: number
  /** What its kernels leave for the miner, in the smallest unit: in plain sight, and beside the fee of the other parts. */
  readonly fee: bigint
}

/** A number of Bitcoin Core's own form (`VARINT`): seven bits a byte, the largest first. */
const readNumber = (raw: RawBytes): bigint => {
  for (let number = 0n; ; number++) {
    const byte = raw.take(1)[0]!
    number = (number << 7n) | BigInt(byte & 0x7f)
    if (number >= 2n ** 64n) throw new Malformed("has a number of more than 64 bits in its MWEB part")
    if (byte < 0x80) return number
  }
}

const publicKey = 33
const signature = 64
const rangeProof = 675
/** Of an input without a script: outpoint, length and sequence. */
const pegInSize = 36 + 1 + 4

const skipInput = (raw: RawBytes): void => {
  const features = raw.take(1)[0]!
  raw.skip(32 + publicKey + publicKey)
  if ((features & 1) !== 0) raw.skip(publicKey)
  if ((features & 2) !== 0) raw.skip(raw.size())
  raw.skip(signature)
}

const skipOutput = (raw: RawBytes): void => {
  raw.skip(3 * publicKey)
  const features = raw.take(1)[0]!
  if ((features & 1) !== 0) raw.skip(publicKey + 1 + 8 + 16)
  if ((features & 2) !== 0) raw.skip(raw.size())
  raw.skip(rangeProof + signature)
}

/** What a kernel leaves for the miner, whether it takes coins in, and what it pays out. */
const readKernel = (raw: RawBytes) => {
  const features = raw.take(1)[0]!
  const fee = (features & 1) === 0 ? 0n : readNumber(raw)
  const isPegIn = (features & 2) !== 0
  if (isPegIn) readNumber(raw)
  const pegOuts = Array.from({ length: (features & 4) === 0 ? 0 : raw.size() }, () => {
    const amount = readNumber(raw)
    return { amount, script: raw.take(raw.size()) }
  })
  if ((features & 8) !== 0) readNumber(raw)
  if ((features & 16) !== 0) raw.skip(publicKey)
  if ((features & 32) !== 0) raw.skip(raw.size())
  raw.skip(publicKey + signature)
  return { fee, isPegIn, pegOuts }
}

const skipMany = (raw: RawBytes, skip: (raw: RawBytes) => void): number => {
  const items = raw.size()
  for (let i = 0; i < items; i++) skip(raw)
  return items
}

/** The parts in front of the lock time; undefined of a HogEx, which has the mark and nothing behind it. */
export const read = (raw: RawBytes): MwebParts | undefined => {
  const mark = raw.take(1)[0]!
  if (mark === 0) return undefined
  if (mark !== 1) throw new Malformed("has an MWEB part that is not decoded here")
  raw.skip(32 + 32)
  const inputs = skipMany(raw, skipInput)
  const outputs = skipMany(raw, skipOutput)
  const count = raw.size()
  const from = raw.at
  const kernels = Array.from({ length: count }, () => ({ ...readKernel(raw), end: raw.at }))
  const [first] = kernels
  const pegOuts = kernels.flatMap(({ pegOuts }) => pegOuts)
  return {
    mweb: { inputs, outputs, kernels: count, pegOuts },
    id: first && MwebKernelId.of(raw.bytes.subarray(from, first.end)),
    // In front of the signature, with which a kernel ends.
    excess: first && raw.bytes.subarray(first.end - signature - publicKey, first.end - signature),
    weight:
      4 *
      (pegInSize * kernels.filter(({ isPegIn }) => isPegIn).length +
        pegOuts.reduce((sum, { script }) => sum + TransactionSize.outputSize(script), 0)),
    fee: kernels.reduce((sum, { fee }) => sum + fee, 0n)
  }
}
