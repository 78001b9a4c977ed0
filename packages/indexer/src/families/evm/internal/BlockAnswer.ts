/**
 * `eth_getBlockByNumber` with full transactions: what the decoders need of it. Only the header can fail; a transaction
 * that cannot be read is listed as such.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
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

/** An entry of the block's list of transactions. */
export interface Listed {
  /** As the node gave it. */
  readonly raw: unknown
  /** Undefined where the node's answer does not tell the hash. */
  readonly hash: Uint8Array | undefined
  /** Empty without a hash. */
  readonly hashText: string
  /** The index in the block that the entry states, else its place in the list. */
  readonly index: number
  /** Undefined where a field cannot be read, or the type is not known. */
  readonly transaction: Transaction | undefined
  /** Of a type that is not known: what the node states, of which nobody knows what it means. */
  readonly unknown: Transaction | undefined
  /** The rules that fields break. */
  readonly broken: ReadonlyArray<string>
}

export interface BlockAnswer {
  readonly header: BlockHeader
  readonly hashText: string
  readonly transactionsRoot: Uint8Array | undefined
  readonly receiptsRoot: Uint8Array | undefined
  readonly json: Hex.Json
  /** Every transaction, by its index. */
  readonly listed: ReadonlyArray<Listed>
  /** Those that could be read. */
  readonly transactions: ReadonlyArray<Transaction>
}

/** OP stack: a deposit from the layer below, or the chain's own. */
export const depositType = 0x7e
/** OP stack since Lagoon: what a sequencer takes back of the gas of a block's transactions, whose receipts count what is left. */
export const postExecType = 0x7d
/** EIP-4844. */
export const blobType = 3

/** Hex text of a hash for comparing, whatever letter case the node uses. */
const hashText = (value: unknown, field: string): string => {
  if (typeof value !== "string") throw new Hex.Malformed(`${field} must be a hash`)
  return value.toLowerCase()
}

const arbitrumTypes = [0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, 0x78]
/** Polygon: state-sync, since Bor hashes it with the others. */
const polygonType = 0x7f

/** The types of which is known what their `value` means: those of Ethereum up to EIP-7702, and of rollups. */
const knownTypes: ReadonlySet<number> = new Set([
  0,
  1,
  2,
  3,
  4,
  ...arbitrumTypes,
  postExecType,
  depositType,
  polygonType
])

const typeOf = (json: Hex.Json): number => (json.type == null ? 0 : Hex.integer(json.type, "transaction.type"))

const readFields = (json: Hex.Json, type: number, block: string): Transaction => {
  const hash = Hex.hash(json.hash, "transaction.hash")
  if (json.blockHash != null && hashText(json.blockHash, "transaction.blockHash") !== block) {
    throw new Hex.Malformed("transaction.blockHash is that of another block")
  }
  return {
    hash,
    hashText: hashText(json.hash, "transaction.hash"),
    from: Hex.address(json.from, "transaction.from"),
    to: json.to == null ? undefined : Hex.address(json.to, "transaction.to"),
    value: Hex.quantity(json.value, "transaction.value"),
    type,
    mint: type === depositType && json.mint != null ? Hex.quantity(json.mint, "transaction.mint") : 0n,
    json
  }
}

const readTransaction = (json: Hex.Json, block: string): Transaction => {
  const type = typeOf(json)
  if (!knownTypes.has(type)) throw new Hex.Malformed(`transaction.type 0x${type.toString(16)} is not known`)
  return readFields(json, type, block)
}

/** Fields that a type to come need not have. */
const readUnknown = (json: Hex.Json, block: string): Transaction | undefined => {
  const type = typeOf(json)
  if (knownTypes.has(type)) return undefined
  const { gas, input, value } = json
  return readFields({ ...json, gas: gas ?? "0x0", input: input ?? "0x", value: value ?? "0x0" }, type, block)
}

const list = (raw: unknown, place: number, block: string): Listed => {
  const { broken, read } = DecodedTransaction.parts()
  const json = read(() => Hex.object(raw, "transaction")) ?? {}
  const { hash: text, transactionIndex } = json
  const transaction = read(() => readTransaction(json, block))
  const others = DecodedTransaction.parts()
  const hash = transaction?.hash ?? others.read(() => Hex.hash(text, "transaction.hash"))
  const unknown = transaction === undefined ? others.read(() => readUnknown(json, block)) : undefined
  const index =
    transactionIndex == null ? place : read(() => Hex.integer(transactionIndex, "transaction.transactionIndex"))
  return {
    ...{ raw, hash, transaction, unknown, broken },
    hashText: hash === undefined ? "" : hashText(text, "transaction.hash"),
    index: index ?? place
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

/** Throws {@link Hex.Malformed} where the answer is not the block at `height` with a list of transactions. */
export function* decode(answer: unknown, height: number): Generator<void, BlockAnswer> {
  const json = Hex.object(answer, "block")
  const number = Hex.integer(json.number, "block.number")
  if (number !== height) throw new Hex.Malformed(`asked for block ${height}, answered block ${number}`)
  const text = hashText(json.hash, "block.hash")
  const entries = Hex.array(json.transactions, "block.transactions")
  if (entries.length > 0 && entries.every((entry) => typeof entry === "string" && entry.length === 66)) {
    throw new Hex.Malformed("block.transactions must be full transactions")
  }
  const listed = yield* TimeSlice.map(entries, (raw, place) => list(raw, place, text))
  listed.sort((a, b) => a.index - b.index)
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
    listed,
    transactions: listed.flatMap(({ transaction }) => transaction ?? [])
  }
}

/**
 * Polygon's state-sync transaction, which Bor adds to the end of a block's answer: from and to are the zero address.
 * It is not part of the block that was hashed, and many nodes give no trace of it and no receipt with the others.
 */
export const isStateSync = ({ from, to, type, value }: Transaction): boolean =>
  type === 0 && value === 0n && Bytes.isZero(from) && Bytes.isZero(to)

/** Whether it is Polygon's state-sync transaction, added to the answer or, since Madhugiri, with a type of its own. */
export const syncsState = (transaction: Transaction): boolean =>
  transaction.type === polygonType || isStateSync(transaction)

/** Transactions that are part of the hashed block, so all without a trailing state-sync one. */
export const hashedTransactions = ({ transactions }: BlockAnswer): ReadonlyArray<Transaction> => {
  const last = transactions.at(-1)
  return last !== undefined && isStateSync(last) ? transactions.slice(0, -1) : transactions
}
