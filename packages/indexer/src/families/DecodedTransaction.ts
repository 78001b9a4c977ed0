/**
 * A transaction as its family has decoded what the node gave, as far as that is understood; and the block made of such
 * transactions.
 *
 * Decoding a transaction has no error by which a block could fail: each part is read by itself, and the rule that a part
 * breaks is noted beside what the other parts have given. So no transaction of a later kind holds up its block.
 */
import type {
  Block,
  BlockHeader,
  ContractLog,
  NotUnderstood,
  Spend,
  TransactionParties,
  Transfer
} from "@headwater/core/Block"
import * as Result from "effect/Result"
import * as TimeSlice from "../TimeSlice.ts"
import * as PrintableText from "./node/PrintableText.ts"

/** What was read of a transaction. */
export interface Content {
  /** Undefined where it could not be read: nothing else of the transaction is used then. */
  readonly id: Uint8Array | undefined
  readonly transfers: ReadonlyArray<Transfer>
  readonly parties?: ReadonlyArray<TransactionParties>
  readonly logs?: ReadonlyArray<ContractLog>
  readonly spends?: ReadonlyArray<Spend>
}

/** A kind of transfers. */
type Kind = Transfer["kind"]

const allKinds: ReadonlyArray<Kind> = ["coin", "token", "internal"]

/** The kinds of families that have neither tokens nor internal transactions. */
export const coinsAlone: ReadonlyArray<Kind> = ["coin"]

export interface DecodedTransaction extends Content {
  readonly spends: ReadonlyArray<Spend>
  /** The rules that parts of the transaction break; empty where everything is understood. */
  readonly broken: ReadonlyArray<string>
  /** The kinds of transfers of which those parts may have had some. */
  readonly lacks: ReadonlyArray<Kind>
  /** What the node gave. */
  readonly raw: unknown
}

/** Reads the parts of one transaction. `lacks`: the kinds of transfers that a part may have; all of them by default. */
export interface Parts {
  /** The rules that were broken until now. */
  readonly broken: ReadonlyArray<string>
  /** The kinds of transfers of the parts that broke them. */
  readonly lacks: ReadonlySet<Kind>
  /** What `read` gives; undefined where `read` throws, whose message is noted. */
  readonly read: <A>(read: () => A, lacks?: ReadonlyArray<Kind>) => A | undefined
  /** As `read`, of a part that may be large. */
  readonly readInSlices: <A>(
    read: () => Generator<void, A>,
    lacks?: ReadonlyArray<Kind>
  ) => Generator<void, A | undefined>
  /** What a result holds; undefined for a failure, which is noted. */
  readonly take: <A>(result: Result.Result<A, string>, lacks?: ReadonlyArray<Kind>) => A | undefined
  /** Notes a broken rule. */
  readonly note: (rule: string, lacks?: ReadonlyArray<Kind>) => void
}

function* readInSlices<A>(
  read: () => Generator<void, A>,
  take: Parts["take"],
  lacks: ReadonlyArray<Kind> | undefined
): Generator<void, A | undefined> {
  return take(Result.mapError(yield* TimeSlice.caught(read), messageOf), lacks)
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Reads parts of what belongs to one transaction. `kinds`: those of transfers that there are in the family. */
export const parts = (kinds: ReadonlyArray<Kind> = allKinds): Parts => {
  const broken: Array<string> = []
  const lacking = new Set<Kind>()
  const note: Parts["note"] = (rule, lacks = kinds) => {
    broken.push(rule)
    for (const kind of lacks) lacking.add(kind)
  }
  const take: Parts["take"] = (result, lacks) => {
    if (Result.isSuccess(result)) return result.success
    note(result.failure, lacks)
    return undefined
  }
  return {
    broken,
    lacks: lacking,
    note,
    take,
    read: (read, lacks) => take(Result.mapError(Result.try(read), messageOf), lacks),
    readInSlices: (read, lacks) => readInSlices(read, take, lacks)
  }
}

const decoded = (
  raw: unknown,
  content: Content | undefined,
  { broken, lacks }: Parts,
  kinds: ReadonlyArray<Kind>
): DecodedTransaction =>
  content?.id === undefined
    ? { id: undefined, transfers: [], spends: [], broken, lacks: kinds, raw }
    : { ...content, id: content.id, spends: content.spends ?? [], broken, lacks: [...lacks], raw }

/**
 * Decodes one transaction, which cannot fail: also what `read` throws is noted. `raw` is what the node gave, `kinds` as in
 * {@link parts}.
 */
export const decode = (
  raw: unknown,
  read: (parts: Parts) => Content,
  kinds: ReadonlyArray<Kind> = allKinds
): DecodedTransaction => {
  const own = parts(kinds)
  const content = own.read(() => read(own))
  return decoded(raw, content, own, kinds)
}

/** As {@link decode}, of a transaction that may be large. */
export function* decodeInSlices(
  raw: unknown,
  read: (parts: Parts) => Generator<void, Content>,
  kinds: ReadonlyArray<Kind> = allKinds
): Generator<void, DecodedTransaction> {
  const own = parts(kinds)
  const content = yield* own.readInSlices(() => read(own))
  return decoded(raw, content, own, kinds)
}

const maxReason = 300
const maxRaw = 4_096
/** Transactions of a block whose raw form is kept: a kind that nobody knew may be that of all transactions. */
const keptRaw = 16

/** The beginning of a value's JSON: what comes behind `maxRaw` characters is left out, however large the value is. */
const beginningOf = (raw: unknown): string => {
  let left = maxRaw
  const text = JSON.stringify(raw, (_, value: unknown) => {
    if (left <= 0) return undefined
    left -= typeof value === "string" ? value.length : 1
    return typeof value === "string" ? value.slice(0, maxRaw) : value
  })
  return text ?? ""
}

const textOf = (raw: unknown): string =>
  raw instanceof Uint8Array
    ? Buffer.from(raw.subarray(0, maxRaw / 2)).toString("hex")
    : typeof raw === "string"
      ? raw
      : beginningOf(raw)

/** What a block says of a transaction that was not understood in full; `before`: how many of the block are named already. */
export const toNotUnderstood = (
  { broken, id, lacks, raw, transfers }: DecodedTransaction,
  before: number
): NotUnderstood => ({
  transactionId: id,
  reason: PrintableText.of(broken.join("; "), maxReason),
  transfers: transfers.length,
  lacks,
  raw: before < keptRaw ? PrintableText.of(textOf(raw), maxRaw) : ""
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
    ...(transactions.some(({ parties }) => parties !== undefined)
      ? { parties: transactions.flatMap(({ parties = [] }) => parties) }
      : {}),
    ...(transactions.some(({ logs }) => logs !== undefined)
      ? { logs: transactions.flatMap(({ logs = [] }) => logs) }
      : {}),
    ...(lacking.length === 0 ? {} : { notUnderstood: lacking })
  }
}
