/** Lists of wallets that are kept in the store: their addresses. */
import * as Address from "@headwater/core/address/Address"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoredLists from "@headwater/indexer/store/wallets/WalletLists"
import * as Effect from "effect/Effect"
import { XpubNotSynced } from "../contract/Errors.ts"
import type { OffsetRequest, WalletRequest } from "./Operations.ts"
import type { SyncedWallets } from "./SyncedWallets.ts"
import * as Wallet from "./Wallet.ts"

export const notSynced = new XpubNotSynced({
  message: "The account has not synced this extended public key: derive and sync its addresses first"
})

export const make = Effect.fnUntraced(function* ({ chain }: ChainReader, { keyFor }: Pick<SyncedWallets, "keyFor">) {
  const database = yield* Database

  /** `change`: of which branch. */
  const addresses = Effect.fnUntraced(function* (request: WalletRequest & OffsetRequest, change: boolean) {
    const key = yield* keyFor(request)
    if (change && key.derivation === "bip32") return yield* Wallet.noChange
    const found = yield* StoredLists.addresses(key, change ? 1 : 0, request).pipe(
      Effect.orDie,
      Effect.provideService(Database, database)
    )
    const { items, total } = found ?? (yield* notSynced)
    return { total, items: items.map(({ address, index }) => ({ address: Address.encode(chain, address)!, index })) }
  })

  return { addresses }
})
