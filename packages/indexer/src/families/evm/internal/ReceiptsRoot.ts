/**
 * Root hash of the trie of a block's receipts (Yellow Paper 4.3.2, EIP-2718), recomputed from what the node answered:
 * no log can be left out, added or changed unless the header is forged as well.
 */
import * as Effect from "effect/Effect"
import { createKeccak } from "hash-wasm"
import { type BlockAnswer, hashedTransactions } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import type { Receipt } from "./Receipts.ts"
import * as Rlp from "./Rlp.ts"
import * as Trie from "./Trie.ts"

/** Deposit of the OP stack: since Canyon its receipt ends with its nonce and its version. */
const depositType = 0x7e

/**
 * Types whose receipts are encoded as EIP-2718 says: legacy, EIP-2930, 1559, 4844, 7702, and those of Arbitrum Nitro.
 * Arbitrum's 0x78, from before Nitro, and Polygon's 0x7f have rules of their own.
 */
const plainTypes: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 0x64, 0x65, 0x66, 0x68, 0x69, 0x6a])

/** Hex of exactly so many bytes, to be decoded where it is written. */
const hexOf = (value: unknown, length: number, field: string): string => {
  if (typeof value !== "string" || value.length !== 2 + 2 * length) {
    throw new Hex.Malformed(`${field} must be 0x and ${2 * length} hex digits`)
  }
  return value
}

const logFields = (item: unknown): Rlp.Item => {
  const { address, data, topics } = Hex.object(item, "log")
  if (typeof data !== "string" || data.length % 2 !== 0) throw new Hex.Malformed("log.data must be 0x hex")
  return [
    hexOf(address, 20, "log.address"),
    Hex.array(topics, "log.topics").map((topic) => hexOf(topic, 32, "log.topic")),
    data
  ]
}

const ofQuantity = (value: unknown, field: string) => Rlp.integer(Hex.quantity(value, field))

/** The receipt as it is hashed; undefined where its type or the node's answer does not tell. */
const encode = ({ json, logs, succeeded }: Receipt, type: number): Uint8Array | undefined => {
  const deposit = type === depositType && json.depositReceiptVersion != null && json.depositNonce != null
  if (!(deposit || plainTypes.has(type)) || json.logsBloom == null || json.cumulativeGasUsed == null) return undefined
  const list = Rlp.encode([
    succeeded === undefined ? hexOf(json.root, 32, "receipt.root") : Rlp.integer(succeeded ? 1 : 0),
    ofQuantity(json.cumulativeGasUsed, "receipt.cumulativeGasUsed"),
    hexOf(json.logsBloom, 256, "receipt.logsBloom"),
    logs.map(logFields),
    ...(deposit
      ? [
          ofQuantity(json.depositNonce, "receipt.depositNonce"),
          ofQuantity(json.depositReceiptVersion, "receipt.depositReceiptVersion")
        ]
      : [])
  ])
  if (type === 0) return list
  const typed = new Uint8Array(1 + list.length)
  typed[0] = type
  typed.set(list, 1)
  return typed
}

export type ReceiptsRoot = (receipts: ReadonlyArray<Receipt>, block: BlockAnswer) => Uint8Array | undefined

/**
 * Makes the function that computes the root of a block's receipts, or undefined where it cannot be known. The function
 * throws {@link Hex.Malformed} for a broken log.
 */
export const make: Effect.Effect<ReceiptsRoot> = Effect.map(
  Effect.promise(() => createKeccak(256)),
  (hasher): ReceiptsRoot => {
    const keccak = (bytes: Uint8Array) => hasher.init().update(bytes).digest("binary")
    return (receipts, block) => {
      const encoded: Array<Uint8Array> = []
      for (const [index, { json, type }] of hashedTransactions(block).entries()) {
        // A node of Arbitrum from before Nitro names its types in its own way.
        const bytes = json.arbType == null ? encode(receipts[index]!, type) : undefined
        if (bytes === undefined) return undefined
        encoded.push(bytes)
      }
      return Trie.rootOfList(encoded, keccak)
    }
  }
)
