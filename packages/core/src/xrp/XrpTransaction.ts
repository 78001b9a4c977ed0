/**
 * Transactions of XRP ledgers: what a node's JSON says (API version 1 or 2), and the same in the words of interface
 * section 2.5.
 *
 * What a payment delivered is told by its metadata, never by its `Amount`, which a partial payment may fall short of.
 */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as BalanceChanges from "./internal/XrpBalanceChanges.ts"
import * as XrpAmount from "./XrpAmount.ts"

export interface XrpTransaction {
  /** 64 upper-case hex digits. */
  readonly hash: string
  readonly type: string
  /** Classic address; empty for some pseudo-transactions of the validators. */
  readonly sender: string
  /** Classic address; absent where the type has no destination. */
  readonly recipient: string | undefined
  readonly destinationTag: number | undefined
  /** Index in its ledger, from 0, in order of execution. */
  readonly position: number
  /** `tesSUCCESS`, or a `tec…` code: charged for, but without effect. */
  readonly result: string
  /** Drops. */
  readonly fee: bigint
  /** The transaction's `Amount`. */
  readonly amount: XrpAmount.XrpAmount | undefined
  /** The most that the sender wants to pay, where it pays in another currency than it delivers. */
  readonly sendMax: XrpAmount.XrpAmount | undefined
  /** The amount that an offer gives. */
  readonly takerGets: XrpAmount.XrpAmount | undefined
  /** The amount that arrived at the recipient. */
  readonly delivered: XrpAmount.XrpAmount | undefined
  /** Texts of the memos, one a line. */
  readonly memo: string | undefined
  /** Drops that each account gained or lost by a payment, without the fee; in the order of the metadata. */
  readonly balanceChanges: ReadonlyMap<string, bigint>
}

/** The JSON is not a transaction with metadata; the message names the field and the rule. */
export class InvalidXrpTransaction extends Schema.TaggedError<InvalidXrpTransaction>()("InvalidXrpTransaction", {
  message: Schema.String
}) {}

/** The classic address alphabet; `Address.decode` checks the rest of an address. */
const classic = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/
const address = Schema.String.check(Schema.isPattern(classic, { message: "must be a classic address" }))
const name = Schema.String.check(Schema.isPattern(/^\w{1,64}$/, { message: "must be a name" }))
const unsigned = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Fields = Schema.Struct({
  /** Empty for a pseudo-transaction of the validators (`UNLModify`). */
  Account: Schema.Union([Schema.Literal(""), address]),
  TransactionType: name,
  Fee: Schema.String.check(Schema.isPattern(/^\d{1,20}$/, { message: "must be drops of XRP" })),
  Flags: Schema.optionalKey(unsigned(2 ** 32 - 1)),
  Destination: Schema.optionalKey(Schema.Unknown),
  DestinationTag: Schema.optionalKey(unsigned(2 ** 32 - 1)),
  /** The payer of the fee of a delegated transaction (XLS-75). */
  Delegate: Schema.optionalKey(address),
  Amount: Schema.optionalKey(Schema.Unknown),
  /** The `Amount` of a payment in API version 2. */
  DeliverMax: Schema.optionalKey(Schema.Unknown),
  SendMax: Schema.optionalKey(Schema.Unknown),
  TakerGets: Schema.optionalKey(Schema.Unknown),
  Memos: Schema.optionalKey(Schema.Unknown)
})

const Meta = Schema.Struct({
  TransactionIndex: unsigned(2 ** 32 - 1),
  TransactionResult: name,
  delivered_amount: Schema.optionalKey(Schema.Unknown),
  DeliveredAmount: Schema.optionalKey(Schema.Unknown),
  AffectedNodes: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

/** API version 2 has `tx_json` and `meta`; version 1 has the fields beside `hash` and `metaData`. */
const Entry = Schema.Struct({
  hash: Schema.String.check(Schema.isPattern(/^[0-9A-Fa-f]{64}$/, { message: "must be 64 hexadecimal digits" })),
  tx_json: Schema.optionalKey(Schema.Unknown),
  meta: Schema.optionalKey(Schema.Unknown),
  metaData: Schema.optionalKey(Schema.Unknown)
})

const decodeEntry = Schema.decodeUnknownResult(Entry)
const decodeFields = Schema.decodeUnknownResult(Fields)
const decodeMeta = Schema.decodeUnknownResult(Meta)

type Read<A> = Result.Result<A, InvalidXrpTransaction>

const invalid = (message: string) => new InvalidXrpTransaction({ message })

const shaped = <A>(read: Result.Result<A, Schema.SchemaError>): Read<A> =>
  Result.mapError(read, (error) => invalid(error.message.slice(0, 300)))

const amountOf = (json: unknown, field: string, strict: boolean): Read<XrpAmount.XrpAmount | undefined> => {
  if (json === undefined) return Result.succeed(undefined)
  const amount = XrpAmount.decode(json)
  // Transaction types to come may use the field for something else.
  if (Result.isFailure(amount) && !strict) return Result.succeed(undefined)
  return Result.mapError(amount, (rule) => invalid(`${field} ${rule}`))
}

const partialPayment = 0x0002_0000

/** From this ledger on, metadata says what was delivered whenever it is less than `Amount` (rippled). */
const firstWithDeliveredAmount = 4_594_095

const memos = Schema.Array(
  Schema.Struct({
    Memo: Schema.Struct({
      MemoData: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^(?:[0-9A-Fa-f]{2})*$/)))
    })
  })
)
const decodeMemos = Schema.decodeUnknownResult(memos)
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Bytes that are no UTF-8 stay hexadecimal. */
const textOf = (hex: string): string =>
  Result.getOrElse(
    Result.try(() => utf8.decode(hexToBytes(hex))),
    () => hex.toUpperCase()
  )

