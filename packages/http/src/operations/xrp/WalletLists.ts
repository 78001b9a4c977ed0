/** Lists of an XRP wallet: addresses that are recorded, and transactions of those that are used, from the servers. */
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { Place } from "@headwater/indexer/families/xrp/AccountTransactions"
import type { ExplorerTransaction } from "@headwater/indexer/families/xrp/LedgerExplorer"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoredLists from "@headwater/indexer/store/wallets/WalletLists"
import * as Effect from "effect/Effect"
import type { Freshness } from "../Freshness.ts"
import * as NodeCalls from "../NodeCalls.ts"
import type { ChainOperations } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as StoredWalletLists from "../StoredWalletLists.ts"
import type { SyncedWallets } from "../SyncedWallets.ts"

type Operations = Pick<ChainOperations, "xrpWalletAddresses" | "xrpWalletTransactions">

/** Transactions of an account that are asked for at a time. */
const atOnce = 50

/** Each account once, with the drops that went from or to it; one that the transaction names is there even with none. */
const sums = (named: string, transfers: ExplorerTransaction["transfers"], side: "from" | "to") => {
  const drops = new Map<string, bigint>(named === "" ? [] : [[named, 0n]])
  for (const transfer of transfers) {
    const account = transfer[side]
    if (account !== undefined) drops.set(account, (drops.get(account) ?? 0n) + transfer.drops)
  }
  return [...drops]
}

/**
 * A transaction as the list of a wallet has it, whose amounts name no unit: XRP that moved, and no tokens. An amount among the
 * fields of a transaction may be more than what moved, what its sender gets, or nothing but an offer.
 */
export const itemOf =
  (chain: Chain, own: ReadonlySet<string>) =>
  ({ item, ledger, transfers }: ExplorerTransaction) => {
    const members = (named: string, side: "from" | "to") =>
      sums(named, transfers, side).map(([address, drops]) => ({
        ...{ address, isMember: own.has(address) },
        value: { amount: Amount.format(drops, chain.decimals) }
      }))
    return {
      ...{ hash: item.hash, positionInBlock: item.positionInBlock, timestamp: item.timestamp },
      fee: { amount: item.fee.amount },
      minedInBlock: { hash: Hash.encode(chain, ledger.hash), height: ledger.height },
      ...{ recipient: members(item.recipient, "to"), sender: members(item.sender, "from") }
    }
  }

export const make = Effect.fnUntraced(function* (
  record: ChainReader,
  freshness: Freshness<XrpConnection>,
  synced: SyncedWallets,
  nodeCalls: number
) {
  const database = yield* Database
  const { chain } = record
  const { addresses } = yield* StoredWalletLists.make(record, synced)

  const xrpWalletTransactions: Operations["xrpWalletTransactions"] = Effect.fn("WalletLists.xrpWalletTransactions")(
    function* (request) {
      const wallet = (yield* synced.find(request)) ?? (yield* StoredWalletLists.notSynced)
      const { node } = yield* freshness.recorded(true)
      if (wallet.state === "scanning") return yield* synced.inProgress
      const key = yield* synced.keyFor(request)
      const used = yield* Effect.orDie(Effect.provideService(StoredLists.used(key), Database, database))
      const takeCalls = NodeCalls.make(nodeCalls, "a wallet with so many transactions")
      const found = new Map<string, ExplorerTransaction>()
      let whole = 0
      for (const address of used) {
        for (let after: Place | undefined; ; ) {
          // The list, and the ledgers of its transactions.
          yield* takeCalls(1)
          const page = yield* freshness.orUnavailable(
            node.source.accountTransactions(address, { order: "descending", limit: atOnce, after })
          )
          yield* takeCalls(page.items.length)
          whole = Math.max(whole, page.completeFrom)
          for (const one of page.items) found.set(one.item.hash, one)
          if (page.next === undefined) break
          after = page.next
        }
      }
      const all = [...found.values()].sort(
        (a, b) => b.ledger.height - a.ledger.height || b.item.positionInBlock - a.item.positionInBlock
      )
      const own = new Set(used.map((address) => Address.encode(chain, address)!))
      return {
        total: all.length,
        ...{ answeredFrom: "node" as const, completeFrom: RecordedAddress.completeFrom(whole) },
        items: all.slice(request.offset, request.offset + request.limit).map(itemOf(chain, own))
      }
    }
  )

  return {
    xrpWalletAddresses: Effect.fn("WalletLists.xrpWalletAddresses")(
      ({ addressFormat, isChangeAddress = false, ...request }) =>
        addresses({ ...request, ...(addressFormat === undefined ? {} : { format: addressFormat }) }, isChangeAddress)
    ),
    xrpWalletTransactions
  } satisfies Operations as Operations
})
