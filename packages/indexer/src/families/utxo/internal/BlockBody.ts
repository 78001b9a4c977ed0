/** What a block's transactions move: the part of a block that the strategies of reading blocks fill in. */
import type { CoinTransfer, NotUnderstood, Spend } from "@headwater/core/Block"
import * as DecodedTransaction from "../../DecodedTransaction.ts"

export interface BlockBody {
  /** Ids in block order, bytes as they are written; empty for one that could not be read. */
  readonly transactions: Array<Uint8Array>
  readonly transfers: Array<CoinTransfer>
  readonly spends: Array<Spend>
  /** Transactions that were not understood in full; absent where all were. */
  notUnderstood?: Array<NotUnderstood>
}

const noId = new Uint8Array()

const contentOf = (
  { spends, transactions, transfers }: BlockBody,
  listed?: Uint8Array
): DecodedTransaction.Content => ({
  id: transactions[0] ?? listed,
  transfers,
  spends
})

const put = (
  body: BlockBody,
  own: BlockBody,
  decoded: DecodedTransaction.DecodedTransaction,
  listed?: Uint8Array
): void => {
  const id = decoded.id ?? listed
  body.transactions.push(id ?? noId)
  if (decoded.id !== undefined) {
    for (const transfer of own.transfers) body.transfers.push(transfer)
    for (const spend of own.spends) body.spends.push(spend)
  }
  if (decoded.broken.length === 0) return
  body.notUnderstood ??= []
  body.notUnderstood.push(DecodedTransaction.toNotUnderstood({ ...decoded, id }, body.notUnderstood.length))
}

/**
 * Adds a transaction to `body`, as far as `read` can read it: `read` fills a body of its own, whose one transaction has
 * the index `index` and, where its id is not to be had otherwise, the id `listed`.
 */
export const add = (
  body: BlockBody,
  raw: unknown,
  read: (own: BlockBody, parts: DecodedTransaction.Parts) => void,
  listed?: Uint8Array
): void => {
  const own = empty()
  const decoded = DecodedTransaction.decode(
    raw,
    (parts) => {
      read(own, parts)
      return contentOf(own, listed)
    },
    DecodedTransaction.coinsAlone
  )
  put(body, own, decoded, listed)
}

/** As {@link add}, of a transaction that may be large. */
export function* addInSlices(
  body: BlockBody,
  raw: unknown,
  read: (own: BlockBody, parts: DecodedTransaction.Parts) => Generator<void, void>
): Generator<void, void> {
  const own = empty()
  const decoded = yield* DecodedTransaction.decodeInSlices(
    raw,
    function* (parts) {
      yield* read(own, parts)
      return contentOf(own)
    },
    DecodedTransaction.coinsAlone
  )
  put(body, own, decoded)
}

export const empty = (): BlockBody => ({ transactions: [], transfers: [], spends: [] })

const opReturn = 0x6a
/** MAX_SCRIPT_SIZE of every Bitcoin-derived node. */
const maxScriptSize = 10_000

/**
 * Whether an output can ever be spent: the rule by which the nodes themselves leave outputs out of their UTXO set
 * (`CScript::IsUnspendable`). What cannot be spent is no transfer; everything else is one, also an output of zero, of
 * an empty script, or one that has no address (pay-to-public-key, bare multisig, MWEB peg-in and HogEx address).
 */
export const isSpendable = (script: Uint8Array): boolean => isSpendableAt(script, 0, script.length)

/** As {@link isSpendable}, of a script that stands among other bytes. */
export const isSpendableAt = (bytes: Uint8Array, from: number, length: number): boolean =>
  (length === 0 || bytes[from] !== opReturn) && length <= maxScriptSize
