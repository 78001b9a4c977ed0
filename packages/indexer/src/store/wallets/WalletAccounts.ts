/**
 * Which addresses of a wallet have accounts already, on a ledger whose servers tell that of any address: entered beside
 * what blocks have shown since, so that the next addresses that are derived come after them.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as WalletBranches from "./WalletBranches.ts"
import type { ScanningWallet } from "./WalletCoins.ts"

/** For each branch of a wallet, the indices of its addresses that have an account. */
export type Accounts = ReadonlyArray<ReadonlyArray<number>>

/** Rows named in one statement. */
const step = 500

export const make = Effect.fn("WalletAccounts.make")(function* (chain: Chain) {
  const database = yield* Database
  const { insertMany, query, transaction } = database

  const lastWatched = (wallet: number, branch: number) =>
    Effect.map(
      query((db) =>
        db
          .selectFrom("wallet_address")
          .select(({ fn }) => fn.max("address_index").as("last"))
          .where("wallet", "=", wallet)
          .where("branch", "=", branch)
      ),
      ([row]) => row?.last ?? -1
    )

  /** Enters accounts, watches `gapLimit` addresses behind the last one of each branch, and ends the wallet's search. */
  const enter = Effect.fn("WalletAccounts.enter")(function* (
    wallet: ScanningWallet,
    accounts: Accounts,
    gapLimit: number
  ): Effect.fn.Return<void, DatabaseError> {
    yield* transaction(
      Effect.gen(function* () {
        const { height, id, revision } = yield* ChainRow.lockAndBumpRevisionOf(chain)
        for (const [branch, used] of accounts.entries()) {
          const end = (used.at(-1) ?? -1) + gapLimit
          const first = (yield* lastWatched(wallet.id, branch)) + 1
          yield* insertMany(
            "wallet_address",
            WalletBranches.derive(wallet.branches[branch]!, first, end).map(({ bytes, index }) => ({
              ...{ wallet: wallet.id, chain: id, branch, address_index: index, address: bytes, revision },
              ...{ since: height, scanned: 0, used_height: null, requested: null }
            }))
          )
          for (let from = 0; from < used.length; from += step) {
            yield* query((db) =>
              db
                .updateTable("wallet_address")
                .set({ used_height: height ?? 0 })
                .where("wallet", "=", wallet.id)
                .where("branch", "=", branch)
                .where("address_index", "in", used.slice(from, from + step))
                .where("used_height", "is", null)
            )
          }
        }
        yield* query((db) => db.updateTable("wallet").set({ state: "synced" }).where("id", "=", wallet.id))
      })
    )
  })

  return { enter }
})
