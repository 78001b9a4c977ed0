/**
 * Transactions of XRP ledgers: what a node's JSON says (API version 1 or 2), and the same in the words of interface
 * section 2.5.
 *
 * The delivered amount of a payment is read from its metadata, never from `Amount`, which a partial payment may fall short of.
 *
 * Amendments bring forms that this release does not know. A field of such a form is unknown, the others are read.
 */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Metadata from "./internal/XrpMetadata.ts"
import * as XrpAmount from "./XrpAmount.ts"

/** A text that could not be read is empty, an amount `unknown`; the field's name is then in `unread`. */
export interface XrpTransaction {
  /** 64 upper-case hex digits. */
  readonly hash: string
  readonly type: string
  /** Classic address; empty for some pseudo-transactions of the validators. */
  readonly sender: string
  /** Classic address; absent where the type has no destination. */
  readonly recipient: string | undefined
  readonly destinationTag: number | undefined
  readonly sourceTag: number | undefined
  /** Index in its ledger, from 0, in order of execution; undefined where it could not be read. */
  readonly position: number | undefined
  /** `tesSUCCESS`, or a `tec…` code: charged for, but without effect. */
  readonly result: string
  readonly fee: XrpAmount.XrpAmount
  /** The amount that the transaction was to move. */
  readonly amount: XrpAmount.XrpAmount | undefined
  /** The most that the sender wants to pay, where it pays in another currency than it delivers. */
  readonly sendMax: XrpAmount.XrpAmount | undefined
  /** The amount that an offer gives. */
  readonly takerGets: XrpAmount.XrpAmount | undefined
  /** The amount that arrived at the recipient. */
  readonly delivered: XrpAmount.XrpAmount | undefined
  /** Texts of the memos, one a line. */
  readonly memo: string | undefined
  /**
   * Drops that each account of the metadata gained or lost beside the fee that it paid, in the order of the metadata.
   * Undefined where the metadata, the fee, or who paid the fee could not be read.
   */
  readonly balanceChanges: ReadonlyMap<string, bigint> | undefined
  /** Of the escrows, payment channels and checks that it touched, then its own. */
  readonly parties: ReadonlyArray<Metadata.Parties>
  /**
   * What could not be read of what every transaction has, and of a payment's fields: the name of each field and the rule
   * that its value breaks.
   */
  readonly unread: ReadonlyArray<string>
}

/** A field that is read by itself, and its rule in words. */
interface Field<A> {
  readonly name: string
  readonly is: (json: unknown) => json is A
  readonly rule: string
}

const text = (name: string, pattern: RegExp, rule: string): Field<string> => ({
  name,
  is: Schema.is(Schema.String.check(Schema.isPattern(pattern))),
  rule
})
const unsigned = (name: string): Field<number> => ({
  name,
  is: Schema.is(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 32 - 1 }))),
  rule: "must be a number of 32 bits"
})

/** The classic address alphabet; what an address is worth is for `Address.decode` to say. */
const classic = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/
const address = (name: string) => text(name, classic, "must be a classic address")

const hashField = text("hash", /^[0-9A-Fa-f]{64}$/, "must be 64 hexadecimal digits")
const typeField = text("TransactionType", /^\w{1,64}$/, "must be a name")
const accountField = address("Account")
const destinationField = address("Destination")
/** Who pays the fee of a transaction that was delegated (XLS-75). */
const delegateField = address("Delegate")
/** Who pays the fee of a transaction that is sponsored (XLS-68), where the flags of the sponsoring say so. */
const sponsorField = address("Sponsor")
const sponsorFlagsField = unsigned("SponsorFlags")
const feeField = text("Fee", /^\d{1,20}$/, "must be drops of XRP")
const destinationTagField = unsigned("DestinationTag")
const sourceTagField = unsigned("SourceTag")
const flagsField = unsigned("Flags")
const positionField = unsigned("TransactionIndex")
const resultField = text("TransactionResult", /^\w{1,64}$/, "must be a name")

const isObject = Schema.is(Schema.Record(Schema.String, Schema.Unknown))
const objectOf = (json: unknown) => (isObject(json) ? json : {})

const partialPayment = 0x0002_0000

/** A transaction within a Batch (XLS-56), whose fee the Batch pays. */
const innerTransaction = 0x4000_0000

/** Among the flags of a sponsoring: the fee is not the account's. */
const sponsorsFee = 1

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
 * Reads one expanded transaction of ledger `ledgerIndex`, as far as it can be read. Where the metadata of a payment of
 * XRP does not say what was delivered, the change of the recipient's balance does.
 */
