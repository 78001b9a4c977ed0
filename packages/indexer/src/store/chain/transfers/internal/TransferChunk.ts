/**
 * Transfers of one block as bytes, as many as fill half a page: each transfer once, its addresses and its transaction
 * through small dictionaries at the head of the chunk. What is packed is what is read back; the format is the store's own.
 *
 * Two such rows fill a page of SQLite, which gives what overflows pages of their own; PostgreSQL keeps a chunk beside
 * its table, in two pieces of which four fill a page. `bench/evm/ingest.ts` was faster so than with half of the size.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import * as AddressDictionary from "./AddressDictionary.ts"
import { BigBytes, ByteWriter } from "./ByteWriter.ts"
import * as FormerChunk from "./FormerChunk.ts"
import { type Entry, type Kind, kinds, type PackedTransfer } from "./Logs.ts"
import * as Posting from "./Posting.ts"

/** The first byte: chunks of before begin with the number of their transfers, at most 64. */
const version = 0x80
/** Bytes of a chunk, but where one transfer alone takes more. */
const mostBytes = 3_980
/** Numbers within a chunk take one byte, and so do those of its addresses. */
const { missing, most } = AddressDictionary
/** Stands for an address that there is none of. */
const nobody = 0xff

/** Numbers that a chunk takes of those of its block. */
export const numbers = 0x100
/** Chunks of a block after which the next ones are filled up to {@link most}: the numbers of a block must do for all. */
const smallChunks = Posting.perBlock / numbers / 8

const tokenKinds: ReadonlyArray<TokenKind> = ["fungible", "non-fungible", "multi"]

/** Bits of an entry's first byte. */
const nextTransaction = 1
const tokenKindShift = 1
const withTokenId = 8
const withBatchIndex = 16

const transactionIdBytes = 32

const amountBytes = new BigBytes()
const tokenIdBytes = new BigBytes()

/** The bytes of a difference. */
const bytesOf = (difference: number): number => {
  let bytes = 1
  for (let rest = Math.abs(difference) * 2; rest >= 0x80; rest /= 0x80) bytes++
  return bytes
}

const encoder = new TextEncoder()

/** Packs transfers of one kind and block, which are added in their order. */
export class Packing {
  readonly chunks: Array<Uint8Array> = []
  readonly #kind: Kind
  readonly #dictionary = new AddressDictionary.AddressDictionary()
  readonly #ids = new ByteWriter(1024)
  /** What the index of each transaction differs by from that of the one before. */
  readonly #transactions = new ByteWriter(128)
  readonly #entries = new ByteWriter(1024)
  #count = 0
  #transactionCount = 0
  #transaction = 0
  /** At least the bytes of the transactions. */
  #transactionBytes = 0
  #position = 0
  /** Indexes of the addresses of the transfer that is added. */
  #from = missing
  #to = missing
  #contract = missing

  constructor(kind: Kind) {
    this.#kind = kind
  }

  /** Adds a transfer; its number within the block. The hashes are those of its addresses, where it has them. */
  add({ transactionId, transfer }: PackedTransfer, fromHash: number, toHash: number): number {
    const contractHash = transfer.kind === "token" ? Posting.hash(transfer.contract) : 0
    this.#from = this.#find(transfer.from, fromHash)
    this.#to = this.#find(transfer.to, toHash)
    if (transfer.kind === "token") this.#contract = this.#find(transfer.contract, contractHash)
    const bigBytes = this.#setBigs(transfer)
    if (!this.#fits(transfer, bigBytes)) this.#finish()
    this.#write(transactionId, transfer, fromHash, toHash, contractHash)
    const number = this.chunks.length * numbers + this.#count++
    // The next number would be one of the block above.
    if (number >= Posting.perBlock) throw new Error("A block has more transfers than its positions can tell apart")
    return number
  }

  /** Ends the last chunk. */
  end(): ReadonlyArray<Uint8Array> {
    if (this.#count > 0) this.#finish()
    return this.chunks
  }

  /** Makes bytes of amount and id; at least the bytes that both take. */
  #setBigs(transfer: Entry): number {
    if (transfer.kind === "transaction") return 0
    const bytes = amountBytes.set(transfer.amount)
    return transfer.kind === "token" && transfer.tokenId !== undefined
      ? bytes + tokenIdBytes.set(transfer.tokenId)
      : bytes
  }

  #find(address: Uint8Array | undefined, hash: number): number {
    return address === undefined ? nobody : this.#dictionary.find(address, hash)
  }

