/** Proof of a block's receipts: they hash to the block's root, and name contracts that their transactions created. */
import type { UnprovenPart } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import { type BlockAnswer, depositType, type Transaction } from "./BlockAnswer.ts"
import * as Fields from "./Fields.ts"
import * as HeaderHash from "./HeaderHash.ts"
import * as Hex from "./Hex.ts"
import * as LogsBloom from "./LogsBloom.ts"
import * as PartProof from "./PartProof.ts"
import * as ReceiptForm from "./ReceiptForm.ts"
import { hasStateRoot, type Receipt } from "./Receipts.ts"
import * as Rlp from "./Rlp.ts"
import * as TransactionForm from "./TransactionForm.ts"
import * as Trie from "./Trie.ts"

/** The address of a contract that an account created with its transaction of this nonce (Yellow Paper, 7). */
const createdBy = (from: Uint8Array, nonce: unknown, keccak: Trie.Hash): Uint8Array =>
  keccak(Rlp.encode([from, Fields.quantity(nonce, "nonce")])).subarray(12)

/** Proves the receipts of `items`, which are the transactions that the block's roots cover. */
export const make = (chain: Chain, level: Proof.Level, keccak: Trie.Hash) => {
  const { byzantium = 0 } = chain.evm ?? {}

  const created = (transaction: Transaction, receipt: Receipt, index: number): PartProof.Proved => {
    if (receipt.contract === undefined) return undefined
    const { from, json, type } = transaction
    const isDeposit = type === depositType
    if (!isDeposit && TransactionForm.namesSender(type)) {
      return Proof.unknown(PartProof.part.created, `the nonce of a creation by type 0x${type.toString(16)} is not told`)
    }
    const address = createdBy(from, isDeposit ? receipt.json.depositNonce : json.nonce, keccak)
    if (Hex.equal(address, receipt.contract)) return undefined
    throw new Hex.Mismatch({ message: `receipt ${index} names a contract that its transaction did not create` })
  }

  /** Gas that a transaction used, which tells the outcome where no status does: what the receipts count together. */
  const gasUsed = (receipt: Receipt, before: Receipt | undefined, index: number): void => {
    const cumulative = Hex.quantity(receipt.json.cumulativeGasUsed, "receipt.cumulativeGasUsed")
    const used =
      cumulative -
      (before === undefined ? 0n : Hex.quantity(before.json.cumulativeGasUsed, "receipt.cumulativeGasUsed"))
    if (Hex.quantity(receipt.json.gasUsed, "receipt.gasUsed") === used) return
    throw new Hex.Mismatch({ message: `the gas of receipt ${index} is not what the receipts count` })
  }

  function* provenReceipts(
    block: BlockAnswer,
    items: ReadonlyArray<Transaction>,
    receipts: ReadonlyArray<Receipt>
  ): Generator<void, PartProof.Proved> {
    const { header, json, receiptsRoot } = block
    const rootless = header.height < byzantium && receipts.some((receipt) => !hasStateRoot(receipt.json))
    const derive = LogsBloom.deriving(keccak)
    const derived = level === "full" || receiptsRoot === undefined || rootless
    const union = new Uint8Array(LogsBloom.length)
    const encoded: Array<Uint8Array> = []
    const unread = yield* PartProof.each(items, PartProof.part.receipts, ({ type }, index) => {
      const receipt = receipts[index]!
      const given = LogsBloom.given(receipt.json.logsBloom, "receipt.logsBloom")
      const bloom = given === undefined || derived ? derive(receipt.logs) : given
      if (given !== undefined && !Hex.equal(bloom, given)) {
        throw new Hex.Mismatch({ message: `the logs of receipt ${index} do not make its logsBloom` })
      }
      LogsBloom.join(union, bloom)
      if (receipt.succeeded === undefined) gasUsed(receipt, receipts[index - 1], index)
      encoded[index] = ReceiptForm.hashed(receipt, type, bloom)
      return undefined
    })
    if (unread !== undefined) return unread
    const unknown = items.find(({ type }) => !TransactionForm.isKnown(type))
    const root = yield* Trie.rootOfList(encoded, keccak)
    const isRoot = receiptsRoot !== undefined && Hex.equal(root, receiptsRoot)
    if (!isRoot && unknown !== undefined) {
      return Proof.unknown(PartProof.part.receipts, `the type 0x${unknown.type.toString(16)} is not known`)
    }
    if (receiptsRoot !== undefined && !isRoot && !rootless) {
      const field = ReceiptForm.unknownField(receipts)
      if (field !== undefined) return Proof.unknown(PartProof.part.receipts, `the field ${field} is not known`)
      PartProof.fits(root, receiptsRoot, "the receipts do not hash to the receiptsRoot of the block")
    }
    const bloom = LogsBloom.given(json.logsBloom, "block.logsBloom")
    if (bloom !== undefined && !Hex.equal(bloom, union)) {
      throw new Hex.Mismatch({ message: "the logs of the block do not make its logsBloom" })
    }
    if (isRoot) return undefined
    return Proof.unknown(
      PartProof.part.receipts,
      rootless
        ? "the node gives no state root, which receipts of this height are hashed with"
        : "the node gives no receiptsRoot"
    )
  }

  return function* (
    block: BlockAnswer,
    items: ReadonlyArray<Transaction>,
    receipts: ReadonlyArray<Receipt>,
    believed: Proof.Believed | undefined
  ): Generator<void, ReadonlyArray<UnprovenPart>> {
    if (block.transactions.length > 0 && HeaderHash.settlesLater(block.json)) {
      return [Proof.unknown(PartProof.part.receipts, "the header commits to receipts of blocks before (ACP-194)")]
    }
    const outcome =
      block.header.height < byzantium && receipts.length > 0
        ? Proof.uncommitted(PartProof.part.outcomes, "before Byzantium receipts have no status")
        : undefined
    const proven = yield* TimeSlice.caught(() => provenReceipts(block, items, receipts))
    const unproven = PartProof.understood(PartProof.part.receipts, proven, believed)
    const contracts = yield* PartProof.each(items, PartProof.part.created, (transaction, index) =>
      created(transaction, receipts[index]!, index)
    )
    return PartProof.unprovenOf(unproven, outcome, contracts)
  }
}