export const decode = (json: unknown, ledgerIndex: number): XrpTransaction => {
  const unread: Array<string> = []
  const read = <A>({ is, name, rule }: Field<A>, found: unknown): A | undefined => {
    if (is(found)) return found
    unread.push(`${name} ${rule}`)
    return undefined
  }

  // API version 2 has `tx_json` and `meta`; version 1 has the fields beside `hash` and `metaData`.
  const entry = objectOf(json)
  const fields = objectOf(entry.tx_json ?? json)
  const meta = objectOf(entry.metaData ?? entry.meta)
  const hash = read(hashField, entry.hash)?.toUpperCase() ?? ""
  const type = read(typeField, fields.TransactionType) ?? ""
  const position = read(positionField, meta.TransactionIndex)
  const result = read(resultField, meta.TransactionResult) ?? ""
  const isPayment = type === "Payment"
  // Pseudo-transactions of the validators (`UNLModify`) have an empty account.
  const sender = fields.Account === "" && !isPayment ? "" : (read(accountField, fields.Account) ?? "")
  const fee = read(feeField, fields.Fee)
  // Transaction types to come may use the field for something else.
  const hasRecipient = isPayment || destinationField.is(fields.Destination)
  const recipient = hasRecipient ? read(destinationField, fields.Destination) : undefined

  const amountOf = (found: unknown, name: string): XrpAmount.XrpAmount => {
    const amount = XrpAmount.decode(found)
    // No other type moves XRP by an amount among its fields.
    if (Result.isFailure(amount) && isPayment) unread.push(`${name} ${amount.failure}`)
    return Result.getOrElse(amount, () => XrpAmount.unknown)
  }
  const absent = type === "" ? XrpAmount.unknown : undefined
  const optionalAmountOf = (found: unknown, name: string) => (found === undefined ? absent : amountOf(found, name))

  const moved = fields.DeliverMax ?? fields.Amount
  const amount = isPayment ? amountOf(moved, "Amount") : optionalAmountOf(moved, "Amount")

  const flags = fields.Flags === undefined ? 0 : (read(flagsField, fields.Flags) ?? partialPayment)

  const initiator = fields.Delegate === undefined ? sender : (read(delegateField, fields.Delegate) ?? "")
  const nodes = Array.isArray(meta.AffectedNodes) ? meta.AffectedNodes : undefined
  /** Whose balance the fee is taken from: empty where that cannot be read, undefined where it is nobody's. */
  const feePayerOf = (): string | undefined => {
    if ((flags & innerTransaction) !== 0) return undefined
    if (fields.Sponsor === undefined) return initiator
    const sponsorFlags = fields.SponsorFlags === undefined ? 0 : read(sponsorFlagsField, fields.SponsorFlags)
    if (sponsorFlags === undefined) return ""
    if ((sponsorFlags & sponsorsFee) === 0) return initiator
    const sponsor = read(sponsorField, fields.Sponsor) ?? ""
    return Metadata.areFeesFunded(nodes ?? [], sponsor, initiator) ? undefined : sponsor
  }
  const changesOf = () => {
    const feePayer = feePayerOf()
    const paid = feePayer === undefined ? "0" : fee
    if (paid === undefined || (feePayer === "" && BigInt(paid) > 0n)) return undefined
    const changes = nodes && Metadata.balanceChanges(nodes, feePayer ?? "", BigInt(paid))
    if (changes === undefined) unread.push("AffectedNodes must be ledger entries, with balances of accounts in drops")
    return changes
  }
  const balanceChanges = changesOf()

  /** A token that an escrow held (XLS-85), of which servers do not say what is delivered: all, unless the issuer takes a fee. */
  const tokenOfEscrow = (): XrpAmount.XrpAmount | undefined => {
    const escrow = type === "EscrowFinish" ? Metadata.endedEscrow(nodes ?? []) : undefined
    if (escrow === undefined || typeof escrow.Amount === "string") return undefined
    return escrow.TransferRate === undefined ? amountOf(escrow.Amount, "Amount") : XrpAmount.unknown
  }

  /**
   * Multi-purpose tokens of a partial payment from before the amendment fixMPTDeliveredAmount, of which the metadata says nothing
   * and servers state `Amount`; undefined for every other transaction.
   */
  const tokensOfPartial = (): XrpAmount.XrpAmount | undefined => {
    const { mpt_issuance_id: issuance } = objectOf(moved)
    const isTold = meta.DeliveredAmount !== undefined
    if (!isPayment || (flags & partialPayment) === 0 || typeof issuance !== "string" || isTold) return undefined
    const gained = recipient === undefined ? undefined : Metadata.tokensGained(nodes ?? [], recipient, issuance)
    return gained === undefined || gained < 0n
      ? XrpAmount.unknown
      : amountOf({ mpt_issuance_id: issuance, value: String(gained) }, "Amount")
  }

  const isWhole = (flags & partialPayment) === 0 || ledgerIndex >= firstWithDeliveredAmount
  const arrived = (): XrpAmount.XrpAmount | undefined => {
    if (result === "") return XrpAmount.unknown
    if (result !== "tesSUCCESS") return undefined
    const tokens = tokensOfPartial()
    if (tokens !== undefined) return tokens
    const isSaid = meta.delivered_amount !== undefined && meta.delivered_amount !== "unavailable"
    const stated = isSaid ? meta.delivered_amount : meta.DeliveredAmount
    const change = recipient === undefined ? undefined : balanceChanges?.get(recipient)
    // Of a faulty exchange, as in ledger 90150378: the recipient has paid a drop, and its balance says the same.
    if (isPayment && amount?.kind === "xrp" && change !== undefined && change < 0n && stated === String(change)) {
      return { kind: "xrp", drops: change }
    }
    const said = optionalAmountOf(stated, "delivered_amount")
    if (!isPayment && said === undefined) return tokenOfEscrow()
    if (!isPayment || said?.kind === "xrp" || said?.kind === "token") return said
    if (said === undefined && isWhole) return amount
    return amount?.kind === "xrp" && balanceChanges !== undefined && recipient !== undefined
      ? { kind: "xrp", drops: balanceChanges.get(recipient) ?? 0n }
      : said
  }

  const tagOf = (field: Field<number>) => {
    const found = fields[field.name]
    return found === undefined ? undefined : read(field, found)
  }
  const destinationTag = tagOf(destinationTagField)
  const sourceTag = tagOf(sourceTagField)

  return {
    hash,
    type,
    sender,
    recipient,
    destinationTag,
    sourceTag,
    position,
    result,
    fee: fee === undefined ? XrpAmount.unknown : { kind: "xrp", drops: BigInt(fee) },
    amount,
    sendMax: optionalAmountOf(fields.SendMax, "SendMax"),
    takerGets: optionalAmountOf(fields.TakerGets, "TakerGets"),
    delivered: arrived(),
    memo: memoOf(fields.Memos),
    balanceChanges,
    parties: [
      ...Metadata.partiesOfPromises(nodes ?? []),
      { account: sender, destination: recipient, sourceTag, destinationTag }
    ],
    unread
  }
}

