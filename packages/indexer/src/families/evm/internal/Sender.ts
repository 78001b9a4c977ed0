/** Who signed a transaction: the address of the key that recovery shows (Yellow Paper, appendix F; SEC 1, 4.1.6). */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import * as HexText from "../../node/HexText.ts"
import * as Rlp from "./Rlp.ts"
import { enveloped } from "./TransactionForm.ts"
import type { Hash } from "./Trie.ts"

/** What was signed, and the parity of the signature. Before EIP-155, v is 27 or 28; since then v holds the chain's id. */
const signing = ({ json, type }: Transaction, items: ReadonlyArray<Rlp.Item>) => {
  if (type !== 0) {
    return { message: enveloped(type, items), parity: Hex.quantity(json.yParity ?? json.v, "transaction.yParity") }
  }
  const v = Hex.quantity(json.v, "transaction.v")
  if (v < 35n) return { message: Rlp.encode(items), parity: v - 27n }
  return { message: Rlp.encode([...items, Rlp.integer((v - 35n) >> 1n), "0x", "0x"]), parity: (v - 35n) & 1n }
}

/** Compiled to WebAssembly, and loaded where it is needed alone: some six times as fast as recovery in JavaScript. */
export type Recover = typeof import("tiny-secp256k1").recover

export const loadRecover: Effect.Effect<Recover> = Effect.map(
  Effect.promise(() => import("tiny-secp256k1")),
  ({ recover }) => recover
)

/** Whether a transaction has a signature at all: those that a chain makes itself have zeros in its place. */
export const isSigned = ({ json }: Transaction): boolean =>
  Hex.quantity(json.r, "transaction.r") !== 0n && Hex.quantity(json.s, "transaction.s") !== 0n

/** A number of 256 bits, from the right. */
const putNumber = (target: Uint8Array, at: number, number: unknown, field: string) => {
  const digits = Hex.quantity(number, field).toString(16).padStart(64, "0")
  HexText.write(target, at, digits, 0, 32)
}

/** The address of the key that signed; undefined where the signature is of no key. */
export const of = (
  transaction: Transaction,
  items: ReadonlyArray<Rlp.Item>,
  keccak: Hash,
  recover: Recover
): AddressBytes | undefined => {
  const { json } = transaction
  const { message, parity } = signing(transaction, items)
  if (parity !== 0n && parity !== 1n) return undefined
  const signature = new Uint8Array(64)
  putNumber(signature, 0, json.r, "transaction.r")
  putNumber(signature, 32, json.s, "transaction.s")
  const key = Result.try(() => recover(keccak(message), signature, parity === 0n ? 0 : 1, false))
  return Result.isFailure(key) || key.success === null
    ? undefined
    : (keccak(key.success.subarray(1)).subarray(12) as AddressBytes)
}
