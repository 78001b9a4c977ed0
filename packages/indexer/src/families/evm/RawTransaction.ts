/** A raw transaction of an EVM chain, signed or not, in the one form that nodes take, with ethers as the decoder. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Transaction } from "ethers/transaction"
import type { Offer } from "./internal/WaitingTransactions.ts"

/** Of the types that this program knows. */
const lastType = 4

/** Digits of `0x` and the type, and of the header of a list (Yellow Paper, appendix B). */
const typeDigits = 4
const longList = 0xf7
const headerDigits = (first: number) => (first > longList ? 2 * (1 + first - longList) : 2)

/**
 * Whether bytes are the one form that a transaction has: ethers reads others too, as numbers with zeros in front, which no node
 * takes, and whose hash is another one. With blobs beside it the transaction is the first part of a list.
 */
const isCanonical = (transaction: Transaction, text: string, hasBlobs: boolean): boolean => {
  const form = transaction.signature === null ? transaction.unsignedSerialized : transaction.serialized
  if (!hasBlobs) return form === text
  const first = Number.parseInt(text.slice(typeDigits, typeDigits + 2), 16)
  return text.startsWith(form.slice(typeDigits), typeDigits + headerDigits(first))
}

const mistakeOf = (error: unknown) =>
  String(error instanceof Error ? error.message : error)
    .replace(/ \(.*$/s, "")
    .slice(0, 200)

const unreadable = (error: unknown) =>
  `must be a transaction of an EVM chain, legacy or of types 1 to ${lastType} (EIP-2718): ${mistakeOf(error)}`

/** The price that a transaction offers for a gas, and whether it has blobs (EIP-4844). */
export const offerOf = ({ blobVersionedHashes, gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Transaction): Offer => ({
  cap: maxFeePerGas ?? gasPrice ?? 0n,
  tip: maxPriorityFeePerGas ?? gasPrice ?? 0n,
  hasBlobs: (blobVersionedHashes ?? []).length > 0
})

const checked = (transaction: Transaction, text: string): Result.Result<Transaction, string> => {
  const { signature, type } = transaction
  if ((type ?? 0) > lastType) return Result.fail(unreadable(`of type ${type}`))
  if (signature !== null) {
    if (Result.isFailure(Result.try(() => transaction.from))) {
      return Result.fail("the signature must be one that a sender follows from")
    }
    // EIP-2: the other half of the signatures of a message is refused by every node. ethers does not write it either.
    if (!signature.isValid()) return Result.fail("the signature's s must be in its lower half")
  }
  const hasBlobs = transaction.blobs !== null
  // ethers writes one of the two forms of blobs alone.
  transaction.blobs = null
  return isCanonical(transaction, text, hasBlobs)
    ? Result.succeed(transaction)
    : Result.fail("must be encoded in the one canonical form")
}

/**
 * Reads `0x` and digits in lower case; blobs beside the transaction are left out. The failure is the rule that the bytes break,
 * as a sentence without its subject. Loads ethers, without which chains are followed.
 */
export const read = Effect.fnUntraced(function* (text: string): Effect.fn.Return<Transaction, string> {
  const { Transaction } = yield* Effect.promise(() => import("ethers/transaction"))
  return yield* Effect.fromResult(
    Result.flatMap(
      Result.mapError(
        Result.try(() => Transaction.from(text)),
        unreadable
      ),
      (transaction) => checked(transaction, text)
    )
  )
})