/** A transaction in the words of interface section 2.5. A text that could not be read is empty. */
export interface Item {
  readonly additionalData?: string
  readonly destinationTag?: number
  readonly hash: string
  readonly offer: XrpAmount.Item
  readonly positionInBlock: number
  /** Where the type has no destination, that of the escrow, payment channel or check that is fulfilled; else empty. */
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

/** The parties of the escrow, payment channel or check that is fulfilled, where the transaction itself has no destination. */
const fulfilledBy = ({ balanceChanges, delivered, parties, recipient, result, type }: XrpTransaction) => {
  // What an escrow held comes back to its account, which may be the destination, too.
  if (recipient !== undefined || result !== "tesSUCCESS" || type === "EscrowCancel") return undefined
  const isPaid = (destination: string) =>
    type === "EscrowFinish" || delivered !== undefined || (balanceChanges?.get(destination) ?? 0n) > 0n
  return parties.find(({ destination }) => destination !== undefined && isPaid(destination))
}

/** What arrived at the recipient: told of payments, checks, deleted accounts and tokens of escrows, of all others by the balance. */
const receivedBy = (recipient: string, { balanceChanges, delivered, result, type }: XrpTransaction) => {
  if (delivered !== undefined || type === "Payment" || result !== "tesSUCCESS") return delivered
  const drops = balanceChanges?.get(recipient) ?? 0n
  return drops > 0n ? ({ kind: "xrp", drops } as const) : undefined
}

/** `position` is the index in its ledger; `time` is when the ledger closed, in seconds since the Unix epoch. */
export const toItem = (
  transaction: XrpTransaction,
  { position, time }: { readonly position: number; readonly time: number }
): Item => {
  const fulfilled = fulfilledBy(transaction)
  const recipient = transaction.recipient ?? fulfilled?.destination ?? ""
  const destinationTag = transaction.destinationTag ?? fulfilled?.destinationTag
  return {
    ...(transaction.memo === undefined ? {} : { additionalData: transaction.memo }),
    ...(destinationTag === undefined ? {} : { destinationTag }),
    hash: transaction.hash,
    offer: itemOf(transaction.takerGets),
    positionInBlock: position,
    recipient,
    sender: transaction.sender,
    status: transaction.result,
    timestamp: time,
    type: transaction.type,
    fee: XrpAmount.toItem(transaction.fee),
    receive: itemOf(receivedBy(recipient, transaction)),
    value: itemOf(transaction.amount)
  }
}
