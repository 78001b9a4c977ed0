/** `eth_getBlockByNumber` with full transactions, checked: what the decoders need of it. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { BlockHeader } from "@headwater/core/Block"
import * as Hex from "./Hex.ts"

export interface Transaction {
  readonly hash: Uint8Array
  /** Hash as the node wrote it, in lower case: to compare with receipts and traces. */
  readonly hashText: string
  readonly from: AddressBytes
  /** Absent in a contract creation. */
  readonly to: AddressBytes | undefined
  readonly value: bigint
  /** EIP-2718 type; 0 is legacy. */
  readonly type: number
  /** Coins that a deposit of the OP stack creates for `from` before it runs. */
  readonly mint: bigint
  readonly json: Hex.Json
}

export interface BlockAnswer {
  readonly header: BlockHeader
  readonly hashText: string
  readonly transactionsRoot: Uint8Array | undefined
  readonly receiptsRoot: Uint8Array | undefined
  readonly json: Hex.Json
  readonly transactions: ReadonlyArray<Transaction>
}

/** OP stack: a deposit from the layer below, or the chain's own. */
export const depositType = 0x7e

/** Hex text of a hash for comparing, whatever letter case the node uses. */
export const hashText = (value: unknown, field: string): string => {
  if (typeof value !== "string") throw new Hex.Malformed(`${field} must be a hash`)
  return value.toLowerCase()
}

const transaction = (json: Hex.Json, index: number, block: string): Transaction => {
  const text = hashText(json.hash, "transaction.hash")
  if (json.blockHash != null && hashText(json.blockHash, "transaction.blockHash") !== block) {
    throw new Hex.Malformed(`transaction ${index} is of another block`)
  }
  if (json.transactionIndex != null && Hex.integer(json.transactionIndex, "transactionIndex") !== index) {
    throw new Hex.Malformed(`transaction ${index} is not in its place`)
  }
  const type = json.type == null ? 0 : Hex.integer(json.type, "transaction.type")
  return {
    hash: Hex.hash(json.hash, "transaction.hash"),
    hashText: text,
    from: Hex.address(json.from, "transaction.from"),
    to: json.to == null ? undefined : Hex.address(json.to, "transaction.to"),
    value: Hex.quantity(json.value, "transaction.value"),
    type,
    mint: type === depositType && json.mint != null ? Hex.quantity(json.mint, "transaction.mint") : 0n,
    json
  }
}

const rootText = /^0x[0-9a-fA-F]{64}$/

/**
 * A root, where the node gives one: what hashes to it is unproven without. Development nodes that build no trie leave the
 * root out or write zeros, which no trie hashes to.
 */
const rootOf = (value: unknown, field: string): Uint8Array | undefined => {
  const root = typeof value === "string" && rootText.test(value) ? Hex.hash(value, field) : undefined
  return root?.some((byte) => byte !== 0) ? root : undefined
}

/** Throws {@link Hex.Malformed} where the answer is not the block at `height` with its transactions in full. */
export const decode = (answer: unknown, height: number): BlockAnswer => {
  const json = Hex.object(answer, "block")
  const number = Hex.integer(json.number, "block.number")
  if (number !== height) throw new Hex.Malformed(`asked for block ${height}, answered block ${number}`)
  const text = hashText(json.hash, "block.hash")
  return {
    header: {
      height,
      hash: Hex.hash(json.hash, "block.hash"),
      parent: Hex.hash(json.parentHash, "block.parentHash"),
      time: Hex.integer(json.timestamp, "block.timestamp")
    },
    hashText: text,
    json,
    transactionsRoot: rootOf(json.transactionsRoot, "block.transactionsRoot"),
    receiptsRoot: rootOf(json.receiptsRoot, "block.receiptsRoot"),
    transactions: Hex.array(json.transactions, "block.transactions").map((item, index) =>
      transaction(Hex.object(item, "block.transactions with full transactions"), index, text)
    )
  }
}

const isZero = (address: AddressBytes | undefined): boolean => address?.every((byte) => byte === 0) ?? false

/**
 * Polygon's state-sync transaction, which Bor adds to the end of a block's answer: from and to are the zero address.
 * It is not part of the block that was hashed, and many nodes give no trace of it and no receipt with the others.
 */
export const isStateSync = ({ from, to, type, value }: Transaction): boolean =>
  type === 0 && value === 0n && isZero(from) && isZero(to)

/** Transactions that are part of the hashed block, so all without a trailing state-sync one. */
export const hashedTransactions = ({ transactions }: BlockAnswer): ReadonlyArray<Transaction> => {
  const last = transactions.at(-1)
  return last !== undefined && isStateSync(last) ? transactions.slice(0, -1) : transactions
}
