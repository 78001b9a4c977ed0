/** A validated ledger as a server's `ledger` command shows it, of either API version: checked, ordered, and as a block. */
import * as Address from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as XrpTransfers from "@headwater/core/xrp/XrpTransfers"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import * as LedgerHash from "./LedgerHash.ts"

export interface LedgerHeader {
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  /** Seconds since the Unix epoch. */
  readonly time: number
}

/** A transaction as far as it was read, and as the server gave it. */
interface Entry extends XrpTransaction.XrpTransaction {
  readonly raw: unknown
}

export interface Ledger extends LedgerHeader {
  /** In order of execution. */
  readonly transactions: ReadonlyArray<Entry>
}

const Hash = Schema.String.check(Schema.isPattern(/^[0-9A-Fa-f]{64}$/, { message: "must be 64 hexadecimal digits" }))
const Uint32 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 32 - 1 }))
const Uint8 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))

const Answer = Schema.Struct({
  /** Only a validated ledger is final; a closed one may yet be replaced. */
  validated: Schema.optionalKey(Schema.Boolean),
  ledger: Schema.Struct({
    /** Text in API version 1. */
    ledger_index: Schema.Union([Uint32, Schema.String.check(Schema.isPattern(/^\d{1,10}$/))]),
    ledger_hash: Hash,
    parent_hash: Hash,
    close_time: Uint32,
    transaction_hash: Schema.optionalKey(Schema.Unknown),
    account_hash: Schema.optionalKey(Schema.Unknown),
    total_coins: Schema.optionalKey(Schema.Unknown),
    parent_close_time: Schema.optionalKey(Schema.Unknown),
    close_time_resolution: Schema.optionalKey(Schema.Unknown),
    close_flags: Schema.optionalKey(Schema.Unknown),
    transactions: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })
})
type Header = (typeof Answer.Type)["ledger"]

const decodeAnswer = Schema.decodeUnknownResult(Answer)

const Coins = Schema.String.check(Schema.isPattern(/^\d{1,19}$/, { message: "must be drops of XRP" }))
const decodeCoins = Schema.decodeUnknownResult(Coins)

/** What is hashed beside the links and the time. */
const Hashed = Schema.Struct({
  transaction_hash: Hash,
  account_hash: Hash,
  total_coins: Coins,
  parent_close_time: Uint32,
  close_time_resolution: Uint8,
  close_flags: Uint8
})
const decodeHashed = Schema.decodeUnknownResult(Hashed)

/** Seconds from the Unix epoch to Ripple's, 2000-01-01. */
const rippleEpoch = 946_684_800

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"))

/** The hash of the header, where all of it can be read; servers of old left parts out. */
const computedHash = (header: Header): Uint8Array | undefined =>
  Result.getOrUndefined(
    Result.map(decodeHashed(header), (hashed) =>
      LedgerHash.of({
        ledgerIndex: Number(header.ledger_index),
        totalCoins: BigInt(hashed.total_coins),
        parentHash: bytes(header.parent_hash),
        transactionHash: bytes(hashed.transaction_hash),
        accountHash: bytes(hashed.account_hash),
        parentCloseTime: hashed.parent_close_time,
        closeTime: header.close_time,
        closeTimeResolution: hashed.close_time_resolution,
        closeFlags: hashed.close_flags
      })
    )
  )

/** What is read of a ledger: its header, or all of it. */
type Read<A> = Result.Result<A, string>

const checked = (answer: unknown): Read<typeof Answer.Type> =>
  Result.gen(function* () {
    const read = yield* Result.mapError(decodeAnswer(answer), (error) => error.message.slice(0, 300))
    const computed = computedHash(read.ledger)
    if (computed !== undefined && Buffer.compare(computed, bytes(read.ledger.ledger_hash)) !== 0) {
      return yield* Result.fail("ledger_hash is not the hash of the header")
    }
    return read
  })

const headerOf = (header: Header): LedgerHeader => ({
  height: Number(header.ledger_index),
  hash: bytes(header.ledger_hash),
  parent: bytes(header.parent_hash),
  time: header.close_time + rippleEpoch
})

/** Reads the header; undefined for a ledger that is not validated (yet). The failure names the field and the rule. */
export const decodeHeader = (answer: unknown): Read<LedgerHeader | undefined> =>
  Result.map(checked(answer), ({ ledger, validated }) => (validated === true ? headerOf(ledger) : undefined))

/** A ledger without its transactions, and how many there are. */
export interface LedgerDetails extends LedgerHeader {
  /** All XRP that there is, in drops. */
  readonly totalCoins: bigint
  readonly count: number
}

/** As {@link decodeHeader}, of a ledger that lists its transactions in any form. */
export const decodeDetails = (answer: unknown): Read<LedgerDetails | undefined> =>
  Result.gen(function* () {
    const { ledger, validated } = yield* checked(answer)
    if (validated !== true) return undefined
    const coins = yield* Result.mapError(decodeCoins(ledger.total_coins), ({ message }) => `total_coins: ${message}`)
    if (ledger.transactions === undefined) return yield* Result.fail("ledger.transactions must be there")
    return { ...headerOf(ledger), totalCoins: BigInt(coins), count: ledger.transactions.length }
  })

