/**
 * Up to 64 transfers of one block as bytes: each transfer once, its addresses and its transaction through small
 * dictionaries at the head of the chunk. What is packed is what is read back; the format is the store's own.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import { type Entry, kinds } from "./Logs.ts"

/** A transfer with the id of its transaction. */
export interface PackedTransfer {
  readonly transactionId: Uint8Array
  readonly transfer: Entry
}

const tokenKinds: ReadonlyArray<TokenKind> = ["fungible", "non-fungible", "multi"]
/** A dictionary index that stands for nobody, and an amount's length that stands for none. */
const nobody = 0xff
const none = 0xff

/** Bytes that are written one after another; one buffer serves every chunk. */
class Writer {
  bytes = Buffer.allocUnsafe(64 * 1024)
  length = 0

  reserve(size: number) {
    if (this.length + size <= this.bytes.length) return
    const larger = Buffer.allocUnsafe((this.length + size) * 2)
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }
  u8(value: number) {
    this.bytes[this.length++] = value
  }
  u16(value: number) {
    this.length = this.bytes.writeUInt16LE(value, this.length)
  }
  u32(value: number) {
    this.length = this.bytes.writeUInt32LE(value, this.length)
  }
  raw(value: Uint8Array) {
    this.bytes.set(value, this.length)
    this.length += value.length
  }
  /** Little-endian without leading zeros, after its length. */
  big(value: bigint | undefined) {
    if (value === undefined) return this.u8(none)
    const at = this.length++
    for (let rest = value; rest > 0n; rest >>= 64n) {
      this.length = this.bytes.writeBigUInt64LE(rest & 0xffff_ffff_ffff_ffffn, this.length)
    }
    while (this.length > at + 1 && this.bytes[this.length - 1] === 0) this.length--
    this.bytes[at] = this.length - at - 1
  }
}

const writer = new Writer()

/** Transfers in one chunk: their addresses must fit into one-byte dictionary indices. */
export const size = 64

/** Packs at most {@link size} transfers; the result is a copy of its own. */
export const pack = (packed: ReadonlyArray<PackedTransfer>): Uint8Array => {
  const addresses: Array<Uint8Array> = []
  const indices = new Map<string, number>()
  const addressIndex = (address: Uint8Array | undefined) => {
    if (address === undefined) return nobody
    const key = Bytes.key(address)
    let index = indices.get(key)
    if (index === undefined) {
      index = addresses.push(address) - 1
      indices.set(key, index)
    }
    return index
  }
  const transactions: Array<Uint8Array> = []
  const transactionOf = packed.map(({ transactionId }) => {
    const last = transactions.at(-1)
    if (last === undefined || !Bytes.equal(last, transactionId)) transactions.push(transactionId)
    return transactions.length - 1
  })
  const sides = packed.map(({ transfer }) => ({
    from: addressIndex(transfer.from),
    to: addressIndex(transfer.to),
    contract: transfer.kind === "token" ? addressIndex(transfer.contract) : nobody
  }))

  writer.length = 0
  writer.reserve(8 + transactions.length * 32 + addresses.reduce((sum, { length }) => sum + 2 + length, 0))
  writer.u8(packed.length)
  writer.u8(transactions.length)
  for (const id of transactions) writer.raw(id)
  writer.u8(addresses.length)
  for (const address of addresses) {
    writer.u16(address.length)
    writer.raw(address)
  }
  packed.forEach(({ transfer }, i) => {
    writer.reserve(256)
    writer.u8(kinds.indexOf(transfer.kind))
    writer.u8(transactionOf[i]!)
    writer.u32(transfer.transaction)
    writer.u8(sides[i]!.from)
    writer.u8(sides[i]!.to)
    writer.big(transfer.kind === "transaction" ? undefined : transfer.amount)
    switch (transfer.kind) {
      case "coin":
        writer.u32(transfer.position)
        break
      case "token":
        writer.u8(sides[i]!.contract)
        writer.u8(tokenKinds.indexOf(transfer.token))
        writer.u32(transfer.position)
        writer.u32(transfer.batchIndex)
        writer.big(transfer.tokenId)
        break
      case "internal": {
        const operation = Buffer.from(`${transfer.operation} ${transfer.operationType}`)
        writer.reserve(2 + operation.length)
        writer.u16(operation.length)
        writer.raw(operation)
        break
      }
    }
  })
  return Uint8Array.prototype.slice.call(writer.bytes, 0, writer.length)
}

/** Reads a chunk back. */
export const unpack = (chunk: Uint8Array): ReadonlyArray<PackedTransfer> => {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  let at = 0
  const u8 = () => bytes[at++]!
  const u16 = () => {
    at += 2
    return bytes.readUInt16LE(at - 2)
  }
  const u32 = () => {
    at += 4
    return bytes.readUInt32LE(at - 4)
  }
  const raw = (length: number) => {
    at += length
    return Uint8Array.prototype.slice.call(bytes, at - length, at)
  }
  const big = () => {
    const length = u8()
    if (length === none) return undefined
    at += length
    return length === 0
      ? 0n
      : BigInt(
          `0x${Buffer.from(bytes.subarray(at - length, at))
            .reverse()
            .toString("hex")}`
        )
  }
  const count = u8()
  const transactions = Array.from({ length: u8() }, () => raw(32))
  const addresses = Array.from({ length: u8() }, () => raw(u16()) as AddressBytes)
  const transferOf = (kind: Entry["kind"]): Entry => {
    const transaction = u32()
    const from = addresses[u8()]
    const to = addresses[u8()]
    const moved = big()
    if (kind === "transaction") return { kind, transaction, from: from!, to }
    const amount = moved!
    if (kind === "coin") return { kind, transaction, from, to, amount, position: u32() }
    if (kind === "internal") {
      const [operation, operationType] = raw(u16()).toString().split(" ") as [string, string]
      return { kind, transaction, from: from!, to: to!, amount, operation, operationType }
    }
    const contract = addresses[u8()]!
    const token = tokenKinds[u8()]!
    const position = u32()
    const batchIndex = u32()
    const tokenId = big()
    return { kind, transaction, contract, token, position, batchIndex, tokenId, from: from!, to: to!, amount }
  }
  return Array.from({ length: count }, () => {
    const kind = kinds[u8()]!
    return { transactionId: transactions[u8()]!, transfer: transferOf(kind) }
  })
}
