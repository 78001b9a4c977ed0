/**
 * Proof of what a node answers about a block: the header hashes to the block's hash, and transactions, withdrawals and
 * receipts to the header's roots; where asked for, senders are who signed.
 *
 * A mismatch is a lie only where all that is hashed is known. A field, a type or a form of receipt that is not known, and
 * what nothing commits to, is unproven: said, and no reason to stop. So is a header, or a list under a root, of which all
 * nodes say the same: a fork may change how these are hashed, and show no new field.
 */
import type { UnprovenPart } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createKeccak } from "hash-wasm"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import { type BlockAnswer, depositType, hashedTransactions, type Transaction } from "./BlockAnswer.ts"
import * as Fields from "./Fields.ts"
import * as HeaderHash from "./HeaderHash.ts"
import * as Hex from "./Hex.ts"
import * as LogsBloom from "./LogsBloom.ts"
import * as ReceiptForm from "./ReceiptForm.ts"
import { hasStateRoot, type Receipt } from "./Receipts.ts"
import * as Rlp from "./Rlp.ts"
import * as Sender from "./Sender.ts"
import * as TransactionForm from "./TransactionForm.ts"
import * as Trie from "./Trie.ts"

type Unproven = ReadonlyArray<UnprovenPart>

export interface BlockProof {
  /**
   * Proves the header, transactions and withdrawals, and senders at `full`; says what is left without proof, of which is
   * what does not fit and is `believed`.
   */
  readonly block: (block: BlockAnswer, believed?: Proof.Believed) => Generator<void, Unproven>
  /** Proves receipts, and the addresses of contracts that transactions created; says what is left without proof. */
  readonly receipts: (
    block: BlockAnswer,
    receipts: ReadonlyArray<Receipt>,
    believed?: Proof.Believed
  ) => Generator<void, Unproven>
  /** What is without proof where a block's traces are read. */
  readonly traces: Unproven
}

/** The parts that may be without proof. */
export const part = {
  header: "header",
  transactions: "transactions",
  senders: "senders",
  receipts: "receipts",
  outcomes: "outcomes",
  created: "created contracts",
  withdrawals: "withdrawals",
  stateSync: "state-sync transactions",
  internal: "internal transactions"
} as const

type Proved = UnprovenPart | undefined

/** What cannot be read of a field that nothing else needs is not understood; a mismatch that is not believed is thrown on. */
const understood = (
  name: string,
  result: Result.Result<Proved, unknown>,
  believed: Proof.Believed = Proof.believeNothing
): Proved => {
  if (Result.isSuccess(result)) return result.success
  const { failure } = result
  if (failure instanceof Hex.Malformed) return Proof.unknown(name, failure.message)
  if (failure instanceof Hex.Mismatch && failure.content !== undefined && believed.has(failure.content)) {
    return Proof.unknown(name, `${failure.message}, and every node gives the same`)
  }
  throw failure
}

const attempt = (name: string, prove: () => Proved, believed?: Proof.Believed): Proved =>
  understood(name, Result.try(prove), believed)

/** What is hashed by rules that a fork may change fits the hash, or is a mismatch that names both. */
const fits = (hashed: Uint8Array, hash: Uint8Array, message: string): void => {
  if (Hex.equal(hashed, hash)) return
  throw new Hex.Mismatch({ message, content: `${Hex.encode(hashed)} ${Hex.encode(hash)}` })
}

/** Proves items one by one; the first of each part that is left without proof stands for the others. */
function* each<A>(
  items: ReadonlyArray<A>,
  name: string,
  prove: (item: A, index: number) => Proved
): Generator<void, Proved> {
  const unproven = yield* TimeSlice.map(items, (item, index) => attempt(name, () => prove(item, index)))
  return unproven.find((one) => one !== undefined)
}

const list = (...parts: ReadonlyArray<Proved>): Unproven => parts.filter((one) => one !== undefined)

const beforeNitro = (name: string) => Proof.unknown(name, "blocks from before Nitro hash by rules of their own")

/** Key of the receipt that Bor makes of a block's state-sync, whose hash is the transaction's. */
const stateSyncKey = ({ header }: BlockAnswer): Uint8Array => {
  const key = Buffer.from(`matic-bor-receipt-${"\0".repeat(8)}`.padEnd(58, "\0"), "latin1")
  key.writeBigUInt64BE(BigInt(header.height), 18)
  key.set(header.hash, 26)
  return key
}

