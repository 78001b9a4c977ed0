/** The operations that deactivate and activate a wallet which an account has synced: they are alike in all families. */
import type { Chain } from "@headwater/core/chains/Chain"
import type { WalletConflict, WalletNotFound } from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import type { Conflict, InvalidData, InvalidXpub } from "../contract/Errors.ts"
import type { Caller, ChainOperations, WalletRequest } from "./Operations.ts"
import * as Wallet from "./Wallet.ts"

type Operations = Pick<ChainOperations, "deactivateSyncedWallet" | "activateSyncedWallet">

interface State {
  readonly isActive: boolean
  readonly syncStatus: "syncing" | "synced"
}

/** `change` deactivates or activates the wallet of a key in the store: an activation is paid for as one result. */
export const make = <Key>(
  { blockchain, network }: Chain,
  keyOf: (request: WalletRequest) => Effect.Effect<Key, InvalidXpub | InvalidData>,
  change: (
    key: Key,
    isActive: boolean
  ) => Effect.Effect<State, WalletNotFound | WalletConflict | Conflict | DatabaseError>
): Operations => {
  const setActive = Effect.fnUntraced(function* <E>(request: WalletRequest & Caller, isActive: boolean, already: E) {
    const changed = change(yield* keyOf(request), isActive)
    return yield* Effect.catchTags(isActive ? request.paying(changed, () => 1) : changed, {
      DatabaseError: Effect.die,
      WalletNotFound: () => Effect.fail(Wallet.notFound),
      WalletConflict: () => Effect.fail(already)
    })
  })

  return {
    deactivateSyncedWallet: Effect.fn("WalletActivation.deactivateSyncedWallet")(function* (request) {
      yield* setActive(request, false, Wallet.alreadyInactive)
      return { extendedPublicKey: request.extendedPublicKey }
    }),
    activateSyncedWallet: Effect.fn("WalletActivation.activateSyncedWallet")(function* (request) {
      const { isActive, syncStatus } = yield* setActive(request, true, Wallet.alreadyActive)
      return { blockchain, extendedPublicKey: request.extendedPublicKey, isActive, network, syncStatus }
    })
  }
}
