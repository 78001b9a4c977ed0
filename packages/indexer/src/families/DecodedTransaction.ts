/**
 * A transaction as its family has decoded what the node gave, as far as that is understood; and the block made of such
 * transactions.
 *
 * Decoding a transaction has no error by which a block could fail: each part is read by itself, and the rule that a part
 * breaks is noted beside what the other parts have given. So no transaction of a later kind holds up its block.
 */
import type { Block, BlockHeader, NotUnderstood, Spend, Transfer } from "@headwater/core/Block"
import * as Result from "effect/Result"

/** What was read of a transaction. */
export interface Content {
  /** Undefined where it could not be read: nothing else of the transaction is used then. */
  readonly id: Uint8Array | undefined
  readonly transfers: ReadonlyArray<Transfer>
  readonly spends?: ReadonlyArray<Spend>
}

export interface DecodedTransaction extends Required<Content> {
  /** The rules that parts of the transaction break; empty where everything is understood. */
  readonly broken: ReadonlyArray<string>
  /** What the node gave. */
  readonly raw: unknown
}

/** Reads the parts of one transaction. */
export interface Parts {
  /** The rules that were broken until now. */
  readonly broken: ReadonlyArray<string>
  /** What `read` gives; undefined where `read` throws, whose message is noted. */
  readonly read: <A>(read: () => A) => A | undefined
  /** What a result holds; undefined for a failure, which is noted. */
  readonly take: <A>(result: Result.Result<A, string>) => A | undefined
  /** Notes a broken rule. */
  readonly note: (rule: string) => void
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Reads parts of what belongs to one transaction. */
export const parts = (): Parts => {
  const broken: Array<string> = []
  const note = (rule: string) => void broken.push(rule)
  const take = <A>(result: Result.Result<A, string>): A | undefined => {
    if (Result.isSuccess(result)) return result.success
    note(result.failure)
    return undefined
  }
  return { broken, note, take, read: (read) => take(Result.mapError(Result.try(read), messageOf)) }
}

/** Decodes one transaction, which cannot fail: also what `read` throws is noted. `raw` is what the node gave. */
export const decode = (raw: unknown, read: (parts: Parts) => Content): DecodedTransaction => {
  const own = parts()
  const { broken } = own
  const content = own.read(() => read(own))
  return content?.id === undefined
    ? { id: undefined, transfers: [], spends: [], broken, raw }
    : { id: content.id, transfers: content.transfers, spends: content.spends ?? [], broken, raw }
}

const maxReason = 300
const maxRaw = 4_096
/** Transactions of a block whose raw form is kept: a kind that nobody knew may be that of all transactions. */
const keptRaw = 16

const printable = (text: string, length: number): string =>
  text
    .slice(0, length * 2)
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, length)

const textOf = (raw: unknown): string =>
  raw instanceof Uint8Array
    ? Buffer.from(raw.subarray(0, maxRaw / 2)).toString("hex")
    : typeof raw === "string"
      ? raw
      : (JSON.stringify(raw) ?? "")

/** What a block says of a transaction that was not understood in full; `before`: how many of the block are named already. */
export const toNotUnderstood = ({ broken, id, raw, transfers }: DecodedTransaction, before: number): NotUnderstood => ({
  transactionId: id,
  reason: printable(broken.join("; "), maxReason),
  transfers: transfers.length,
  raw: before < keptRaw ? printable(textOf(raw), maxRaw) : ""
})

const notUnderstood = (transactions: ReadonlyArray<DecodedTransaction>): ReadonlyArray<NotUnderstood> =>
  transactions.filter(({ broken }) => broken.length > 0).map(toNotUnderstood)

const noId = new Uint8Array()

/**
 * The block of these transactions, in their order. `transaction` of transfers and spends is the place in that order.
 * `others`: what was not understood beside them.
 */
export const toBlock = (
  header: BlockHeader,
  transactions: ReadonlyArray<DecodedTransaction>,
  others: ReadonlyArray<DecodedTransaction> = []
): Block => {
  const lacking = notUnderstood([...transactions, ...others])
  const { hash, height, parent, time } = header
  return {
    ...{ height, hash, parent, time },
    transactions: transactions.map(({ id }) => id ?? noId),
    transfers: transactions.flatMap(({ transfers }) => transfers),
    spends: transactions.flatMap(({ spends }) => spends),
    ...(lacking.length === 0 ? {} : { notUnderstood: lacking })
  }
}