/** The address of a contract that an account created with its transaction of this nonce (Yellow Paper, 7). */
const createdBy = (from: Uint8Array, nonce: unknown, keccak: Trie.Hash): Uint8Array =>
  keccak(Rlp.encode([from, Fields.quantity(nonce, "nonce")])).subarray(12)

function* nothing(): Generator<void, Unproven> {
  yield
  return []
}

/** Makes the proof of a chain's blocks. With `links` it proves nothing, and names nothing. */
export const make = Effect.fnUntraced(function* (chain: Chain, level: Proof.Level): Effect.fn.Return<BlockProof> {
  if (level === "links") return { block: nothing, receipts: nothing, traces: [] }
  const hasher = yield* Effect.promise(() => createKeccak(256))
  const keccak: Trie.Hash = (bytes) => hasher.init().update(bytes).digest("binary")
  const recover = level === "full" ? yield* Sender.loadRecover : undefined
  const { byzantium = 0, dataFee, nitro = 0, stateSync } = chain.evm ?? {}

  /** What the roots of the block cover: all but what Bor adds. */
  const covered = (block: BlockAnswer) => (stateSync === true ? hashedTransactions(block) : block.transactions)

  const header = ({ header, json }: BlockAnswer): Proved => {
    const hash = HeaderHash.of(json, keccak)
    const field = Hex.equal(hash, header.hash) ? undefined : HeaderHash.unknownField(json)
    if (field !== undefined) return Proof.unknown(part.header, `the field ${field} is not known`)
    fits(hash, header.hash, "the header does not hash to the block's hash")
    return undefined
  }

  function* withdrawals({ json }: BlockAnswer): Generator<void, undefined> {
    if (json.withdrawalsRoot == null || json.withdrawals == null) return undefined
    const items = yield* TimeSlice.map(Hex.array(json.withdrawals, "block.withdrawals"), (item) => {
      const { address, amount, index, validatorIndex } = Hex.object(item, "withdrawal")
      return Rlp.encode([
        Fields.quantity(index, "withdrawal.index"),
        Fields.quantity(validatorIndex, "withdrawal.validatorIndex"),
        Fields.address(address, "withdrawal.address"),
        Fields.quantity(amount, "withdrawal.amount")
      ])
    })
    const root = Hex.hash(json.withdrawalsRoot, "block.withdrawalsRoot")
    const rootOfItems = yield* Trie.rootOfList(items, keccak)
    // Since Isthmus this is the root of another thing on the OP stack, where no block has withdrawals.
    if (dataFee === "op-stack" && items.length === 0) return undefined
    fits(rootOfItems, root, "the withdrawals do not hash to the withdrawalsRoot of the block")
    return undefined
  }

  const sender = (
    transaction: Transaction,
    form: TransactionForm.Hashed | undefined,
    index: number,
    recover: Sender.Recover
  ) => {
    if (form === undefined) return Proof.unknown(part.senders, `transaction ${index} is not understood`)
    if (form.signed === undefined) return undefined
    if (!Sender.isSigned(transaction)) return Proof.uncommitted(part.senders, `transaction ${index} has no signature`)
    const signer = Sender.of(transaction, form.signed, keccak, recover)
    if (signer !== undefined && Hex.equal(signer, transaction.from)) return undefined
    throw new Hex.Mismatch({ message: `transaction ${index} is not signed by its sender` })
  }

  /** What is without proof of the list, of whose transactions `unproven` is without proof: the others hash to their hashes. */
  function* rootOfTransactions(
    { transactionsRoot: root }: BlockAnswer,
    forms: ReadonlyArray<TransactionForm.Hashed | undefined>,
    unproven: Proved
  ): Generator<void, Proved> {
    if (unproven !== undefined) return unproven
    if (root === undefined) return Proof.unknown(part.transactions, "the node gives no transactionsRoot")
    const bytes = forms.map((form) => form!.bytes)
    fits(
      yield* Trie.rootOfList(bytes, keccak),
      root,
      "the transactions do not hash to the transactionsRoot of the block"
    )
    return undefined
  }

  function* transactions(block: BlockAnswer, believed: Proof.Believed): Generator<void, Unproven> {
    const items = covered(block)
    const forms: Array<TransactionForm.Hashed | undefined> = []
    const unproven = yield* each(items, part.transactions, (transaction, index) => {
      forms[index] = undefined
      const form = TransactionForm.hashed(transaction)
      if (form === undefined) {
        return Proof.unknown(part.transactions, `the type 0x${transaction.type.toString(16)} is not known`)
      }
      forms[index] = form
      if (Hex.equal(keccak(form.bytes), transaction.hash)) return undefined
      // anvil's impersonated accounts sign nothing, and their transactions' hashes are its own.
      if (chain.networkKind === "development" && form.signed !== undefined && !Sender.isSigned(transaction)) {
        return Proof.uncommitted(part.transactions, `transaction ${index} has no signature`)
      }
      throw new Hex.Mismatch({ message: `transaction ${index} does not hash to its hash` })
    })
    const root = yield* TimeSlice.caught(() => rootOfTransactions(block, forms, unproven))
    const rootless = understood(part.transactions, root, believed)
    if (recover === undefined) return list(rootless)
    const unsigned = yield* each(items, part.senders, (transaction, index) =>
      sender(transaction, forms[index], index, recover)
    )
    return list(rootless, unsigned)
  }

  const added = (block: BlockAnswer): Proved => {
    const transaction = block.transactions[covered(block).length]
    if (transaction === undefined) return undefined
    if (Hex.equal(keccak(stateSyncKey(block)), transaction.hash)) {
      return Proof.uncommitted(part.stateSync, "no root of the block covers what Bor adds to its end")
    }
    throw new Hex.Mismatch({ message: "the state-sync transaction does not have the hash that its block gives it" })
  }

  const created = (transaction: Transaction, receipt: Receipt, index: number): Proved => {
    if (receipt.contract === undefined) return undefined
    const { from, json, type } = transaction
    const isDeposit = type === depositType
    if (!isDeposit && TransactionForm.namesSender(type)) {
      return Proof.unknown(part.created, `the nonce of a creation by type 0x${type.toString(16)} is not told`)
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

  function* provenReceipts(block: BlockAnswer, receipts: ReadonlyArray<Receipt>): Generator<void, Proved> {
    const items = covered(block)
    const { header, json, receiptsRoot } = block
    const rootless = header.height < byzantium && receipts.some((receipt) => !hasStateRoot(receipt.json))
    const derive = LogsBloom.deriving(keccak)
    const derived = level === "full" || receiptsRoot === undefined || rootless
    const union = new Uint8Array(LogsBloom.length)
    const encoded: Array<Uint8Array> = []
    const unread = yield* each(items, part.receipts, ({ type }, index) => {
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
      return Proof.unknown(part.receipts, `the type 0x${unknown.type.toString(16)} is not known`)
    }
    if (receiptsRoot !== undefined && !isRoot && !rootless) {
      const field = ReceiptForm.unknownField(receipts)
      if (field !== undefined) return Proof.unknown(part.receipts, `the field ${field} is not known`)
      fits(root, receiptsRoot, "the receipts do not hash to the receiptsRoot of the block")
    }
    const bloom = LogsBloom.given(json.logsBloom, "block.logsBloom")
    if (bloom !== undefined && !Hex.equal(bloom, union)) {
      throw new Hex.Mismatch({ message: "the logs of the block do not make its logsBloom" })
    }
    if (isRoot) return undefined
    return Proof.unknown(
      part.receipts,
      rootless
        ? "the node gives no state root, which receipts of this height are hashed with"
        : "the node gives no receiptsRoot"
    )
  }

  const isBeforeNitro = ({ header }: BlockAnswer) => header.height < nitro

  return {
    block: function* (block, believed = Proof.believeNothing) {
      if (isBeforeNitro(block)) return [beforeNitro(part.header), beforeNitro(part.transactions)]
      const parts = list(
        attempt(part.header, () => header(block), believed),
        understood(part.withdrawals, yield* TimeSlice.caught(() => withdrawals(block)), believed),
        attempt(part.stateSync, () => added(block))
      )
      return [...parts, ...(yield* transactions(block, believed))]
    },
    receipts: function* (block, receipts, believed) {
      if (isBeforeNitro(block)) return [beforeNitro(part.receipts)]
      if (block.transactions.length > 0 && HeaderHash.settlesLater(block.json)) {
        return [Proof.unknown(part.receipts, "the header commits to receipts of blocks before (ACP-194)")]
      }
      const outcome =
        block.header.height < byzantium && receipts.length > 0
          ? Proof.uncommitted(part.outcomes, "before Byzantium receipts have no status")
          : undefined
      const proven = yield* TimeSlice.caught(() => provenReceipts(block, receipts))
      const unproven = understood(part.receipts, proven, believed)
      const contracts = yield* each(covered(block), part.created, (transaction, index) =>
        created(transaction, receipts[index]!, index)
      )
      return list(unproven, outcome, contracts)
    },
    traces: [Proof.uncommitted(part.internal, "nothing in a block commits to calls between contracts")]
  }
})
