/** Receipts of a block, each found by its transaction, and what they say about success. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as TimeSlice from "../../../TimeSlice.ts"
import type { BlockAnswer, Listed, Transaction } from "./BlockAnswer.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import * as Hex from "./Hex.ts"

export interface Receipt {
  /**
   * Whether the transaction took effect; undefined before Byzantium (EIP-658), where receipts hold a state root in
   * place of a status.
   */
  readonly succeeded: boolean | undefined
  /** Of a contract creation. */
  readonly contract: AddressBytes | undefined
  readonly logs: ReadonlyArray<unknown>
  readonly json: Hex.Json
}

const zeroRoot = /^0x0*$/

/** A post-transaction state root: geth then writes a status of 0 beside it, which means nothing. */
export const hasStateRoot = (json: Hex.Json): boolean =>
  typeof json.root === "string" && json.root.length === 66 && !zeroRoot.test(json.root)

const succeeded = (json: Hex.Json): boolean | undefined => {
  const status = json.status == null ? undefined : Hex.quantity(json.status, "receipt.status")
  if (status === 1n) return true
  if (hasStateRoot(json)) return undefined
  if (status === 0n) return false
  throw new Hex.Malformed("receipt must have a status of 0x0 or 0x1, or a state root")
}

/** Receipts of a block by the hash of their transaction, in lower case. */
export type Found = ReadonlyMap<string, Hex.Json>

/** The receipts of an answer that say that they are of this very block, by the hash of their transaction. */
export function* byTransaction(answer: unknown, block: BlockAnswer): Generator<void, Found> {
  const found = new Map<string, Hex.Json>()
  for (const item of Array.isArray(answer) ? (answer as ReadonlyArray<unknown>) : []) {
    yield
    if (typeof item !== "object" || item === null) continue
    const json = item as Hex.Json
    if (typeof json.blockHash !== "string" || json.blockHash.toLowerCase() !== block.hashText) continue
    if (typeof json.transactionHash === "string") found.set(json.transactionHash.toLowerCase(), json)
  }
  return found
}

/** A receipt as far as it was read. */
export interface ReadReceipt {
  /** Undefined where there is none, and where whether the transaction took effect cannot be read. */
  readonly receipt: Receipt | undefined
  /** Whether it is known which logs the transaction has. */
  readonly knowsLogs: boolean
  /** The rules that are broken. */
  readonly broken: ReadonlyArray<string>
}

const unread = (rule: string): ReadReceipt => ({ receipt: undefined, knowsLogs: false, broken: [rule] })

const read = (json: Hex.Json | undefined, { index, transaction }: Listed): ReadReceipt => {
  if (json === undefined) return unread("there is no receipt of the transaction")
  const parts = DecodedTransaction.parts()
  const said = parts.read(() => Hex.integer(json.transactionIndex, "receipt.transactionIndex"))
  if (said !== index) return unread(`receipt.transactionIndex ${said ?? ""} is not that of the transaction`)
  const effect = parts.read(() => ({ succeeded: succeeded(json) }))
  const creates = transaction?.to === undefined && json.contractAddress != null
  const contract = creates ? parts.read(() => Hex.address(json.contractAddress, "receipt.contractAddress")) : undefined
  const logs = parts.read(() => Hex.array(json.logs, "receipt.logs"))
  return {
    receipt: effect && { ...effect, contract, logs: logs ?? [], json },
    knowsLogs: logs !== undefined,
    broken: parts.broken
  }
}

/** The receipt of each transaction of the block, in the order of the transactions. */
export const decode = (found: Found, block: BlockAnswer): Generator<void, ReadonlyArray<ReadReceipt>> =>
  TimeSlice.map(block.listed, (listed) => read(found.get(listed.hashText), listed))

/** Receipts of the block whose transactions the block does not list. */
export function* unlisted(
  found: Found,
  block: BlockAnswer
): Generator<void, ReadonlyArray<DecodedTransaction.DecodedTransaction>> {
  const listed = new Set(block.listed.map(({ hashText }) => hashText))
  const others: Array<DecodedTransaction.DecodedTransaction> = []
  for (const [hash, json] of found) {
    if (listed.has(hash)) continue
    others.push(
      DecodedTransaction.decode(json, ({ note, read }) => {
        note("the receipt is of no transaction that the block lists")
        return { id: read(() => Hex.hash(json.transactionHash, "receipt.transactionHash")), transfers: [] }
      })
    )
    yield
  }
  return others
}

/** Gas of a transaction that runs no code, before EIP-2028: 21,000, 4 or 68 a byte of data (Yellow Paper, 2016). */
const gasWithoutCode = ({ json }: Transaction): number => {
  const input = typeof json.input === "string" ? json.input : "0x"
  let gas = 21_000
  for (let at = 2; at < input.length; at += 2) gas += input.startsWith("00", at) ? 4 : 68
  return gas
}

/**
 * Success of a transaction before Byzantium where no trace tells: what failed used all of its gas and left no logs.
 * Using all gas is also possible where no code ran, that is where the gas is just that of the data.
 */
export const probablySucceeded = (transaction: Transaction, { json, logs }: Receipt): boolean => {
  const limit = Hex.integer(transaction.json.gas, "transaction.gas")
  const used = Hex.integer(json.gasUsed, "receipt.gasUsed")
  return logs.length > 0 || used < limit || (transaction.to !== undefined && used === gasWithoutCode(transaction))
}
