/**
 * The chunks that were written before {@link TransferChunk} had its form: 64 transfers of a block each, numbered without a
 * gap. They are read, and stay as they are.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import { type Entry, kinds, type PackedTransfer } from "./Logs.ts"

const tokenKinds: ReadonlyArray<TokenKind> = ["fungible", "non-fungible", "multi"]
/** An amount's length that stands for none. */
const none = 0xff

/** Transfers in one chunk; the last one of a block has what is left. */
export const size = 64

/** Reads a chunk. */
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
