/**
 * A transaction in the wire format of each UTXO chain: what moves in plain sight, and its id.
 *
 * Sources: BIP-144 (segwit), LIP-4 (MWEB: flag 8), DIP-2 (Dash special transactions).
 * Zcash has its own format, see `RawZcashTransaction.ts`.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Span, Spend } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Unlocking, witnessItems } from "@headwater/core/utxo/Unlocking"
import * as AssetUnlock from "./AssetUnlock.ts"
import * as BlockBody from "./BlockBody.ts"
import { withoutToken } from "./CashToken.ts"
import * as DoubleSha256 from "./DoubleSha256.ts"
import { Malformed } from "./Malformed.ts"
import * as MwebParts from "./MwebParts.ts"
import { type RawBytes, written, writtenAt } from "./RawBytes.ts"
import * as SpecialTransaction from "./SpecialTransaction.ts"

const witnessFlag = 1
const noOutput = 0xffffffff

const hashSize = 32
/** Of 32 bits. */
const wordsOfHash = hashSize / 4
const outpointSize = hashSize + 4

/**
 * An input, whose parts are read when they are asked for: of a block's thousands of inputs few ever are, and an array of
 * bytes for each would be most of what a block takes in memory.
 */
class RawInput implements Spend {
  readonly transaction: number
  readonly position: number
  readonly #raw: RawBytes
  /** Where the outpoint begins, behind which the `scriptSig` stands. */
  readonly at: number
  /** Where the witness begins, which stands behind the outputs, if there is one. */
  witness: number | undefined

  constructor(raw: RawBytes, transaction: number, position: number) {
    this.#raw = raw
    this.at = raw.at
    this.transaction = transaction
    this.position = position
  }

  get bytes() {
    return this.#raw.bytes
  }

  get length() {
    return outpointSize
  }

  get outpointSpan(): Span {
    return this
  }

  get outpoint(): Spend["outpoint"] {
    return { transactionId: writtenAt(this.bytes, this.at), index: this.bytes.readUInt32LE(this.at + hashSize) }
  }

  get unlocking(): () => Unlocking {
    return () => unlockingAt(this.#raw, this.at + outpointSize, this.witness)
  }
}

/** Leaves the reader where it is. */
const unlockingAt = (raw: RawBytes, scriptSig: number, witness: number | undefined): Unlocking => {
  const { at } = raw
  const next = () => raw.take(raw.size())
  raw.at = scriptSig
  const unlocking = { scriptSig: next(), witness: [] as Array<Uint8Array> }
  if (witness !== undefined) {
    raw.at = witness
    for (let items = raw.size(); items > 0; items--) {
      if (items <= witnessItems) unlocking.witness.push(next())
      else raw.skip(raw.size())
    }
  }
  raw.at = at
  return unlocking
}

/** The inputs, of which a coinbase is none, are added to `body`. Returns how many are on the wire. */
export const readInputs = (raw: RawBytes, transaction: number, body: BlockBody.BlockBody): number => {
  const inputs = raw.size()
  for (let position = 0; position < inputs; position++) {
    const input = new RawInput(raw, transaction, position)
    raw.skip(hashSize)
    if (raw.uint32() !== noOutput) body.spends.push(input)
    raw.skip(raw.size())
    raw.skip(4)
  }
  return inputs
}

/** Tells the inputs, of which the first that was added to `body` is at `first`, where their witnesses are. */
const readWitnesses = (raw: RawBytes, inputs: number, body: BlockBody.BlockBody, first: number): void => {
  let next = first
  for (let position = 0; position < inputs; position++) {
    const input = body.spends[next]
    if (input instanceof RawInput && input.position === position) {
      input.witness = raw.at
      next++
    }
    for (let items = raw.size(); items > 0; items--) raw.skip(raw.size())
  }
}

/** An output, whose script and amount are read when they are asked for, as the parts of {@link RawInput}. */
class RawOutput implements CoinTransfer {
  readonly transaction: number
  readonly position: number
  readonly #raw: RawBytes
  readonly #amount: number
  #to: AddressBytes | undefined
  /** Where the script stands. */
  readonly at: number
  readonly length: number

  constructor(raw: RawBytes, transaction: number, position: number, amount: number, at: number, length: number) {
    this.#raw = raw
    this.#amount = amount
    this.transaction = transaction
    this.position = position
    this.at = at
    this.length = length
  }

  get kind() {
    return "coin" as const
  }

  get from() {
    return undefined
  }

  /** A locking script is the canonical address on a UTXO chain. */
  get to() {
    this.#to ??= this.#raw.copied(this.at, this.length) as AddressBytes
    return this.#to
  }

  get bytes() {
    return this.#raw.bytes
  }

  get toSpan(): Span {
    return this
  }

