/**
 * Which addresses of a wallet have accounts already, on a ledger whose servers know that of any address: entered beside
 * the addresses that blocks have used since, so that the next ones that are derived come after both.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as ScanningWallets from "./ScanningWallets.ts"
import * as WalletBranches from "./WalletBranches.ts"

/** For each branch of a wallet, the indices of its addresses that have an account. */
export type Accounts = ReadonlyArray<ReadonlyArray<number>>

/** Notes from which block on addresses are known to be used. */
const markUsed = Effect.fnUntraced(function* (
  { branch, wallet }: Pick<WalletAddresses.WalletBranch, "branch" | "wallet">,
  used: ReadonlyArray<number>,
  height: number
) {
  const { query } = yield* Database
  yield* inChunks(used, (some) =>
    query((db) =>
      db
        .updateTable("wallet_address")
        .set({ used_height: height })
        .where("wallet", "=", wallet)
        .where("branch", "=", branch)
        .where("address_index", "in", some)
        .where("used_height", "is", null)
    )
  )
})

export const make = Effect.fn("WalletAccounts.make")(function* (chain: Chain) {
  const { query, transaction } = yield* Database

  /** Enters accounts, watches `gapLimit` addresses behind the last one of each branch, and ends the wallet's search. */
  const enter = Effect.fn("WalletAccounts.enter")(
    (
      wallet: ScanningWallets.ScanningWallet,
      accounts: Accounts,
      gapLimit: number
    ): Effect.Effect<void, DatabaseError> =>
      transaction(
        Effect.gen(function* () {
          const row = yield* ChainRow.lockAndBumpRevisionOf(chain)
          if (!(yield* ScanningWallets.stillThere([wallet])).has(wallet.id)) return
          for (const [number, used] of accounts.entries()) {
            const branch = { wallet: wallet.id, branch: number }
            const first = yield* WalletAddresses.endOf(branch, "watched")
            const end = (used.at(-1) ?? -1) + gapLimit
            const derived = WalletBranches.derive(wallet.branches[number]!, first, end)
            yield* WalletAddresses.watch(row, branch, derived, row.height)
            yield* markUsed(branch, used, row.height ?? 0)
          }
          yield* query((db) => db.updateTable("wallet").set({ state: "synced" }).where("id", "=", wallet.id))
        })
      )
  )

  return { enter }
})
