/** The pieces of ZIP-244, by which transactions of Zcash are named and signed since version 5. */
import { blake2b } from "@noble/hashes/blake2.js"
import { concatBytes } from "@noble/hashes/utils.js"
import { type Outpoint, type Output, outpoint, paid, uint32 } from "./Wire.ts"

export interface Header {
  /** Of the network upgrade in force (ZIP-200). */
  readonly branchId: number
  readonly locktime: number
  /** The last block that may hold the transaction (ZIP-203); 0 for no end. */
  readonly expiryHeight: number
}

/** What a transaction begins with. */
export interface Format {
  /** The version, with the mark of Overwinter. */
  readonly header: number
  readonly versionGroupId: number
}

/** ZIP-225. */
const version5: Format = { header: 0x8000_0005, versionGroupId: 0x26a7_270a }
export const { header, versionGroupId } = version5

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

export const ofHeader = ({ branchId, expiryHeight, locktime }: Header, { header, versionGroupId } = version5) =>
  hash("ZTxIdHeadersHash", ...[header, versionGroupId, branchId, locktime, expiryHeight].map(uint32))

/** Bytes that are hashed between two steps, in about half a millisecond. */
const bytesOfStep = 8_192

/** Hashes what `write` makes of each item, in steps. */
export function* ofEach<A>(
  personalization: string,
  items: ReadonlyArray<A>,
  write: (item: A, hash: (part: Uint8Array) => void) => void
): Generator<void, Uint8Array> {
  const state = blake2b.create({ dkLen: 32, personalization: ascii(personalization) })
  let hashed = 0
  const add = (part: Uint8Array) => {
    state.update(part)
    hashed += part.length
  }
  for (const item of items) {
    write(item, add)
    if (hashed < bytesOfStep) continue
    hashed = 0
    yield
  }
  return state.digest()
}

export const ofOutpoints = (inputs: ReadonlyArray<Outpoint>) =>
  ofEach("ZTxIdPrevoutHash", inputs, (input, hash) => hash(outpoint(input)))

export const ofSequences = (inputs: ReadonlyArray<{ readonly sequence: number }>) =>
  ofEach("ZTxIdSequencHash", inputs, ({ sequence }, hash) => hash(uint32(sequence)))

export const ofOutputs = (outputs: ReadonlyArray<Output>) =>
  ofEach("ZTxIdOutputsHash", outputs, (output, hash) => hash(paid(output)))

/** The hashes that stand for absent shielded parts, Sapling's and Orchard's. */
export const unshielded = [hash("ZTxIdSaplingHash"), hash("ZTxIdOrchardHash")] as const

/** Of the digests of a transaction's parts, in their order. */
export const ofParts = (branchId: number, ...parts: ReadonlyArray<Uint8Array>) =>
  hash(concatBytes(ascii("ZcashTxHash_"), uint32(branchId)), ...parts)