const noTransactions = /^0{64}$/
const isHash = Schema.is(Hash)

/** A transaction that was not expanded, or that was left binary. */
const isUnexpanded = (entry: unknown): boolean =>
  isHash(entry) || (typeof entry === "object" && entry !== null && "tx_blob" in entry)

/** Transactions whose index is theirs alone stand there; all others, in the order of the list, in the gaps between. */
const ordered = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const claims = new Map<number, number>()
  for (const { position } of entries) {
    if (position !== undefined) claims.set(position, (claims.get(position) ?? 0) + 1)
  }
  const placed = new Map<number, Entry>()
  const others: Array<Entry> = []
  for (const entry of entries) {
    const { position, unread } = entry
    const rule =
      position === undefined
        ? undefined
        : claims.get(position)! > 1
          ? `TransactionIndex ${position} is that of another transaction as well`
          : position >= entries.length
            ? `TransactionIndex ${position} is not one of ${entries.length} transactions: some may be missing`
            : undefined
    if (rule !== undefined) others.push({ ...entry, unread: [...unread, rule] })
    else if (position === undefined) others.push(entry)
    else placed.set(position, entry)
  }
  const inGaps = others.values()
  return Array.from(entries, (_, index) => placed.get(index) ?? inGaps.next().value!)
}

/** A ledger with its transactions as they are listed; undefined for one that is not validated. */
const withExpanded = ({ ledger, validated }: typeof Answer.Type) => {
  if (validated !== true) return Result.succeed(undefined)
  const { transaction_hash: root, transactions } = ledger
  if (transactions === undefined) return Result.fail("ledger.transactions must be there")
  if (transactions.length === 0 && isHash(root) && !noTransactions.test(root)) {
    return Result.fail("ledger.transactions is empty, and transaction_hash is not")
  }
  return transactions.length > 0 && transactions.every(isUnexpanded)
    ? Result.fail("ledger.transactions are not expanded")
    : Result.succeed({ ...headerOf(ledger), transactions })
}

/**
 * Reads a ledger with expanded transactions, which servers list in any order; undefined for one that is not validated
 * (yet). Fails where the server has expanded none of the transactions.
 */
export function* decode(answer: unknown): Generator<void, Read<Ledger | undefined>> {
  const expanded = Result.flatMap(checked(answer), withExpanded)
  if (Result.isFailure(expanded) || expanded.success === undefined) return Result.map(expanded, () => undefined)
  const { transactions, ...header } = expanded.success
  const entries = yield* TimeSlice.map(transactions, (raw) => ({ ...XrpTransaction.decode(raw, header.height), raw }))
  return Result.succeed({ ...header, transactions: ordered(entries) })
}

const decodeTransaction = (chain: Chain, read: Entry, transaction: number) =>
  DecodedTransaction.decode(
    read.raw,
    (parts) => {
      for (const rule of read.unread) parts.note(rule)
      const account = (text: string | undefined) =>
        text === undefined
          ? Result.succeed(undefined)
          : Result.mapError(Address.decode(chain, text), ({ message }) => message)
      // Nothing could name the transfers of a transaction without a hash.
      const moves = read.hash === "" ? [] : (parts.read(() => XrpTransfers.of(read)) ?? [])
      const id = read.hash === "" ? undefined : bytes(read.hash)
      const transfers: Array<CoinTransfer> = []
      for (const [position, { destinationTag, drops, fromTag, sourceTag, toTag, ...sides }] of moves.entries()) {
        const both = parts.take(Result.all([account(sides.from), account(sides.to)]))
        // All or none: the number of each in their list is a part of an event's key.
        if (both === undefined) return { id, transfers: [] }
        const [from, to] = both
        transfers.push({
          ...{ kind: "coin", transaction, position, from, to, amount: drops },
          details: {
            transactionType: read.type,
            ...(sourceTag === undefined ? {} : { sourceTag }),
            ...(destinationTag === undefined ? {} : { destinationTag })
          },
          ...(from === undefined || fromTag === undefined ? {} : { taggedFrom: Address.withTag(from, fromTag) }),
          ...(to === undefined || toTag === undefined ? {} : { taggedTo: Address.withTag(to, toTag) })
        })
      }
      return { id, transfers }
    },
    DecodedTransaction.coinsAlone
  )

/** The ledger as a block: the XRP that its transactions moved, as far as they are understood. */
export function* toBlock(chain: Chain, ledger: Ledger): Generator<void, Block> {
  return DecodedTransaction.toBlock(
    ledger,
    yield* TimeSlice.map(ledger.transactions, (entry, transaction) => decodeTransaction(chain, entry, transaction))
  )
}
