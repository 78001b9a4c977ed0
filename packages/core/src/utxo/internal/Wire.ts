/** Parts of transactions as Bitcoin and its relatives write them. */
import { concatBytes } from "@noble/hashes/utils.js"

export interface Outpoint {
  /** In the order in which ids are written. */
  readonly transactionId: Uint8Array
  readonly index: number
}

export interface Output {
  readonly amount: bigint
  readonly script: Uint8Array
}

/** A number that is missing, or does not fit, would be signed as another one. */
export const uint32 = (value: number): Uint8Array => {
  if (value >>> 0 !== value) throw new RangeError("must be a number of 32 bits")
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

export const uint64 = (value: bigint): Uint8Array => {
  if (BigInt.asUintN(64, value) !== value) throw new RangeError("must be a number of 64 bits")
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/** With the length in front, in as few bytes as it takes. */
export const sized = (script: Uint8Array): Uint8Array =>
  concatBytes(
    script.length < 0xfd
      ? Uint8Array.of(script.length)
      : script.length < 0x1_0000
        ? Uint8Array.of(0xfd, script.length & 0xff, script.length >> 8)
        : concatBytes(Uint8Array.of(0xfe), uint32(script.length)),
    script
  )

export const outpoint = ({ index, transactionId }: Outpoint) => concatBytes(transactionId.toReversed(), uint32(index))

export const paid = ({ amount, script }: Output) => concatBytes(uint64(amount), sized(script))
