/** Ledgers made for tests: consecutive, with payments of XRP between accounts made of numbers. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as LedgerHash from "../../../src/families/xrp/internal/LedgerHash.ts"
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

/** `count` ledgers from `first` on, API version 1; each header has its right hash. Transactions are listed backwards. */
export const chainOf = (
  first: number,
  count: number,
  paymentsOf: (height: number) => ReadonlyArray<Payment>
): ReadonlyArray<Json> => {
  const ledgers: Array<Json> = []
  let parent = hex(first)
  for (let height = first; height < first + count; height++) {
    const transactions = paymentsOf(height).map((each, index) => payment(each, height, index))
    const header = {
      account_hash: hex(height, 1),
      close_flags: 0,
      close_time: 700_000_000 + 4 * height,
      close_time_resolution: 10,
      closed: true,
      ledger_index: String(height),
      parent_close_time: 700_000_000 + 4 * height - 4,
      parent_hash: parent,
      total_coins: "99999578386913031",
      transaction_hash: transactions.length === 0 ? "0".repeat(64) : hex(height, 2)
    }
    const hash = LedgerHash.of({
      ledgerIndex: height,
      totalCoins: BigInt(header.total_coins),
      parentHash: Buffer.from(header.parent_hash, "hex"),
      transactionHash: Buffer.from(header.transaction_hash, "hex"),
      accountHash: Buffer.from(header.account_hash, "hex"),
      parentCloseTime: header.parent_close_time,
      closeTime: header.close_time,
      closeTimeResolution: header.close_time_resolution,
      closeFlags: header.close_flags
    })
    parent = Buffer.from(hash).toString("hex").toUpperCase()
    ledgers.push({ ...header, ledger_hash: parent, transactions: transactions.reverse() })
  }
  return ledgers
}
