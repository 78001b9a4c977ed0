/** Wallets whose addresses accounts derive and sync, in families that keep them in the store. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import { type InsufficientCredits, XpubSyncInProgress, XpubsLimitReached } from "../contract/Errors.ts"
import type { Freshness } from "./Freshness.ts"
import * as Wallet from "./Wallet.ts"
import type { Caller, ChainOperations, WalletRequest } from "./Operations.ts"

export interface Options {
  /** Unused addresses in a row after which a branch of a wallet ends. */
  readonly gapLimit: number
  /** The coins or accounts that are looked for after a wallet was synced, as messages name them. */
  readonly subject: string
}

export const make = Effect.fnUntraced(function* (
  record: ChainReader,
  freshness: Pick<Freshness, "recorded">,
  { gapLimit, subject }: Options
) {
  const { chain } = record
  const wallets = yield* Wallets
  const inProgress = new XpubSyncInProgress({
    message: `The ${subject} are being looked for: try again later`
  })

  const keyFor = ({ account, derivation = "account", extendedPublicKey, format }: WalletRequest) =>
    Effect.mapError(Effect.fromResult(keyOf(account, chain, extendedPublicKey, derivation, format)), Wallet.refusalOf)

  /** The synced wallet of a request; undefined where the account has not synced it, or has deactivated it. */
  const find = (request: WalletRequest) => Effect.flatMap(keyFor(request), (key) => Effect.orDie(wallets.get(key)))

  /** For each branch the first index that is not watched; undefined where the account has no active such wallet. */
  const unwatchedOf = (request: WalletRequest) =>
    Effect.flatMap(keyFor(request), (key) => Effect.orDie(wallets.unwatchedOf(key)))

  /** The block from which on it is known of each of the addresses whether it was used. */
  const recordedFrom = Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>) {
    const { coin } = yield* record.wholeFrom
    const usesFrom = yield* record.usesFrom(addresses)
    return Math.max(coin, usesFrom ?? 0)
  }, Effect.orDie)

  const deriveAndSync: ChainOperations["xrpDerive"] = Effect.fn("SyncedWallets.deriveAndSync")(function* (
    request: WalletRequest & Caller
  ) {
    return yield* deriveOf(request, 0)
  })

  /** As `deriveAndSync`, of a branch of the wallet: 0 are receiving addresses, 1 change. */
  const deriveOf = Effect.fnUntraced(function* (request: WalletRequest & Caller, branch: 0 | 1) {
    const key = yield* keyFor(request)
    // The record says which addresses were used since they were watched, and where their record begins.
    yield* freshness.recorded(false)
    const addresses = yield* wallets
      .deriveAndSync<InsufficientCredits, never>(key, gapLimit, request.paying, branch)
      .pipe(
        Effect.catchTags({
          WalletScanning: () => Effect.fail(inProgress),
          WalletConflict: () => Effect.fail(Wallet.inactive),
          LimitReached: ({ message }) => Effect.fail(new XpubsLimitReached({ message })),
          DatabaseError: Effect.die
        })
      )
    const completeFrom = yield* recordedFrom(addresses.map(({ bytes }) => bytes))
    return {
      ...(completeFrom === 0 ? {} : { completeFrom }),
      items: addresses.map(({ address, index }) => ({
        ...{ address, index, format: key.format },
        ...{ derivationType: key.derivation, type: branch === 0 ? "receiving" : "change" }
      }))
    }
  })

  /** Makes a wallet as `deriveAndSync` does, without giving out addresses; pays for one result. */
  const sync = Effect.fnUntraced(function* (request: WalletRequest & Caller) {
    const key = yield* keyFor(request)
    yield* freshness.recorded(false)
    yield* wallets
      .sync<InsufficientCredits, never>(key, gapLimit, (change) => request.paying(change, () => 1))
      .pipe(
        Effect.catchTags({
          WalletConflict: ({ isActive }) => Effect.fail(Wallet.alreadySynced(isActive)),
          LimitReached: ({ message }) => Effect.fail(new XpubsLimitReached({ message })),
          DatabaseError: Effect.die
        })
      )
  })

  return { keyFor, find, unwatchedOf, deriveAndSync, deriveOf, sync, inProgress }
})

export type SyncedWallets = Effect.Success<ReturnType<typeof make>>
