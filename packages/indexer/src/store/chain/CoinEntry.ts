/** The transaction that enters the coins which addresses and wallets had before they were watched. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as PastPayments from "../subscriptions/PastPayments.ts"
import * as ScanningWallets from "../wallets/ScanningWallets.ts"
import * as WalletCoins from "../wallets/WalletCoins.ts"
import * as Completeness from "./Completeness.ts"
import type { FoundCoins } from "./FoundCoins.ts"
import * as LostCoins from "./LostCoins.ts"
import * as UtxoSet from "./UtxoSet.ts"

/** Whose coins were looked for. */
export interface Sought {
  readonly addresses: ReadonlyArray<AddressBytes>
  readonly wallets: ReadonlyArray<WalletCoins.SoughtWallet>
}

/**
 * Enters coins where the chain stands; false where that is not the block to which they were brought up. From the block
 * after the search on every output of these addresses is known, whatever of them has been spent since.
 */
export const enter = Effect.fn("CoinEntry.enter")(function* (
  chain: Chain,
  sought: Sought,
  found: FoundCoins,
  gapLimit: number
) {
  const { transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const row = yield* ChainRow.lockAndBumpRevisionOf(chain)
      if (row.hash === null || !Bytes.equal(row.hash, found.hash)) return false
      const there = yield* ScanningWallets.stillThere(sought.wallets.map(({ wallet }) => wallet))
      const wallets = sought.wallets.filter(({ wallet }) => there.has(wallet.id))
      const watched = yield* Effect.forEach(wallets, (wallet) => WalletCoins.enter(row, wallet, found, gapLimit))
      const proved = [...sought.addresses, ...watched.flat()]
      yield* LostCoins.settle(row, proved, found.coins)
      yield* UtxoSet.add(row.id, found.coins, found.spent)
      yield* WalletCoins.recount(row.id, found)
      yield* Completeness.knowsInputsFrom(row.id, proved, found.height + 1)
      yield* Completeness.prove(row.id, "coins", proved, found.searched + 1)
      yield* WalletCoins.markUsed(row.id, found, gapLimit)
      yield* PastPayments.found(chain, row, found)
      for (const wallet of wallets) yield* WalletCoins.settle(wallet, gapLimit)
      return true
    })
  )
})
