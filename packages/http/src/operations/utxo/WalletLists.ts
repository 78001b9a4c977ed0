/** Lists of a synced wallet of a UTXO chain: its addresses, transactions and unspent outputs, and new addresses for change. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Hash from "@headwater/core/Hash"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoredLists from "@headwater/indexer/store/wallets/WalletLists"
import type { Wallet } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  invalidField,
  type NodeUnavailable,
  type XpubNotSynced,
  type XpubSyncInProgress
} from "../../contract/Errors.ts"
import * as AllTransactions from "../AllTransactions.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as StoredWalletLists from "../StoredWalletLists.ts"
import type { SyncedWallets } from "../SyncedWallets.ts"
import * as Refusals from "./Refusals.ts"
import * as TransactionItem from "./TransactionItem.ts"

export interface Options {
  /** Unused addresses in a row after which a branch of a wallet ends. */
  readonly gapLimit: number
  /** Calls of the node that one request may take. */
  readonly nodeCalls: number
  /** Fails where nothing can show the coins that a wallet had before it was synced. */
  readonly coinsCanBeFound: Effect.Effect<void, NodeUnavailable | XpubNotSynced>
  /** The wallet; fails where its coins are not known. */
  readonly whereKnown: (wallet: Wallet) => Effect.Effect<Wallet, NodeUnavailable | XpubNotSynced | XpubSyncInProgress>
}

type Operations = Pick<
  ChainOperations,
  "utxoWalletAddresses" | "utxoWalletTransactions" | "utxoWalletOutputs" | "utxoDeriveChange"
>

export const make = Effect.fnUntraced(function* (
  record: ChainReader,
  freshness: Freshness<UtxoConnection>,
  synced: SyncedWallets,
  { coinsCanBeFound, gapLimit, nodeCalls, whereKnown }: Options
) {
  const database = yield* Database
  const { chain } = record
  const { addresses } = yield* StoredWalletLists.make(record, synced)
  const answered = Refusals.make(freshness, nodeCalls)
  const stored = <A, E>(read: Effect.Effect<A, E, Database>) =>
    Effect.orDie(Effect.provideService(read, Database, database))

  /** A wallet whose coins are known, from the block on that is named. */
  const known = Effect.fnUntraced(function* (request: WalletRequest) {
    const found = (yield* synced.find(request)) ?? (yield* StoredWalletLists.notSynced)
    const { node } = yield* freshness.recorded(true)
    const { completeFrom = 0 } = yield* whereKnown(found)
    return { key: yield* synced.keyFor(request), node, from: completeFrom === 0 ? 0 : completeFrom + 1 }
  })

  const utxoWalletTransactions: Operations["utxoWalletTransactions"] = Effect.fn("WalletLists.utxoWalletTransactions")(
    function* (request) {
      const { from, key, node } = yield* known(request)
      const belonging = yield* stored(StoredLists.belonging(key, gapLimit))
      const completeness = yield* Effect.orDie(record.completeness(belonging.map(({ address }) => address)))
      const { coin } = yield* Effect.orDie(record.wholeFrom)
      let whole = Math.max(from, coin)
      // Those that look unused as well: one that was used and emptied before its record began does so.
      for (const { address } of belonging) {
        const { transactions } = completeness.get(Bytes.key(address)) ?? {}
        if (transactions === undefined) return yield* synced.inProgress
        whole = Math.max(whole, transactions)
      }
      const used = belonging.filter(({ isUsed }) => isUsed)
      const all = yield* AllTransactions.atOneMoment(
        record,
        used.map(({ address }) => address)
      )
      const page = all.slice(request.offset, request.offset + request.limit)
      const shown = yield* answered(
        node.transactions.mined(
          page.map((one) => TransactionItem.minedOf(chain, one)),
          nodeCalls
        )
      )
      const items = shown.map((transaction) => TransactionItem.of(chain, transaction))
      const named = items.flatMap(({ recipients, senders }) =>
        [...recipients, ...senders].map(({ address }) => address)
      )
      const scripts = new Map(
        [...new Set(named)].flatMap((text) => {
          const bytes = Result.getOrUndefined(Address.decode(chain, text))
          return bytes === undefined ? [] : [[text, bytes] as const]
        })
      )
      const members = yield* stored(StoredLists.members(key, [...scripts.values()]))
      const membersOf = (moved: (typeof items)[number]["senders"]) =>
        moved.map(({ address, value: { amount } }) => {
          const bytes = scripts.get(address)
          return { address, isMember: bytes !== undefined && members.has(Bytes.key(bytes)), value: { amount } }
        })
      return {
        total: all.length,
        ...{ answeredFrom: "record" as const, completeFrom: RecordedAddress.completeFrom(whole) },
        items: items.map(({ fee, hash, id, minedInBlock, positionInBlock, recipients, senders, timestamp }) => ({
          ...{ hash, id, minedInBlock, positionInBlock, timestamp, fee: { amount: fee.amount } },
          ...{ recipients: membersOf(recipients), senders: membersOf(senders) }
        }))
      }
    }
  )

  const utxoWalletOutputs: Operations["utxoWalletOutputs"] = Effect.fn("WalletLists.utxoWalletOutputs")(
    function* (request) {
      const { from, key, node } = yield* known(request)
      const { coins, total } = yield* stored(StoredLists.unspent(key, request))
      const states = yield* freshness.orUnavailable(node.preparation.statesOf(coins))
      return {
        total,
        ...{ answeredFrom: "record" as const, completeFrom: RecordedAddress.completeFrom(from) },
        items: coins.map(({ amount, branch, index, outpoint, script }, place) => ({
          address: Address.encode(chain, script)!,
          addressPath: key.derivation === "bip32" ? String(index) : `${branch}/${index}`,
          ...{ derivation: key.derivation, index: outpoint.index, isConfirmed: true },
          isAvailable: states[place] === "spendable",
          transactionId: Hash.encode(chain, outpoint.transactionId),
          value: { amount: Amount.format(amount, chain.decimals) }
        }))
      }
    }
  )

  const utxoDeriveChange: Operations["utxoDeriveChange"] = Effect.fn("WalletLists.utxoDeriveChange")(
    function* (request) {
      if (request.derivation === "bip32") {
        return yield* invalidField("derivation", "must be account: a bip32 wallet has no addresses for change")
      }
      if ((yield* synced.find(request)) === undefined) yield* coinsCanBeFound
      return yield* Effect.tapErrorTag(synced.deriveOf(request, 1), "xpub_sync_in_progress", () => coinsCanBeFound)
    }
  )

  return {
    utxoWalletAddresses: Effect.fn("WalletLists.utxoWalletAddresses")(
      ({ addressFormat, isChangeAddress = true, ...request }) => {
        // "standard" is the example of the hosted service's description, and no form of a UTXO chain: the wallet's own.
        const isOwn = addressFormat === undefined || addressFormat === "STANDARD"
        return addresses({ ...request, ...(isOwn ? {} : { format: addressFormat }) }, isChangeAddress)
      }
    ),
    ...{ utxoWalletTransactions, utxoWalletOutputs, utxoDeriveChange }
  } satisfies Operations as Operations
})
