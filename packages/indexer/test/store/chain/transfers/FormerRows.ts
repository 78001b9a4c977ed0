/** The rows in which release 0.1 recorded the transfers of a block: the store reads them still. */
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import type { Row } from "@headwater/indexer/store/database/Tables"
import * as FormerChunk from "../../../../src/store/chain/transfers/internal/FormerChunk.ts"
import { type Kind, kinds, logOf, type PackedTransfer } from "../../../../src/store/chain/transfers/internal/Logs.ts"
import * as Posting from "../../../../src/store/chain/transfers/internal/Posting.ts"

const tokenKinds: ReadonlyArray<TokenKind> = ["fungible", "non-fungible", "multi"]
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

const pack = (packed: ReadonlyArray<PackedTransfer>): Uint8Array => {
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

/** The rows of one kind. */
export const rowsOf = (chain: number, kind: Kind, block: Block) => {
  const log = logOf(chain, kind)
  const packed = block.transfers
    .filter((transfer: Transfer) => transfer.kind === kind)
    .map((transfer): PackedTransfer => ({ transactionId: block.transactions[transfer.transaction]!, transfer }))
  const chunks: Array<Row<"transfer_chunk">> = []
  for (let i = 0; i < packed.length; i += FormerChunk.size) {
    const data = pack(packed.slice(i, i + FormerChunk.size))
    chunks.push({ log, position: Posting.positionOf(block.height, i), data })
  }
  const postings = packed.flatMap(({ transfer: { from, to } }, i) => {
    const sides = from !== undefined && to !== undefined && Bytes.equal(from, to) ? [from] : [from, to]
    return sides.flatMap((side) =>
      side === undefined ? [] : [Posting.keyOf(Posting.hash(side), Posting.positionOf(block.height, i))]
    )
  })
  const staged: ReadonlyArray<Row<"staged_postings">> =
    packed.length === 0 ? [] : [{ log, height: block.height, data: Buffer.concat(postings) }]
  return { chunks, staged }
}

/** Sorted postings, in the pages that release 0.1 made of them. */
export const pagesOf = (run: number, sorted: Buffer): ReadonlyArray<Row<"posting_page">> => {
  const perPage = 330 * Posting.width
  return Array.from({ length: Math.ceil(sorted.length / perPage) }, (_, i) => {
    const data = sorted.subarray(i * perPage, (i + 1) * perPage)
    return { run, first: data.subarray(0, Posting.width), data }
  })
}
