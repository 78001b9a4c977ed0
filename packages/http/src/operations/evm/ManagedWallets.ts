/** HD wallets of account chains that accounts sync: their addresses are watched, and the past of each is read. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import * as SyncedAccountWallets from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { XpubNotSynced, XpubsLimitReached } from "../../contract/Errors.ts"
import * as ManagedAddresses from "../ManagedAddresses.ts"
import type { Caller, ChainOperations, WalletRequest } from "../Operations.ts"
import * as Wallet from "../Wallet.ts"
import * as WalletActivation from "../WalletActivation.ts"

export interface Options extends ManagedAddresses.Options {
  /** Unused addresses in a row after which a wallet ends. */
  readonly gapLimit: number
}

type Operations = Pick<
  ChainOperations,
  "syncWallet" | "syncedWallets" | "deactivateSyncedWallet" | "activateSyncedWallet" | "walletStatus"
>

const notSynced = new XpubNotSynced({ message: "The account has not synced the wallet: sync it first" })

export const make = Effect.fnUntraced(function* (record: ChainReader, options: Options) {
  const database = yield* Database
  const limits = yield* Limits.Limits
  const { chain } = record
  const { blockchain, network } = chain
  const stored = Effect.provideService(Database, database)

  const keyOf = ({ account, derivation = "account", extendedPublicKey }: WalletRequest) =>
    Effect.mapError(
      Effect.fromResult(
        Result.map(
          ExtendedPublicKey.decode(chain, extendedPublicKey),
          (key): SyncedAccountWallets.WalletKey => ({
            ...{ account, chain, derivation, publicKey: ExtendedPublicKey.encode(chain, key) }
          })
        )
      ),
      Wallet.refusalOf
    )

  const syncWallet: Operations["syncWallet"] = Effect.fn("ManagedWallets.syncWallet")(function* (request) {
    const { birthHeight, extendedPublicKey } = request
    const key = yield* keyOf(request)
    const branches = yield* Wallet.branches(chain, request)
    yield* ManagedAddresses.checkPast(record, options, birthHeight)
    const addresses = branches.flatMap((branch) =>
      WalletBranches.derive(branch, 0, options.gapLimit - 1).map(({ bytes }) => bytes)
    )
    yield* request
      .paying(
        database.transaction(
          SyncedAccountWallets.add(key, addresses, {
            ...{ birth: birthHeight, readsPast: options.past === "logs", mostBlocks: options.syncBlocks }
          }).pipe(Effect.provideService(Limits.Limits, limits))
        ),
        () => 1
      )
      .pipe(
        Effect.catchTags({
          DatabaseError: Effect.die,
          LimitReached: ({ message }) => Effect.fail(new XpubsLimitReached({ message })),
          PastTooLong: ManagedAddresses.tooLong(options),
          WalletConflict: ({ isActive }) => Effect.fail(Wallet.alreadySynced(isActive))
        }),
        stored
      )
    return { extendedPublicKey }
  })

  /** Watches addresses that a reading of the wallet has come to, where the account has synced the wallet. */
  const extend = Effect.fnUntraced(function* (request: WalletRequest, addresses: ReadonlyArray<AddressBytes>) {
    const key = yield* keyOf(request)
    return yield* database
      .transaction(SyncedAccountWallets.extend(key, addresses))
      .pipe(Effect.catchTag("DatabaseError", Effect.die), stored)
  })

  const isSynced = Effect.fnUntraced(function* (request: WalletRequest) {
    const key = yield* keyOf(request)
    return yield* Effect.orDie(SyncedAccountWallets.isActive(key)).pipe(stored)
  })

  /**
   * The place of an address in a synced wallet, of one that is watched; undefined for any other. Fails where the account has
   * not synced the wallet.
   */
  const placeOf = Effect.fnUntraced(function* (request: WalletRequest, address: AddressBytes) {
    const key = yield* keyOf(request)
    const watched = yield* Effect.orDie(SyncedAccountWallets.watched(key, address)).pipe(stored)
    if (watched === undefined) return yield* notSynced
    if (!watched.isAmongThem) return undefined
    const branches = yield* Wallet.branches(chain, request)
    return yield* TimeSlice.run(function* () {
      for (let index = 0; index < watched.total; index++) {
        for (const [change, branch] of branches.entries()) {
          const [derived] = WalletBranches.derive(branch, index, index)
          if (derived !== undefined && Bytes.equal(derived.bytes, address)) return { change, index }
        }
        yield
      }
      return undefined
    })
  })

  const operations: Operations = {
    syncWallet,
    syncedWallets: Effect.fn("ManagedWallets.syncedWallets")(function* ({ account, limit, offset }) {
      const { total, wallets } = yield* SyncedAccountWallets.list({ account, chain }, { limit, offset }).pipe(
        Effect.orDie,
        stored
      )
      return {
        total,
        items: wallets.map(({ blocksLeft, derivation, isActive, publicKey, status }) => ({
          ...(blocksLeft === undefined ? {} : { blocksLeft }),
          ...{ extendedPublicKey: publicKey, derivation, isActive, syncStatus: status }
        }))
      }
    }),
    ...WalletActivation.make(chain, keyOf, (key, isActive) =>
      database.transaction(SyncedAccountWallets.setActive(key, isActive, { mostBlocks: options.syncBlocks })).pipe(
        Effect.map(({ status }) => ({ isActive, syncStatus: status })),
        Effect.catchTag("PastTooLong", ManagedAddresses.tooLongByNow(options)),
        stored
      )
    ),
    walletStatus: Effect.fn("ManagedWallets.walletStatus")(function* (request) {
      const key = yield* keyOf(request)
      const wallet = yield* Effect.orDie(SyncedAccountWallets.get(key)).pipe(stored)
      if (wallet === undefined) return yield* Wallet.notFound
      const { blocksLeft, isActive, status } = wallet
      return {
        ...{ blockchain, extendedPublicKey: request.extendedPublicKey, isActive, network, syncStatus: status },
        ...(blocksLeft === undefined ? {} : { blocksLeft })
      }
    })
  }

  /** The recorded addresses of a wallet; fails where the account has not synced it. */
  const recordedOf = Effect.fnUntraced(function* (request: WalletRequest) {
    const key = yield* keyOf(request)
    return (yield* Effect.orDie(SyncedAccountWallets.addresses(key)).pipe(stored)) ?? (yield* notSynced)
  })

  /** Watches addresses of a wallet, which is synced with them where it was not, and pays for `results`. */
  const watch = Effect.fnUntraced(function* (
    request: WalletRequest & Caller,
    addresses: ReadonlyArray<AddressBytes>,
    results: number
  ) {
    const key = yield* keyOf(request)
    // Nobody has said from where on the past counts.
    const birth = (yield* ManagedAddresses.begun(record)).height + 1
    const change = database.transaction(
      Effect.gen(function* () {
        if (yield* SyncedAccountWallets.extend(key, addresses)) return
        yield* SyncedAccountWallets.add(key, addresses, {
          ...{ birth, readsPast: options.past === "logs", mostBlocks: options.syncBlocks }
        })
      }).pipe(Effect.provideService(Limits.Limits, limits))
    )
    yield* request
      .paying(change, () => results)
      .pipe(
        Effect.catchTags({
          DatabaseError: Effect.die,
          PastTooLong: Effect.die,
          LimitReached: ({ message }) => Effect.fail(new XpubsLimitReached({ message })),
          WalletConflict: () => Effect.fail(Wallet.inactive)
        }),
        stored
      )
  })

  return { extend, isSynced, placeOf, recordedOf, watch, operations }
})

export type ManagedWallets = Effect.Success<ReturnType<typeof make>>
