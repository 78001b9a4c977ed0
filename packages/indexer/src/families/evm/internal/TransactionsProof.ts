/** Proof of a block's transactions: they hash to their hashes and to the block's root, and at `full` their senders signed them. */
import type { UnprovenPart } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import { type BlockAnswer, blobType, type Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import * as PartProof from "./PartProof.ts"
import * as Sender from "./Sender.ts"
import * as TransactionForm from "./TransactionForm.ts"
import * as Trie from "./Trie.ts"

/** Proves `items`, which are those that the block's root covers; senders where there is a `recover`. */
export const make = (chain: Chain, keccak: Trie.Hash, recover: Sender.Recover | undefined) => {
  const sender = (
    transaction: Transaction,
    form: TransactionForm.Hashed | undefined,
    index: number,
    recover: Sender.Recover
  ) => {
    if (form === undefined) return Proof.unknown(PartProof.part.senders, `transaction ${index} is not understood`)
    if (form.signed === undefined) return undefined
    if (!Sender.isSigned(transaction))
      return Proof.uncommitted(PartProof.part.senders, `transaction ${index} has no signature`)
    const signer = Sender.of(transaction, form.signed, keccak, recover)
    if (signer !== undefined && Hex.equal(signer, transaction.from)) return undefined
    throw new Hex.Mismatch({ message: `transaction ${index} is not signed by its sender` })
  }

  /** What is without proof of the list, of whose transactions `unproven` is without proof: the others hash to their hashes. */
  function* rootOfTransactions(
    { transactionsRoot: root }: BlockAnswer,
    forms: ReadonlyArray<TransactionForm.Hashed | undefined>,
    unproven: PartProof.Proved
  ): Generator<void, PartProof.Proved> {
    if (unproven !== undefined) return unproven
    if (root === undefined) return Proof.unknown(PartProof.part.transactions, "the node gives no transactionsRoot")
    const bytes = forms.map((form) => form!.bytes)
    const found = yield* Trie.rootOfList(bytes, keccak)
    // anvil's root is of the blobs too, which stand beside a transaction and are no part of a block.
    const hasBlobs = bytes.some(([type]) => type === blobType)
    if (chain.networkKind === "development" && hasBlobs && !Hex.equal(found, root)) {
      return Proof.uncommitted(PartProof.part.transactions, "the root of the block's transactions is not of them alone")
    }
    PartProof.fits(found, root, "the transactions do not hash to the transactionsRoot of the block")
    return undefined
  }

  return function* (
    block: BlockAnswer,
    items: ReadonlyArray<Transaction>,
    believed: Proof.Believed
  ): Generator<void, ReadonlyArray<UnprovenPart>> {
    const forms: Array<TransactionForm.Hashed | undefined> = []
    const unproven = yield* PartProof.each(items, PartProof.part.transactions, (transaction, index) => {
      forms[index] = undefined
      const form = TransactionForm.hashed(transaction)
      if (form === undefined) {
        return Proof.unknown(PartProof.part.transactions, `the type 0x${transaction.type.toString(16)} is not known`)
      }
      forms[index] = form
      if (Hex.equal(keccak(form.bytes), transaction.hash)) return undefined
      // anvil's impersonated accounts sign nothing, and their transactions' hashes are its own.
      if (chain.networkKind === "development" && form.signed !== undefined && !Sender.isSigned(transaction)) {
        return Proof.uncommitted(PartProof.part.transactions, `transaction ${index} has no signature`)
      }
      throw new Hex.Mismatch({ message: `transaction ${index} does not hash to its hash` })
    })
    const root = yield* TimeSlice.caught(() => rootOfTransactions(block, forms, unproven))
    const rootless = PartProof.understood(PartProof.part.transactions, root, believed)
    if (recover === undefined) return PartProof.unprovenOf(rootless)
    const unsigned = yield* PartProof.each(items, PartProof.part.senders, (transaction, index) =>
      sender(transaction, forms[index], index, recover)
    )
    return PartProof.unprovenOf(rootless, unsigned)
  }
}
