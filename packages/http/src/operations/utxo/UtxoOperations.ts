/** The operations of a UTXO chain, over its wallets and its node. */
import type { Chain } from "@headwater/core/chains/Chain"
import { UtxoFamily } from "@headwater/indexer/families/utxo/UtxoFamily"
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import { type Wallet, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { type NodeUnavailable, XpubNotSynced } from "../../contract/Errors.ts"
import * as Broadcast from "../Broadcast.ts"
import * as Freshness from "../Freshness.ts"
import * as ManagedAddresses from "../ManagedAddresses.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"
import * as StoredManagedWallets from "../StoredManagedWallets.ts"
import * as StoredWalletLists from "../StoredWalletLists.ts"
import * as SyncedWallets from "../SyncedWallets.ts"
import * as WalletDetails from "../WalletDetails.ts"
import * as AddressHistory from "./AddressHistory.ts"
import * as DecodeTransaction from "./DecodeTransaction.ts"
import * as Explore from "./Explore.ts"
import * as Fees from "./Fees.ts"
import * as Prepare from "./Prepare.ts"
import * as WalletLists from "./WalletLists.ts"

export interface Options extends Pick<AddressHistory.Options, "record"> {
  /** Unused addresses that are watched behind the last used one of each branch of a wallet. */
  readonly gapLimit: number
  /** How long no other transaction is prepared with the coins of one. */
  readonly reservationSeconds: number
}

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record, UtxoFamily)
  const prepare = yield* Prepare.make(record, freshness, options)
  const synced = yield* SyncedWallets.make(record, freshness, {
    gapLimit: options.gapLimit,
    subject: "coins that the wallet had before it was synced"
  })
  const { deriveAndSync, find, inProgress, keyFor } = synced
  const { hasAllCoins } = yield* Wallets
  const { nodeCalls } = yield* Limits

  /** Fails where nothing can show the coins that a wallet had before it was synced, nor which addresses they used. */
  const coinsCanBeFound: Effect.Effect<void, NodeUnavailable | XpubNotSynced> = Effect.gen(function* () {
    const tip = yield* Effect.orDie(record.tip)
    if (yield* Effect.orDie(hasAllCoins(chain))) return
    const { source } = yield* freshness.node
    if (yield* freshness.orUnavailable(source.search.isAvailable)) return
    // With its first block, which is not there yet, the record may have all coins.
    if (tip === undefined) return yield* Effect.andThen(freshness.recorded(false), coinsCanBeFound)
    return yield* new XpubNotSynced({
      message:
        "The coins of this wallet cannot be known: the node has neither scantxoutset nor an index of addresses. Use a " +
        'node that has one of them; or follow the chain anew with start = 0 and record = "all"'
    })
  })

  const walletOf = Effect.fnUntraced(function* (request: WalletRequest) {
    const wallet = yield* find(request)
    return wallet ?? (yield* StoredWalletLists.notSynced)
  })

  /** The wallet; fails where its coins are not known. */
  const whereKnown = Effect.fnUntraced(function* ({ balance, ...wallet }: Wallet) {
    if (balance !== undefined) return { ...wallet, balance }
    yield* coinsCanBeFound
    return yield* inProgress
  })

  const utxoAssets: ChainOperations["utxoAssets"] = Effect.fn("UtxoOperations.utxoAssets")(function* (request) {
    yield* walletOf(request)
    // Looked at before the balance is read: blocks may only come in between.
    yield* freshness.recorded(true)
    const { balance, completeFrom = 0 } = yield* whereKnown(yield* walletOf(request))
    return {
      confirmedBalance: CoinAmount.of(chain, balance),
      // At that block coins are known, and what came and went from the next one on.
      ...(completeFrom === 0 ? {} : { completeFrom: completeFrom + 1 })
    }
  })

  const utxoStatus: ChainOperations["utxoStatus"] = Effect.fn("UtxoOperations.utxoStatus")(function* (request) {
    const { completeFrom, state } = yield* walletOf(request)
    return {
      status: state === "scanning" ? ("syncing" as const) : ("synced" as const),
      ...(completeFrom === undefined ? {} : { completeFrom: { height: completeFrom, unspentOutputs: true } })
    }
  })

  const utxoDerive: ChainOperations["utxoDerive"] = Effect.fn("UtxoOperations.utxoDerive")(function* (request) {
    // Whoever is given such an address pays coins that its owner cannot get back.
    yield* Prepare.mustBeSpendable(yield* keyFor(request))
    if ((yield* find(request)) === undefined) yield* coinsCanBeFound
    return yield* Effect.tapErrorTag(deriveAndSync(request), "xpub_sync_in_progress", () => coinsCanBeFound)
  })

  const utxoDecode = DecodeTransaction.make(chain)
  const utxoPrepare: ChainOperations["utxoPrepare"] = Effect.fn("UtxoOperations.utxoPrepare")(function* (request) {
    yield* whereKnown(yield* walletOf(request))
    return yield* freshness.orUnavailable(prepare(request, yield* keyFor(request)))
  })

  return {
    utxoDetails: WalletDetails.ofCoins(utxoAssets),
    ...{ utxoAssets, utxoStatus, utxoDerive, utxoDecode, utxoPrepare },
    ...(yield* WalletLists.make(record, freshness, synced, {
      ...{ coinsCanBeFound, nodeCalls, whereKnown },
      gapLimit: options.gapLimit
    })),
    ...(yield* StoredManagedWallets.make(record, synced, coinsCanBeFound)),
    ...Explore.make(record, freshness, nodeCalls),
    ...(yield* AddressHistory.make(record, freshness, { record: options.record, nodeCalls })),
    ...(yield* ManagedAddresses.make(record, { syncBlocks: 0, past: "search" })),
    ...Fees.make(record, freshness),
    ...(yield* Broadcast.make(chain, freshness))
  } satisfies Partial<ChainOperations>
})