const memoOf = (json: unknown): string | undefined => {
  const read = decodeMemos(json)
  if (Result.isFailure(read)) return undefined
  const texts = read.success.flatMap(({ Memo }) => (Memo.MemoData ? [textOf(Memo.MemoData)] : []))
  return texts.length === 0 ? undefined : texts.join("\n")
}

/**
 * Reads one expanded transaction of ledger `ledgerIndex`. An amount that cannot be read is refused in a payment, and is
 * none in any other type.
 */
export const decode = (json: unknown, ledgerIndex: number): Read<XrpTransaction> =>
  Result.gen(function* () {
    const entry = yield* shaped(decodeEntry(json))
    const fields = yield* shaped(decodeFields(entry.tx_json ?? json))
    const meta = yield* shaped(decodeMeta(entry.metaData ?? entry.meta))
    const isPayment = fields.TransactionType === "Payment"
    const succeeded = meta.TransactionResult === "tesSUCCESS"
    const amount = yield* amountOf(fields.DeliverMax ?? fields.Amount, "Amount", isPayment)
    const { Account: sender, Destination: destination } = fields
    const recipient = typeof destination === "string" && classic.test(destination) ? destination : undefined
    if (isPayment && (amount === undefined || recipient === undefined || sender === "")) {
      return yield* Result.fail(invalid("Payment must have Account, Amount and Destination"))
    }
    const said = meta.delivered_amount === "unavailable" ? undefined : meta.delivered_amount
    const delivered = yield* amountOf(said ?? meta.DeliveredAmount, "delivered_amount", isPayment)
    const isWhole = ((fields.Flags ?? 0) & partialPayment) === 0 || ledgerIndex >= firstWithDeliveredAmount
    const fee = BigInt(fields.Fee)
    const nodes = isPayment ? (meta.AffectedNodes ?? []) : []
    const balanceChanges = BalanceChanges.of(nodes, fields.Delegate ?? sender, fee)
    const arrived = (): XrpAmount.XrpAmount | undefined => {
      if (delivered !== undefined || !isPayment) return delivered
      if (isWhole) return amount
      const gained = balanceChanges.get(recipient ?? "")
      return amount?.kind === "xrp" && gained !== undefined ? { kind: "xrp", drops: gained } : undefined
    }
    return {
      hash: entry.hash.toUpperCase(),
      type: fields.TransactionType,
      sender,
      recipient,
      destinationTag: fields.DestinationTag,
      position: meta.TransactionIndex,
      result: meta.TransactionResult,
      fee,
      amount,
      sendMax: yield* amountOf(fields.SendMax, "SendMax", isPayment),
      takerGets: yield* amountOf(fields.TakerGets, "TakerGets", false),
      delivered: succeeded ? arrived() : undefined,
      memo: memoOf(fields.Memos),
      balanceChanges
    }
  })

/** A transaction in the words of interface section 2.5. */
export interface Item {
  readonly additionalData?: string
  readonly destinationTag?: number
  readonly hash: string
  readonly offer: XrpAmount.Item
  readonly positionInBlock: number
  /** Empty where the type has no destination. */
  readonly recipient: string
  readonly sender: string
  readonly status: string
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
  readonly type: string
  readonly fee: XrpAmount.Item
  readonly receive: XrpAmount.Item
  readonly value: XrpAmount.Item
}

const itemOf = (amount: XrpAmount.XrpAmount | undefined): XrpAmount.Item =>
  amount === undefined ? XrpAmount.zero : XrpAmount.toItem(amount)

/** `time` is when its ledger closed, in seconds since the Unix epoch. */
export const toItem = (transaction: XrpTransaction, time: number): Item => ({
  ...(transaction.memo === undefined ? {} : { additionalData: transaction.memo }),
  ...(transaction.destinationTag === undefined ? {} : { destinationTag: transaction.destinationTag }),
  hash: transaction.hash,
  offer: itemOf(transaction.takerGets),
  positionInBlock: transaction.position,
  recipient: transaction.recipient ?? "",
  sender: transaction.sender,
  status: transaction.result,
  timestamp: time,
  type: transaction.type,
  fee: XrpAmount.toItem({ kind: "xrp", drops: transaction.fee }),
  receive: itemOf(transaction.delivered),
  value: itemOf(transaction.amount)
})
