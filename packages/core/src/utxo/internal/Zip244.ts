/** The pieces of ZIP-244, by which transactions of Zcash of version 5 are named and signed. */
import { blake2b } from "@noble/hashes/blake2.js"
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

export interface Header {
  /** Of the network upgrade in force (ZIP-200). */
  readonly branchId: number
  readonly locktime: number
  /** The last block that may hold the transaction (ZIP-203); 0 for no end. */
  readonly expiryHeight: number
}

/** With the mark of Overwinter. */
export const header = 0x8000_0005
/** Of version 5 (ZIP-225). */
export const versionGroupId = 0x26a7_270a

const ascii = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

export const hash = (
  personalization: string | Uint8Array,
  ...parts: ReadonlyArray<Uint8Array>
): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    blake2b(concatBytes(...parts), {
      dkLen: 32,
      personalization: typeof personalization === "string" ? ascii(personalization) : personalization
    })
  )

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

export const ofHeader = ({ branchId, expiryHeight, locktime }: Header) =>
  hash("ZTxIdHeadersHash", ...[header, versionGroupId, branchId, locktime, expiryHeight].map(uint32))

export const ofOutpoints = (inputs: ReadonlyArray<Outpoint>) => hash("ZTxIdPrevoutHash", ...inputs.map(outpoint))

export const ofSequences = (inputs: ReadonlyArray<{ readonly sequence: number }>) =>
  hash("ZTxIdSequencHash", ...inputs.map(({ sequence }) => uint32(sequence)))

export const ofOutputs = (outputs: ReadonlyArray<Output>) => hash("ZTxIdOutputsHash", ...outputs.map(paid))

/** What the absence of shielded parts is hashed as, of Sapling's and of Orchard's. */
export const unshielded = [hash("ZTxIdSaplingHash"), hash("ZTxIdOrchardHash")] as const

/** Of the digests of a transaction's parts, in their order. */
export const ofParts = (branchId: number, ...parts: ReadonlyArray<Uint8Array>) =>
  hash(concatBytes(ascii("ZcashTxHash_"), uint32(branchId)), ...parts)
