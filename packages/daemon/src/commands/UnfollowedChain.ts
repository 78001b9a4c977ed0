/** A configured chain in the store, for commands that change what a daemon would go on from. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Effect from "effect/Effect"
import * as Settings from "../settings/Settings.ts"
import * as ChainArgument from "./ChainArgument.ts"

/** The chain of this name; no daemon follows any chain of the store until the scope ends. Fails while one does. */
export const open = Effect.fnUntraced(function* (name: string) {
  const { chain, settings } = yield* ChainArgument.find(name)
  yield* StoreLock.acquire(Settings.storeLocation(yield* Settings.Settings))
  const store = yield* ChainStore.open(chain, settings)
  return { chain, name: nameOf(chain), settings, store }
})