  #fits(transfer: Entry, bigBytes: number): boolean {
    if (this.#count === 0) return true
    const { from, to } = transfer
    const { bytes: addresses, count, isUniform } = this.#dictionary
    if (this.#count === most || count > most - 3) return false
    if (this.chunks.length >= smallChunks) return true
    const perAddress = isUniform ? 0 : 2
    // The head, and the bytes of an entry that are not counted below.
    let bytes = 24 + this.#transactionBytes + addresses.length + this.#entries.length + perAddress * count + bigBytes
    if (transfer.transaction !== this.#transaction) {
      bytes += transactionIdBytes + bytesOf(transfer.transaction - this.#transaction)
    }
    if (this.#from === missing) bytes += from!.length + perAddress
    if (this.#to === missing) bytes += to!.length + perAddress
    if (transfer.kind === "token") {
      if (this.#contract === missing) bytes += transfer.contract.length + perAddress
    } else if (transfer.kind === "internal") bytes += transfer.operation.length + transfer.operationType.length
    return bytes <= mostBytes
  }

  #write(transactionId: Uint8Array, transfer: Entry, fromHash: number, toHash: number, contractHash: number) {
    const writer = this.#entries
    writer.reserve(256)
    let head = 0
    if (this.#count === 0 || transfer.transaction !== this.#transaction) {
      head = nextTransaction
      this.#addTransaction(transactionId, transfer.transaction)
    }
    const at = writer.length++
    writer.u8(this.#from === missing ? this.#dictionary.add(transfer.from!, fromHash) : this.#from)
    writer.u8(this.#to === missing ? this.#dictionary.add(transfer.to!, toHash) : this.#to)
    if (transfer.kind !== "transaction") amountBytes.writeTo(writer)
    switch (transfer.kind) {
      case "coin":
        writer.varint(transfer.position)
        break
      case "token": {
        const { batchIndex, contract, position, token, tokenId } = transfer
        writer.u8(this.#contract === missing ? this.#dictionary.add(contract, contractHash) : this.#contract)
        head |= tokenKinds.indexOf(token) << tokenKindShift
        writer.signed(position - this.#position)
        this.#position = position
        if (batchIndex !== 0) {
          head |= withBatchIndex
          writer.varint(batchIndex)
        }
        if (tokenId !== undefined) {
          head |= withTokenId
          tokenIdBytes.writeTo(writer)
        }
        break
      }
      case "internal": {
        const operation = encoder.encode(`${transfer.operation} ${transfer.operationType}`)
        writer.reserve(5 + operation.length)
        writer.varint(operation.length)
        writer.raw(operation)
        break
      }
    }
    writer.bytes[at] = head
  }

  #addTransaction(id: Uint8Array, transaction: number) {
    const difference = transaction - this.#transaction
    this.#transactionBytes += transactionIdBytes + bytesOf(difference)
    this.#transactionCount++
    this.#transaction = transaction
    this.#transactions.reserve(10)
    this.#transactions.signed(difference)
    this.#ids.reserve(transactionIdBytes)
    this.#ids.raw(id)
  }

  #finish() {
    const { bytes: addresses, count, isUniform } = this.#dictionary
    const ids = this.#ids
    const transactions = this.#transactions
    const entries = this.#entries
    const writer = new ByteWriter(16 + ids.length + transactions.length + addresses.length + count * 5 + entries.length)
    writer.u8(version)
    writer.u8(kinds.indexOf(this.#kind))
    writer.u8(this.#count)
    writer.u8(this.#transactionCount)
    writer.u8(count)
    writer.raw(ids.written)
    writer.raw(transactions.written)
    // The one length of all, or none, and then each has its own.
    const width = isUniform && count > 0 && this.#dictionary.lengthOf(0) <= 0xff ? this.#dictionary.lengthOf(0) : 0
    writer.u8(width)
    if (width !== 0) writer.raw(addresses.written)
    else {
      for (let index = 0, at = 0; index < count; index++) {
        const length = this.#dictionary.lengthOf(index)
        writer.varint(length)
        writer.raw(addresses.bytes.subarray(at, at + length))
        at += length
      }
    }
    writer.raw(entries.written)
    this.chunks.push(writer.written)
    this.#dictionary.clear()
    ids.length = 0
    transactions.length = 0
    entries.length = 0
    this.#count = 0
    this.#transactionCount = 0
    this.#transaction = 0
    this.#transactionBytes = 0
    this.#position = 0
    if (this.#from !== nobody) this.#from = missing
    if (this.#to !== nobody) this.#to = missing
    this.#contract = missing
  }
}

interface Unpack {
  (chunk: Uint8Array): ReadonlyArray<PackedTransfer>
  (chunk: Uint8Array, wanted: ReadonlySet<number>): ReadonlyArray<PackedTransfer | undefined>
}

/** Reads a chunk of any form: all of its transfers, or those alone whose numbers within it are `wanted`. */
export const unpack: Unpack = (chunk: Uint8Array, wanted?: ReadonlySet<number>) => {
  if (chunk[0] !== version) return FormerChunk.unpack(chunk)
  const bytes = Posting.asBuffer(chunk)
  let at = 1
  const u8 = () => bytes[at++]!
  const varint = () => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++]!
      value += (byte & 0x7f) * scale
      // Nothing is at hand behind the end.
      if (!(byte >= 0x80)) return value
    }
  }
  const signed = () => {
    const value = varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  const big = () => {
    const start = at + 1
    at = start + bytes[at]!
    let value = 0n
    for (let end = at; end > start; ) {
      const size = (end - start) % 6 || 6
      end -= size
      value = (value << 48n) | BigInt(bytes.readUIntLE(end, size))
    }
    return value
  }
  const skipBig = () => {
    at += 1 + bytes[at]!
  }
  // A part of a Buffer takes twice as long to copy.
  const plain = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)
  const copy = (from: number, length: number) => plain.slice(from, from + length)

  const kind = kinds[u8()]!
  const count = u8()
  const transactionCount = u8()
  const addressCount = u8()
  const ids = at
  at += transactionCount * transactionIdBytes
  const transactions: Array<number> = []
  let last = 0
  for (let i = 0; i < transactionCount; i++) {
    last += signed()
    transactions.push(last)
  }
  const width = u8()
  const places: Array<number> = []
  const lengths: Array<number> = []
  for (let i = 0; i < addressCount; i++) {
    const length = width === 0 ? varint() : width
    places.push(at)
    lengths.push(length)
    at += length
  }
  const address = (index: number) => copy(places[index]!, lengths[index]!) as AddressBytes
  const optional = (index: number) => (index === nobody ? undefined : address(index))

  const found: Array<PackedTransfer> = []
  let transactionIndex = -1
  let position = 0
  for (let i = 0; i < count; i++) {
    const head = u8()
    if ((head & nextTransaction) !== 0) transactionIndex++
    const isWanted = wanted === undefined || wanted.has(i)
    const from = u8()
    const to = u8()
    const transaction = transactions[transactionIndex]!
    let transfer: Entry | undefined
    if (kind === "transaction") {
      if (isWanted) transfer = { kind, transaction, from: address(from), to: optional(to) }
    } else if (kind === "coin") {
      const amount = isWanted ? big() : skipBig()
      const position = varint()
      if (amount !== undefined) {
        transfer = { kind, transaction, from: optional(from), to: optional(to), amount, position }
      }
    } else if (kind === "internal") {
      const amount = isWanted ? big() : skipBig()
      const length = varint()
      if (amount !== undefined) {
        const text = bytes.toString("utf8", at, at + length)
        const [operation, operationType] = text.split(" ") as [string, string]
        transfer = { kind, transaction, from: address(from), to: address(to), amount, operation, operationType }
      }
      at += length
    } else {
      const amount = isWanted ? big() : skipBig()
      const contract = u8()
      position += signed()
      const batchIndex = (head & withBatchIndex) === 0 ? 0 : varint()
      const hasTokenId = (head & withTokenId) !== 0
      if (amount === undefined) {
        if (hasTokenId) skipBig()
      } else {
        const tokenId = hasTokenId ? big() : undefined
        const token = tokenKinds[(head >> tokenKindShift) & 3]!
        transfer = {
          ...{ kind, transaction, contract: address(contract), token, position, batchIndex, tokenId },
          ...{ from: address(from), to: address(to), amount }
        }
      }
    }
    // A hole where it is not wanted.
    if (transfer === undefined) continue
    found[i] = { transactionId: copy(ids + transactionIndex * transactionIdBytes, transactionIdBytes), transfer }
  }
  if (at !== bytes.length) throw new Error("A chunk of transfers is damaged")
  return found
}
