/** What endpoints show of any validated ledger that a server has, and of any transaction in one. */
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as XrpTransfers from "@headwater/core/xrp/XrpTransfers"
import * as Effect from "effect/Effect"
import { type NodeError, NodeInconsistent, orNone } from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"
import type * as Ledger from "./internal/Ledger.ts"
import * as LedgerInParts from "./internal/LedgerInParts.ts"
import { isTransactionMissing } from "./internal/XrpReply.ts"
import type { XrpClient } from "./XrpNode.ts"

/** A ledger as `ledger` is asked for it. */
export type Wanted = { readonly ledger_index: number | "validated" } | { readonly ledger_hash: string }

export interface ExplorerLedger extends Ledger.LedgerDetails {
  /** What its transactions have burned, in drops. */
  readonly fees: bigint
}

/** Transactions of a ledger in order of execution, from an offset on, and how many it has. */
export interface TransactionPage {
  readonly items: ReadonlyArray<XrpTransaction.Item>
  readonly total: number
}

export interface ExplorerTransaction {
  readonly item: XrpTransaction.Item
  /** The XRP that it moved. */
  readonly transfers: ReadonlyArray<XrpTransfers.Transfer>
  readonly ledger: Ledger.LedgerHeader
}

/** A transaction at its place in a ledger. */
export const transactionOf = (
  transaction: XrpTransaction.XrpTransaction,
  position: number,
  ledger: Ledger.LedgerHeader
): ExplorerTransaction => ({
  ...{ ledger, transfers: XrpTransfers.of(transaction) },
  item: XrpTransaction.toItem(transaction, { position, time: ledger.time })
})

/** Fails with `BlockMissing` where no server has the ledger. */
export interface LedgerExplorer {
  /** With the hash of the next ledger, undefined where this one is the newest. */
  readonly ledger: (
    wanted: Wanted
  ) => Effect.Effect<ExplorerLedger & { readonly next: Uint8Array | undefined }, NodeError>
  /** So many of the newest ledgers, newest first. */
  readonly newest: (count: number) => Effect.Effect<ReadonlyArray<ExplorerLedger>, NodeError>
  readonly transactionsOf: (wanted: Wanted, page: OffsetPage) => Effect.Effect<TransactionPage, NodeError>
  /** By 64 upper-case hex digits; undefined where the servers have no validated ledger with the transaction. */
  readonly transaction: (hash: string) => Effect.Effect<ExplorerTransaction | undefined, NodeError>
}

/** How a ledger is read, in part or whole. */
export interface Reader {
  readonly header: (wanted: Wanted) => Effect.Effect<Ledger.LedgerHeader, NodeError>
  readonly details: (wanted: Wanted) => Effect.Effect<Ledger.LedgerDetails, NodeError>
  readonly whole: (wanted: Wanted) => Effect.Effect<Ledger.Ledger, NodeError>
}

/** Ledgers that are asked for at the same time. */
const concurrency = 8

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex").toUpperCase()

export const make = (node: XrpClient, reader: Reader): LedgerExplorer => {
  /** By the transactions themselves: of the first ledger that a server has nobody tells how much XRP there was before. */
  const paid = Effect.fnUntraced(function* ({ hash }: Ledger.LedgerHeader) {
    const { transactions } = yield* reader.whole({ ledger_hash: hex(hash) })
    let fees = 0n
    for (const { fee } of transactions) if (fee.kind === "xrp") fees += fee.drops
    return fees
  })

  /** Nothing but fees takes XRP away. */
  const withFees = Effect.fnUntraced(function* (
    ledger: Ledger.LedgerDetails,
    before: Ledger.LedgerDetails | undefined
  ): Effect.fn.Return<ExplorerLedger, NodeError> {
    return { ...ledger, fees: before === undefined ? yield* paid(ledger) : before.totalCoins - ledger.totalCoins }
  })

  const ledger: LedgerExplorer["ledger"] = Effect.fn("LedgerExplorer.ledger")(function* (wanted) {
    const found = yield* reader.details(wanted)
    const [before, next] = yield* Effect.all(
      [
        orNone(reader.details({ ledger_hash: hex(found.parent) })),
        orNone(reader.header({ ledger_index: found.height + 1 }))
      ],
      { concurrency: "unbounded" }
    )
    return { ...(yield* withFees(found, before)), next: next?.hash }
  })

  const newest: LedgerExplorer["newest"] = Effect.fn("LedgerExplorer.newest")(function* (count) {
    const latest = yield* reader.details({ ledger_index: "validated" })
    const heights = Array.from({ length: Math.min(count, latest.height) }, (_, index) => latest.height - 1 - index)
    const older = yield* Effect.forEach(heights, (height) => orNone(reader.details({ ledger_index: height })), {
      concurrency
    })
    const ledgers = [latest, ...older]
    const shown: Array<ExplorerLedger> = []
    for (const [index, each] of ledgers.slice(0, count).entries()) {
      // A server begins somewhere.
      if (each === undefined) break
      const before = ledgers[index + 1]
      if (before !== undefined && Buffer.compare(before.hash, each.parent) !== 0) {
        const message = `ledger ${before.height} is not the parent of the next one`
        return yield* new NodeInconsistent({ node: node.name, method: "ledger", message })
      }
      shown.push(yield* withFees(each, before))
    }
    return shown
  })

  const transaction: LedgerExplorer["transaction"] = Effect.fn("LedgerExplorer.transaction")(function* (hash) {
    const inconsistent = (message: string) => new NodeInconsistent({ node: node.name, method: "tx", message })
    const answer = yield* Effect.catchIf(
      node.request("tx", { transaction: hash }),
      isTransactionMissing,
      () => Effect.undefined
    )
    // What is in no validated ledger may never be.
    if (answer === undefined || answer.validated !== true) return undefined
    const index = answer.ledger_index
    if (answer.hash !== hash) return yield* inconsistent(`asked for transaction ${hash}, answered another`)
    if (typeof index !== "number" || !Number.isSafeInteger(index))
      return yield* inconsistent("ledger_index is no index")
    const ledger = yield* reader.header({ ledger_index: index })
    const read = XrpTransaction.decode(LedgerInParts.entryOf(answer), index)
    const { position } = read
    if (position === undefined) return yield* inconsistent("TransactionIndex is not there")
    return transactionOf(read, position, ledger)
  })

  return {
    ledger,
    newest,
    transactionsOf: Effect.fn("LedgerExplorer.transactionsOf")(function* (wanted, { limit, offset }) {
      const { time, transactions } = yield* reader.whole(wanted)
      return {
        items: transactions
          .slice(offset, offset + limit)
          .map((found, index) => XrpTransaction.toItem(found, { position: offset + index, time })),
        total: transactions.length
      }
    }),
    transaction
  }
}
