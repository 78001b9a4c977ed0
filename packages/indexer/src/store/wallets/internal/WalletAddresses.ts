/** The addresses of wallets that are watched, by branch and index. */
import type { DerivedAddress } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"

/** One branch of a wallet, on the chain that has this number in the store. */
export interface WalletBranch {
  readonly chain: number
  readonly wallet: number
  readonly branch: number
}

/**
 * Watches addresses from `revision` of the chain on, for blocks above `since`; null where no block was ever committed.
 */
export const watch = Effect.fnUntraced(function* (
  { branch, chain, wallet }: WalletBranch,
  addresses: ReadonlyArray<Pick<DerivedAddress, "bytes" | "index">>,
  from: { readonly revision: number; readonly since: number | null }
) {
  const { insertMany } = yield* Database
  yield* insertMany(
    "wallet_address",
    addresses.map(({ bytes, index }) => ({
      ...{ wallet, chain, branch, address_index: index, address: bytes, ...from },
      ...{ scanned: 0, used_height: null, requested: null }
    }))
  )
})

/** The index after the last address of a branch that is watched, or that has been used. */
export const endOf = Effect.fnUntraced(function* (
  { branch, wallet }: Omit<WalletBranch, "chain">,
  which: "watched" | "used"
) {
  const { query } = yield* Database
  const [last] = yield* query((db) =>
    db
      .selectFrom("wallet_address")
      .select("address_index")
      .where("wallet", "=", wallet)
      .where("branch", "=", branch)
      .$if(which === "used", (select) => select.where("used_height", "is not", null))
      .orderBy("address_index", "desc")
      .limit(1)
  )
  return last === undefined ? 0 : last.address_index + 1
})

/** For each branch of a wallet, the first index that is not watched. */
export const unwatchedOf = (wallet: number, branches: number) =>
  Effect.forEach(Array.from({ length: branches }).keys(), (branch) => endOf({ wallet, branch }, "watched"))
