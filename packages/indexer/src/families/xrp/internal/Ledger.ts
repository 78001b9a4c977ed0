/** A validated ledger as a server's `ledger` command shows it, of either API version: checked, ordered, and as a block. */
import * as Address from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as XrpTransfers from "@headwater/core/xrp/XrpTransfers"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as LedgerHash from "./LedgerHash.ts"

export interface LedgerHeader {
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  /** Seconds since the Unix epoch. */
  readonly time: number
}

export interface Ledger extends LedgerHeader {
  /** In order of execution. */
  readonly transactions: ReadonlyArray<XrpTransaction.XrpTransaction>
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
    transaction_hash: Schema.optionalKey(Hash),
    account_hash: Schema.optionalKey(Hash),
    total_coins: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,19}$/))),
    parent_close_time: Schema.optionalKey(Uint32),
    close_time_resolution: Schema.optionalKey(Uint8),
    close_flags: Schema.optionalKey(Uint8),
    transactions: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })
})
type Header = (typeof Answer.Type)["ledger"]

const decodeAnswer = Schema.decodeUnknownResult(Answer)

/** Seconds from the Unix epoch to Ripple's, 2000-01-01. */
const rippleEpoch = 946_684_800

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"))

/** The hash of the header, where all of it was shown; servers of old left parts out. */
const computedHash = (header: Header): Uint8Array | undefined => {
  const { account_hash, close_flags, close_time_resolution, parent_close_time, total_coins, transaction_hash } = header
  return account_hash === undefined ||
    close_flags === undefined ||
    close_time_resolution === undefined ||
    parent_close_time === undefined ||
    total_coins === undefined ||
    transaction_hash === undefined
    ? undefined
    : LedgerHash.of({
        ledgerIndex: Number(header.ledger_index),
        totalCoins: BigInt(total_coins),
        parentHash: bytes(header.parent_hash),
        transactionHash: bytes(transaction_hash),
        accountHash: bytes(account_hash),
        parentCloseTime: parent_close_time,
        closeTime: header.close_time,
        closeTimeResolution: close_time_resolution,
        closeFlags: close_flags
      })
}

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

const noTransactions = /^0{64}$/

/**
 * Reads a ledger with expanded transactions, which servers list in any order; undefined for one that is not validated
 * (yet). The transactions must be numbered from 0 without gaps; those whose numbers cannot be read take the gaps between
 * the others. Where none can be read, the server has not answered with expanded transactions.
 */
export const decode = (answer: unknown): Read<Ledger | undefined> =>
  Result.gen(function* () {
    const { ledger, validated } = yield* checked(answer)
    if (validated !== true) return undefined
    if (ledger.transactions === undefined) return yield* Result.fail("ledger.transactions must be there")
    const header = headerOf(ledger)
    const count = ledger.transactions.length
    if (count === 0 && !noTransactions.test(ledger.transaction_hash ?? "0".repeat(64))) {
      return yield* Result.fail("ledger.transactions is empty, and transaction_hash is not")
    }
    const numbered = new Map<number, XrpTransaction.XrpTransaction>()
    const others: Array<XrpTransaction.XrpTransaction> = []
    for (const entry of ledger.transactions) {
      const read = XrpTransaction.decode(entry, header.height)
      const { position } = read
      if (position === undefined) {
        others.push(read)
      } else if (numbered.has(position)) {
        return yield* Result.fail(`ledger.transactions has two of index ${position}`)
      } else if (position >= count) {
        return yield* Result.fail(`ledger.transactions lacks some of ${position + 1}`)
      } else {
        numbered.set(position, read)
      }
    }
    if (count > 0 && numbered.size === 0) {
      return yield* Result.fail(`ledger.transactions has none that can be read: ${others[0]!.unread.join(", ")}`)
    }
    const transactions = Array.from({ length: count }, (_, index) => numbered.get(index) ?? others.shift()!)
    return { ...header, transactions }
  })

/** A block, and a line for each transaction that was not understood in full: its hash or index, and the fields. */
export interface LedgerBlock {
  readonly block: Block
  readonly notUnderstood: ReadonlyArray<string>
}

/** The coin transfers of transaction number `transaction`. Fails where an address is none. */
const transfersOf = (
  chain: Chain,
  read: XrpTransaction.XrpTransaction,
  transaction: number
): Read<ReadonlyArray<CoinTransfer>> =>
  Result.gen(function* () {
    // Nothing could name the transaction.
    if (read.hash === "") return []
    const account = (text: string | undefined) =>
      text === undefined
        ? Result.succeed(undefined)
        : Result.mapError(Address.decode(chain, text), ({ message }) => message)
    const transfers: Array<CoinTransfer> = []
    for (const [position, moved] of XrpTransfers.of(read).entries()) {
      const { destinationTag, fromTag, sourceTag, toTag } = moved
      const from = yield* account(moved.from)
      const to = yield* account(moved.to)
      transfers.push({
        ...{ kind: "coin", transaction, position, from, to, amount: moved.drops },
        details: {
          transactionType: read.type,
          ...(sourceTag === undefined ? {} : { sourceTag }),
          ...(destinationTag === undefined ? {} : { destinationTag })
        },
        ...(from === undefined || fromTag === undefined ? {} : { taggedFrom: Address.withTag(from, fromTag) }),
        ...(to === undefined || toTag === undefined ? {} : { taggedTo: Address.withTag(to, toTag) })
      })
    }
    return transfers
  })

/** The ledger as a block: the XRP that its transactions moved, as far as they are understood. */
export const toBlock = (chain: Chain, ledger: Ledger): LedgerBlock => {
  const transfers: Array<CoinTransfer> = []
  const notUnderstood: Array<string> = []
  for (const [transaction, read] of ledger.transactions.entries()) {
    const found = transfersOf(chain, read, transaction)
    const taken = Result.getOrElse(found, () => [])
    transfers.push(...taken)
    const rules = Result.isSuccess(found) ? read.unread : [...read.unread, found.failure]
    if (rules.length > 0) {
      notUnderstood.push(
        `transaction ${read.hash || transaction}: ${rules.join(", ")}; coin transfers taken from it: ${taken.length}`
      )
    }
  }
  return {
    block: {
      height: ledger.height,
      hash: ledger.hash,
      parent: ledger.parent,
      time: ledger.time,
      // Empty where the hash cannot be read; no transfer is of such a transaction.
      transactions: ledger.transactions.map(({ hash }) => bytes(hash)),
      transfers,
      spends: []
    },
    notUnderstood
  }
}
