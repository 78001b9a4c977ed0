/** The operations of an XRP chain: ledgers and balances from its servers, derived addresses in the store. */
import type { Chain } from "@headwater/core/chains/Chain"
import { XrpFamily } from "@headwater/indexer/families/xrp/XrpFamily"
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ReservedNonces from "@headwater/indexer/store/wallets/ReservedNonces"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import * as Broadcast from "../Broadcast.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as StoredManagedWallets from "../StoredManagedWallets.ts"
import * as SyncedWallets from "../SyncedWallets.ts"
import * as Wallet from "../Wallet.ts"
import * as WalletDetails from "../WalletDetails.ts"
import * as AddressTransactions from "./AddressTransactions.ts"
import * as Explore from "./Explore.ts"
import * as NextTransaction from "./NextTransaction.ts"
import * as Prepare from "./Prepare.ts"
import * as WalletLists from "./WalletLists.ts"

export interface Options {
  /** Addresses that never had an account, in a row, after which a wallet ends. */
  readonly gapLimit: number
  /** How long what a prepared payment uses is kept for it. */
  readonly reservationSeconds: number
}

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record, XrpFamily)
  const synced = yield* SyncedWallets.make(record, freshness, {
    gapLimit: options.gapLimit,
    subject: "accounts that the wallet has already"
  })
  const { deriveAndSync, unwatchedOf } = synced
  const { nodeCalls } = yield* Limits

  const xrpAssets: ChainOperations["xrpAssets"] = Effect.fn("XrpOperations.xrpAssets")(function* (request) {
    const branches = yield* Wallet.branches(chain, request)
    const unwatched = yield* unwatchedOf(request)
    const { source } = yield* freshness.node
    // Any of the addresses that the wallet's owner was given may be in use, whatever the gap before it.
    const { completeFrom, drops } = yield* source
      .walletBalance(
        branches.map(
          (branch) => (from, count) => WalletBranches.derive(branch, from, from + count - 1).map(({ bytes }) => bytes)
        ),
        options.gapLimit,
        unwatched
      )
      .pipe(freshness.orUnavailable)
    return {
      confirmedBalance: CoinAmount.of(chain, drops),
      ...(completeFrom === 0 ? {} : { completeFrom })
    }
  })

  return {
    ...(yield* Broadcast.make(chain, freshness)),
    ...AddressTransactions.make(record, freshness),
    ...(yield* WalletLists.make(record, freshness, synced, nodeCalls)),
    // Servers show every account that there is.
    ...(yield* StoredManagedWallets.make(record, synced, Effect.void)),
    ...Explore.make(record, freshness),
    xrpAssets,
    xrpDetails: WalletDetails.ofCoins(xrpAssets),
    xrpDerive: deriveAndSync,
    ...NextTransaction.make(record, freshness),
    preparePayment: Prepare.make(record, freshness, { nonces: yield* ReservedNonces.make(chain), ...options })
  } satisfies Partial<ChainOperations>
})