  get amount() {
    return this.bytes.readBigUInt64LE(this.#amount)
  }
}

/** The spendable outputs are added to `body`. */
export const readOutputs = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody.BlockBody): void => {
  const outputs = raw.size()
  for (let position = 0; position < outputs; position++) {
    const amount = raw.skip(8)
    let length = raw.size()
    let script = raw.skip(length)
    if (chain.utxo!.cashTokens) {
      const whole = length
      length = withoutToken(raw.bytes.subarray(script, script + whole)).length
      script += whole - length
    }
    if (!BlockBody.isSpendableAt(raw.bytes, script, length)) continue
    body.transfers.push(new RawOutput(raw, transaction, position, amount, script, length))
  }
}

/** Where a transaction and what its ids are hashes of stand in its bytes. */
export interface Place {
  readonly start: number
  /** Of an extended transaction; 0 of others. */
  readonly flags: number
  /** Inputs and outputs. */
  readonly from: number
  readonly to: number
  readonly witnessEnd: number
  readonly lockTime: number
  readonly end: number
  /** Whether the id is the hash with zeros in place of a part (`AssetUnlock`). */
  readonly isZeroed: boolean
}

/** Of a transaction that has one form alone. */
export const wholePlace = (start: number, end: number): Place => ({
  ...{ start, flags: 0, from: start, to: end, witnessEnd: end, lockTime: end, end, isZeroed: false }
})

export const hasWitness = ({ flags }: Place): boolean => (flags & witnessFlag) !== 0

/** What the id is the hash of: neither the witness nor what stands in MWEB. */
export const addIdMessage = (
  messages: DoubleSha256.Messages,
  { end, flags, from, lockTime, start, to }: Place
): void => {
  if (flags === 0) messages.add(start, end)
  else messages.add(start, start + 4, from, to, lockTime, lockTime + 4)
}

/** The id of one transaction. */
export const idOf = (bytes: Uint8Array, place: Place): Uint8Array => {
  if (place.isZeroed) return written(AssetUnlock.hash(bytes.subarray(place.start, place.end)))
  const messages = new DoubleSha256.Messages(1)
  addIdMessage(messages, place)
  return written(DoubleSha256.sha256d(DoubleSha256.message(bytes, messages, 0)))
}

/** The hash of all of a transaction that has a witness, as it is written; MWEB is no part of the hash. */
export const witnessIdOf = (bytes: Uint8Array, { end, flags, from, lockTime, start, witnessEnd }: Place): Uint8Array =>
  written(
    DoubleSha256.sha256d(
      flags === witnessFlag
        ? bytes.subarray(start, end)
        : Buffer.concat([
            bytes.subarray(start, start + 4),
            Uint8Array.of(0, witnessFlag),
            bytes.subarray(from, witnessEnd),
            bytes.subarray(lockTime, lockTime + 4)
          ])
    )
  )

/**
 * As {@link witnessIdOf} of all these transactions, one behind another, but as the hashes are computed. One without a witness has
 * the hash of its id, which is given.
 */
export function* witnessHashes(
  bytes: Uint8Array,
  places: ReadonlyArray<Place>,
  ids: ReadonlyArray<Uint8Array>
): Generator<void, Uint8Array> {
  const messages = new DoubleSha256.Messages(places.length)
  for (const { end, flags, start } of places) if (flags === witnessFlag) messages.add(start, end)
  const found = new Uint32Array((yield* DoubleSha256.ofEach(bytes, messages)).buffer)
  const hashes = new Uint8Array(places.length * hashSize)
  const words = new Uint32Array(hashes.buffer)
  let next = 0
  for (let index = 0; index < places.length; index++) {
    const place = places[index]!
    if (place.flags === witnessFlag) {
      for (let word = 0; word < wordsOfHash; word++) words[index * wordsOfHash + word] = found[next++]!
    } else {
      const to = index * hashSize
      const id = hasWitness(place) ? witnessIdOf(bytes, place) : ids[index]!
      for (let byte = 0; byte < hashSize; byte++) hashes[to + byte] = id[hashSize - 1 - byte]!
    }
  }
  return hashes
}

/** Adds what the next transaction of the raw block moves to `body`, but not its id. Throws `Malformed`. */
export const readMoves = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody.BlockBody): Place => {
  const { specialTransactions } = chain.utxo!
  const start = raw.at
  const version = raw.uint32()
  // An empty list of inputs that is followed by a flag marks an extended transaction; without a flag it is one
  // without inputs (Dash quorum commitments).
  const flags = raw.bytes[raw.at] === 0 && !specialTransactions ? (raw.bytes[raw.at + 1] ?? 0) : 0
  if (flags !== 0) raw.skip(2)
  const from = raw.at
  const first = body.spends.length
  const inputs = readInputs(raw, transaction, body)
  readOutputs(raw, chain, transaction, body)
  const to = raw.at
  if ((flags & witnessFlag) !== 0) readWitnesses(raw, inputs, body, first)
  const witnessEnd = raw.at
  // In a block only the HogEx has it, and it is empty there: the MWEB transactions stand behind the list.
  if ((flags & MwebParts.flag) !== 0 && raw.bytes[raw.skip(1)] !== 0)
    throw new Malformed("an MWEB transaction in the list")
  if ((flags & ~(witnessFlag | MwebParts.flag)) !== 0) throw new Malformed(`transaction flags ${flags} are not known`)
  const lockTime = raw.skip(4)
  const isZeroed = SpecialTransaction.hasPayload(chain, version) && AssetUnlock.isZeroed(version, raw.take(raw.size()))
  return { start, flags, from, to, witnessEnd, lockTime, end: raw.at, isZeroed }
}

/** Adds the next transaction to `body`, with its id. Throws `Malformed`. */
export const read = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody.BlockBody): Place => {
  const place = readMoves(raw, chain, transaction, body)
  body.transactions.push(idOf(raw.bytes, place))
  return place
}
