/** Receipts of a block, checked against its transactions, and what they say about success. */
import type { AddressBytes } from "@headwater/core/address/Address"
import { type BlockAnswer, hashText, type Transaction } from "./BlockAnswer.ts"
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

const receipt = (json: Hex.Json, transaction: Transaction, index: number, block: BlockAnswer): Receipt => {
  if (hashText(json.transactionHash, "receipt.transactionHash") !== transaction.hashText) {
    throw new Hex.Malformed(`receipt ${index} is not of transaction ${index}`)
  }
  if (hashText(json.blockHash, "receipt.blockHash") !== block.hashText) {
    throw new Hex.Malformed(`receipt ${index} is of another block`)
  }
  if (Hex.integer(json.transactionIndex, "receipt.transactionIndex") !== index) {
    throw new Hex.Malformed(`receipt ${index} has the index of another transaction`)
  }
  const creates = transaction.to === undefined && json.contractAddress != null
  return {
    succeeded: succeeded(json),
    contract: creates ? Hex.address(json.contractAddress, "receipt.contractAddress") : undefined,
    logs: Hex.array(json.logs, "receipt.logs"),
    json
  }
}

/** Whether the answer holds receipts, and all of this very block: if not it is worth asking by hash. */
export const areOf = (answer: unknown, block: BlockAnswer): answer is ReadonlyArray<unknown> =>
  Array.isArray(answer) &&
  answer.every((item: unknown) => {
    const hash = typeof item === "object" && item !== null ? (item as Hex.Json).blockHash : undefined
    return typeof hash === "string" && hash.toLowerCase() === block.hashText
  })

/**
 * One receipt for each transaction, in order. Throws {@link Hex.Malformed} where one is missing, foreign or out of
 * place.
 */
export const decode = (answer: unknown, block: BlockAnswer): ReadonlyArray<Receipt> => {
  const items = Hex.array(answer, "receipts")
  if (items.length !== block.transactions.length) {
    throw new Hex.Malformed(`${items.length} receipts for ${block.transactions.length} transactions`)
  }
  return items.map((item, index) =>
    receipt(Hex.object(item, `receipt ${index}`), block.transactions[index]!, index, block)
  )
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
