/** Ledgers made for tests: consecutive, with payments of XRP between accounts made of numbers. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as LedgerBinary from "../../../src/families/xrp/internal/LedgerBinary.ts"
import * as LedgerHash from "../../../src/families/xrp/internal/LedgerHash.ts"
import * as TransactionTree from "../../../src/families/xrp/internal/TransactionTree.ts"
import type { Json } from "./XrpServer.ts"

export const mainnet = Result.getOrThrow(Chain.find("xrp", "mainnet"))

export const bytesOf = (number: number): Address.AddressBytes => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(16, number + 1)
  return Address.fromBytes(bytes)
}

/** Classic address of the account with this number. */
export const account = (number: number): string => Address.encode(mainnet, bytesOf(number))!

export interface Payment {
  readonly from: number
  readonly to: number
  readonly drops: bigint
}

const hex = (...numbers: ReadonlyArray<number>) =>
  numbers
    .map((number) => number.toString(16).padStart(16, "0"))
    .join("")
    .padEnd(64, "A")
    .toUpperCase()

const changed = (number: number, by: bigint) => ({
  ModifiedNode: {
    LedgerEntryType: "AccountRoot",
    FinalFields: { Account: account(number), Balance: String(10n ** 12n + by) },
    PreviousFields: { Balance: String(10n ** 12n) }
  }
})

export const payment = ({ drops, from, to }: Payment, height: number, index: number): Json => ({
  Account: account(from),
  Amount: String(drops),
  Destination: account(to),
  Fee: "12",
  TransactionType: "Payment",
  hash: hex(height, index, 7),
  metaData: {
    AffectedNodes: [changed(from, -drops - 12n), changed(to, drops)],
    TransactionIndex: index,
    TransactionResult: "tesSUCCESS",
    delivered_amount: String(drops)
  }
})

const bytes = (text: string) => Buffer.from(text, "hex")
const upper = (hash: Uint8Array) => Buffer.from(hash).toString("hex").toUpperCase()

/**
 * Ledgers with the hashes of what they hold, each naming the one before. A transaction of a form that is not known keeps
 * its hash, and its ledger the root.
 */
export const sealed = (ledgers: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const { bytesOf } = LedgerBinary.make(mainnet)
  let parent: string | undefined
  return ledgers.map((ledger) => {
    const leaves: Array<TransactionTree.Leaf> = []
    const transactions = ledger.transactions.map((entry: Json) => {
      const { hash: _, metaData, ...fields } = entry
      const written = Result.all([bytesOf(fields), bytesOf(metaData)])
      if (Result.isFailure(written)) return entry
      const key = TransactionTree.transactionHash(written.success[0])
      leaves.push(TransactionTree.leafOf(key, ...written.success))
      return { ...entry, hash: upper(key) }
    })
    const isKnown = leaves.length === transactions.length
    const transaction_hash = isKnown ? upper(TimeSlice.atOnce(TransactionTree.rootOf(leaves))) : ledger.transaction_hash
    const parent_hash = parent ?? ledger.parent_hash
    parent = upper(
      LedgerHash.of({
        ledgerIndex: Number(ledger.ledger_index),
        totalCoins: BigInt(ledger.total_coins),
        parentHash: bytes(parent_hash),
        transactionHash: bytes(transaction_hash),
        accountHash: bytes(ledger.account_hash),
        parentCloseTime: ledger.parent_close_time,
        closeTime: ledger.close_time,
        closeTimeResolution: ledger.close_time_resolution,
        closeFlags: ledger.close_flags
      })
    )
    return { ...ledger, parent_hash, transaction_hash, ledger_hash: parent, transactions }
  })
}

/** All XRP before the first ledger: each payment burns 12 drops. */
const coins = 99_999_578_386_913_031n

/** `count` ledgers from `first` on, API version 1; each has its right hashes. Transactions are listed backwards. */
export const chainOf = (
  first: number,
  count: number,
  paymentsOf: (height: number) => ReadonlyArray<Payment>
): ReadonlyArray<Json> => {
  let left = coins
  return sealed(
    Array.from({ length: count }, (_, index) => {
      const height = first + index
      const payments = paymentsOf(height)
      left -= 12n * BigInt(payments.length)
      return {
        account_hash: hex(height, 1),
        close_flags: 0,
        close_time: 700_000_000 + 4 * height,
        close_time_resolution: 10,
        closed: true,
        ledger_index: String(height),
        parent_close_time: 700_000_000 + 4 * height - 4,
        parent_hash: hex(first),
        total_coins: String(left),
        transaction_hash: "0".repeat(64),
        transactions: payments.map((each, at) => payment(each, height, at)).reverse()
      }
    })
  )
}
