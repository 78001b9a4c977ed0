/** Wallets whose addresses accounts derive and sync, in families that keep them in the store. */
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import { type InsufficientCredits, XpubSyncInProgress } from "../contract/Errors.ts"
import * as Wallet from "./Wallet.ts"
import type { Caller, ChainOperations, WalletRequest } from "./Operations.ts"

export interface Options {
  /** Unused addresses in a row after which a branch of a wallet ends. */
  readonly gapLimit: number
  /** The coins or accounts that are looked for after a wallet was synced, as messages name them. */
  readonly subject: string
}

export const make = Effect.fnUntraced(function* (chain: Chain, { gapLimit, subject }: Options) {
  const wallets = yield* Wallets
  const inProgress = new XpubSyncInProgress({
    message: `The ${subject} are being looked for: try again later`
  })

  const keyFor = ({ account, derivation = "account", extendedPublicKey, format }: WalletRequest) =>
    Effect.mapError(Effect.fromResult(keyOf(account, chain, extendedPublicKey, derivation, format)), Wallet.refusalOf)

  /** The synced wallet of a request; undefined where the account has not synced it. */
  const find = (request: WalletRequest) => Effect.flatMap(keyFor(request), (key) => Effect.orDie(wallets.get(key)))

  const deriveAndSync: ChainOperations["utxoDerive"] & ChainOperations["xrpDerive"] = Effect.fn(
    "SyncedWallets.deriveAndSync"
  )(function* (request: WalletRequest & Caller) {
    const key = yield* keyFor(request)
    const addresses = yield* wallets
      .deriveAndSync<InsufficientCredits, never>(key, gapLimit, request.paying)
      .pipe(Effect.catchTags({ WalletScanning: () => Effect.fail(inProgress), DatabaseError: Effect.die }))
    return addresses.map(({ address, index }) => ({
      ...{ address, index, format: key.format },
      ...{ derivationType: key.derivation, type: "receiving" }
    }))
  })

  return { find, deriveAndSync, inProgress }
})
