/** Transactions of one account that wait for a block at a node, and what they may take from their sender. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { FeeQuote } from "@headwater/core/evm/Preparation"
import * as Hex from "./Hex.ts"

/** The nonces from the first to before the second one. */
export interface Nonces {
  readonly from: number
  readonly before: number
}

/** Gas that one blob counts for (EIP-4844). */
export const gasOfBlob = 131_072n

/** The price that a transaction offers for a gas, and whether it has blobs (EIP-4844). */
export interface Offer extends FeeQuote {
  readonly hasBlobs: boolean
}

const capOf = ({ gasPrice, maxFeePerGas }: Hex.Json) => Hex.quantity(maxFeePerGas ?? gasPrice, "transaction.gasPrice")

const blobsOf = ({ blobVersionedHashes }: Hex.Json) =>
  Hex.array(blobVersionedHashes ?? [], "transaction.blobVersionedHashes").length

/** Throws `Malformed`. */
export const offerOf = (transaction: Hex.Json): Offer => ({
  cap: capOf(transaction),
  tip: Hex.quantity(transaction.maxPriorityFeePerGas ?? transaction.gasPrice, "transaction.maxPriorityFeePerGas"),
  hasBlobs: blobsOf(transaction) > 0
})

/** The most that a transaction can take from its sender, in Wei, as pools reserve it. */
const costOf = (transaction: Hex.Json): bigint =>
  Hex.quantity(transaction.value, "transaction.value") +
  Hex.quantity(transaction.gas, "transaction.gas") * capOf(transaction) +
  BigInt(blobsOf(transaction)) *
    gasOfBlob *
    Hex.quantity(transaction.maxFeePerBlobGas ?? "0x0", "transaction.maxFeePerBlobGas")

/** The lists that nodes have of what waits: what the next block takes, what is too cheap for it (Erigon), and the rest. */
const lists = ["pending", "baseFee", "queued"]

/**
 * Every transaction in an answer of `txpool_contentFrom`: where one stands that waits for a lower base fee, and no missing one,
 * differs from node to node. Throws `Malformed`.
 */
export const ofPool = (answer: unknown): ReadonlyArray<Hex.Json> => {
  const pool = Hex.object(answer, "the answer")
  return lists.flatMap((name) =>
    Object.values(Hex.object(pool[name] ?? {}, name)).map((entry) => Hex.object(entry, "transaction"))
  )
}

/** The transactions of a sender in a pending block, which nodes without one do not show. Throws `Malformed`. */
export const ofBlock =
  (sender: AddressBytes) =>
  (answer: unknown): ReadonlyArray<Hex.Json> =>
    answer === null
      ? []
      : Hex.array(Hex.object(answer, "block").transactions, "block.transactions")
          .map((entry) => Hex.object(entry, "transaction"))
          .filter(({ from }) => Hex.equal(Hex.address(from, "transaction.from"), sender))

/** The transactions of these nonces; undefined where one is not listed. Throws `Malformed`. */
export const ofNonces = (
  listed: ReadonlyArray<Hex.Json>,
  { before, from }: Nonces
): ReadonlyArray<Hex.Json> | undefined => {
  const byNonce = new Map(
    listed.map((transaction) => [Hex.integer(transaction.nonce, "transaction.nonce"), transaction])
  )
  const found: Array<Hex.Json> = []
  for (let nonce = from; nonce < before; nonce++) {
    const transaction = byNonce.get(nonce)
    if (transaction === undefined) return undefined
    found.push(transaction)
  }
  return found
}

/** What transactions can cost together, in Wei. Throws `Malformed`. */
export const cost = (transactions: ReadonlyArray<Hex.Json>): bigint =>
  transactions.reduce((sum, transaction) => sum + costOf(transaction), 0n)
