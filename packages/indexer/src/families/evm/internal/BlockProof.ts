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
import { createKeccak } from "hash-wasm"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import { type BlockAnswer, hashedTransactions } from "./BlockAnswer.ts"
import * as Fields from "./Fields.ts"
import * as HeaderHash from "./HeaderHash.ts"
import * as Hex from "./Hex.ts"
import * as PartProof from "./PartProof.ts"
import type { Receipt } from "./Receipts.ts"
import * as ReceiptsProof from "./ReceiptsProof.ts"
import * as Rlp from "./Rlp.ts"
import * as Sender from "./Sender.ts"
import * as TransactionsProof from "./TransactionsProof.ts"
import * as Trie from "./Trie.ts"

export { part } from "./PartProof.ts"

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

const beforeNitro = (name: string) => Proof.unknown(name, "blocks from before Nitro hash by rules of their own")

/** Key of the receipt that Bor makes of a block's state-sync, whose hash is the transaction's. */
const stateSyncKey = ({ header }: BlockAnswer): Uint8Array => {
  const key = Buffer.from(`matic-bor-receipt-${"\0".repeat(8)}`.padEnd(58, "\0"), "latin1")
  key.writeBigUInt64BE(BigInt(header.height), 18)
  key.set(header.hash, 26)
  return key
}

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
  const { dataFee, nitro = 0, stateSync } = chain.evm ?? {}
  const transactionsProof = TransactionsProof.make(chain, keccak, recover)
  const receiptsProof = ReceiptsProof.make(chain, level, keccak)

  /** What the roots of the block cover: all but what Bor adds. */
  const covered = (block: BlockAnswer) => (stateSync === true ? hashedTransactions(block) : block.transactions)

  const header = ({ header, json }: BlockAnswer): PartProof.Proved => {
    const hash = HeaderHash.of(json, keccak)
    const field = Hex.equal(hash, header.hash) ? undefined : HeaderHash.unknownField(json)
    if (field !== undefined) return Proof.unknown(PartProof.part.header, `the field ${field} is not known`)
    PartProof.fits(hash, header.hash, "the header does not hash to the block's hash")
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
    PartProof.fits(rootOfItems, root, "the withdrawals do not hash to the withdrawalsRoot of the block")
    return undefined
  }

  const added = (block: BlockAnswer): PartProof.Proved => {
    const transaction = block.transactions[covered(block).length]
    if (transaction === undefined) return undefined
    if (Hex.equal(keccak(stateSyncKey(block)), transaction.hash)) {
      return Proof.uncommitted(PartProof.part.stateSync, "no root of the block covers what Bor adds to its end")
    }
    throw new Hex.Mismatch({ message: "the state-sync transaction does not have the hash that its block gives it" })
  }

  const isBeforeNitro = ({ header }: BlockAnswer) => header.height < nitro

  return {
    block: function* (block, believed = Proof.believeNothing) {
      if (isBeforeNitro(block)) return [beforeNitro(PartProof.part.header), beforeNitro(PartProof.part.transactions)]
      const parts = PartProof.unprovenOf(
        PartProof.attempt(PartProof.part.header, () => header(block), believed),
        PartProof.understood(PartProof.part.withdrawals, yield* TimeSlice.caught(() => withdrawals(block)), believed),
        PartProof.attempt(PartProof.part.stateSync, () => added(block))
      )
      return [...parts, ...(yield* transactionsProof(block, covered(block), believed))]
    },
    receipts: function* (block, receipts, believed) {
      if (isBeforeNitro(block)) return [beforeNitro(PartProof.part.receipts)]
      return yield* receiptsProof(block, covered(block), receipts, believed)
    },
    traces: [Proof.uncommitted(PartProof.part.internal, "nothing in a block commits to calls between contracts")]
  }
})
