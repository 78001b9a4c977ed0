/**
 * The hashes that inputs of a Zcash transaction of version 5 sign (ZIP-244), with SIGHASH_ALL.
 */
import { blake2b } from "@noble/hashes/blake2.js"
import { concatBytes } from "@noble/hashes/utils.js"

export interface Input {
  /** In the order in which ids are written. */
  readonly transactionId: Uint8Array
  readonly index: number
  /** Of the output that is spent. */
  readonly amount: bigint
  readonly script: Uint8Array
  readonly sequence: number
}

export interface Output {
  readonly amount: bigint
  readonly script: Uint8Array
}

export interface UnsignedTransaction {
  /** Of the network upgrade in force (ZIP-200). */
  readonly branchId: number
  readonly locktime: number
  /** The last block that may hold the transaction (ZIP-203); 0 for no end. */
  readonly expiryHeight: number
  readonly inputs: ReadonlyArray<Input>
  readonly outputs: ReadonlyArray<Output>
  /** The digests of the shielded parts, Sapling's and Orchard's; of a transaction that has none if not given. */
  readonly shielded?: readonly [Uint8Array, Uint8Array]
}

/** With the mark of Overwinter. */
export const header = 0x8000_0005
/** Of version 5 (ZIP-225). */
export const versionGroupId = 0x26a7_270a

const sighashAll = 1

const ascii = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

const hash = (personalization: string | Uint8Array, ...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  blake2b(concatBytes(...parts), {
    dkLen: 32,
    personalization: typeof personalization === "string" ? ascii(personalization) : personalization
  })

const uint32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

const uint64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/** With the length in front; scripts here are shorter than 65,536 bytes. */
const sized = (script: Uint8Array): Uint8Array =>
  concatBytes(
    script.length < 0xfd ? Uint8Array.of(script.length) : Uint8Array.of(0xfd, script.length & 0xff, script.length >> 8),
    script
  )

const outpoint = ({ index, transactionId }: Input) => concatBytes(transactionId.toReversed(), uint32(index))

const paid = ({ amount, script }: Output) => concatBytes(uint64(amount), sized(script))

/** What the absence of shielded parts is hashed as. */
const unshielded = [hash("ZTxIdSaplingHash"), hash("ZTxIdOrchardHash")] as const

/** The hash of each input, in their order. */
export const digests = (transaction: UnsignedTransaction): ReadonlyArray<Uint8Array> => {
  const { branchId, expiryHeight, inputs, locktime, outputs, shielded = unshielded } = transaction
  const ofHeader = hash("ZTxIdHeadersHash", ...[header, versionGroupId, branchId, locktime, expiryHeight].map(uint32))
  const common = [
    hash("ZTxIdPrevoutHash", ...inputs.map(outpoint)),
    hash("ZTxTrAmountsHash", ...inputs.map(({ amount }) => uint64(amount))),
    hash("ZTxTrScriptsHash", ...inputs.map(({ script }) => sized(script))),
    hash("ZTxIdSequencHash", ...inputs.map(({ sequence }) => uint32(sequence))),
    hash("ZTxIdOutputsHash", ...outputs.map(paid))
  ]
  return inputs.map((input) => {
    const own = hash("Zcash___TxInHash", outpoint(input), paid(input), uint32(input.sequence))
    const transparent = hash("ZTxIdTranspaHash", Uint8Array.of(sighashAll), ...common, own)
    return hash(concatBytes(ascii("ZcashTxHash_"), uint32(branchId)), ofHeader, transparent, ...shielded)
  })
}
