/** Wallets that accounts sync and deactivate, in families that keep them in the store. */
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as ManagedWallets from "@headwater/indexer/store/wallets/ManagedWallets"
import * as Effect from "effect/Effect"
import type { NodeUnavailable, XpubNotSynced } from "../contract/Errors.ts"
import * as ManagedAddresses from "./ManagedAddresses.ts"
import type { ChainOperations, WalletRequest } from "./Operations.ts"
import type { SyncedWallets } from "./SyncedWallets.ts"
import * as Wallet from "./Wallet.ts"
import * as WalletActivation from "./WalletActivation.ts"

type Operations = Pick<
  ChainOperations,
  "syncWallet" | "syncedWallets" | "deactivateSyncedWallet" | "activateSyncedWallet" | "walletStatus"
>

const syncStatus = ({ state }: Pick<ManagedWallets.ManagedWallet, "state">) =>
  state === "scanning" ? ("syncing" as const) : ("synced" as const)

/** `canBeFound` fails where nothing can show what a wallet had before it was synced. */
export const make = Effect.fnUntraced(function* (
  record: ChainReader,
  { keyFor, sync }: Pick<SyncedWallets, "keyFor" | "sync">,
  canBeFound: Effect.Effect<void, NodeUnavailable | XpubNotSynced>
) {
  const database = yield* Database
  const { chain } = record
  const { blockchain, network } = chain
  const stored = Effect.provideService(Database, database)

  const find = Effect.fnUntraced(function* (request: WalletRequest) {
    const key = yield* keyFor(request)
    return yield* Effect.orDie(ManagedWallets.get(key)).pipe(stored)
  })

  return {
    syncWallet: Effect.fn("StoredManagedWallets.syncWallet")(function* (request) {
      const { birthHeight, extendedPublicKey } = request
      yield* ManagedAddresses.checkNoBirth(birthHeight)
      const before = yield* find(request)
      if (before !== undefined) return yield* Wallet.alreadySynced(before.isActive)
      yield* canBeFound
      yield* sync(request)
      return { extendedPublicKey }
    }),
    syncedWallets: Effect.fn("StoredManagedWallets.syncedWallets")(function* ({ account, limit, offset }) {
      const { total, wallets } = yield* Effect.orDie(ManagedWallets.list({ account, chain }, { limit, offset })).pipe(
        stored
      )
      return {
        total,
        items: wallets.map((wallet) => ({
          ...{ extendedPublicKey: wallet.publicKey, derivation: wallet.derivation, format: wallet.format },
          ...{ isActive: wallet.isActive, syncStatus: syncStatus(wallet) }
        }))
      }
    }),
    ...WalletActivation.make(chain, keyFor, (key, isActive) =>
      database.transaction(ManagedWallets.setActive(key, isActive)).pipe(
        Effect.map((wallet) => ({ isActive, syncStatus: syncStatus(wallet) })),
        stored
      )
    ),
    walletStatus: Effect.fn("StoredManagedWallets.walletStatus")(function* (request) {
      const wallet = (yield* find(request)) ?? (yield* Wallet.notFound)
      return {
        ...{ blockchain, extendedPublicKey: request.extendedPublicKey, isActive: wallet.isActive, network },
        syncStatus: syncStatus(wallet)
      }
    })
  } satisfies Operations as Operations
})
