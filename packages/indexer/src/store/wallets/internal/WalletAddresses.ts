/** The addresses of wallets that are watched, by branch and index. */
import * as Bytes from "@headwater/core/Bytes"
import type { DerivedAddress } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import * as Completeness from "../../chain/Completeness.ts"
import * as UtxoSet from "../../chain/UtxoSet.ts"
import type { ChainRow } from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as Balances from "./Balances.ts"
import * as KnownUse from "./KnownUse.ts"

/** One branch of a wallet. */
export interface WalletBranch {
  readonly wallet: number
  readonly branch: number
}

/**
 * Watches addresses from the present revision of the chain on, whose row is locked, for blocks above `since`; null where
 * no block was ever committed. Coins of theirs that the UTXO set has already count from now on. Those of the addresses that
 * are known to be used, with the first block that did so, by their key.
 */
export const watch = Effect.fnUntraced(function* (
  chain: Pick<ChainRow, "id" | "all_from" | "coins_lost_from" | "revision">,
  { branch, wallet }: WalletBranch,
  addresses: ReadonlyArray<Pick<DerivedAddress, "bytes" | "index">>,
  since: number | null
) {
  const { insertMany } = yield* Database
  const scripts = addresses.map(({ bytes }) => bytes)
  const watched = yield* Completeness.begin(chain, scripts, since)
  const holdings = yield* UtxoSet.holdings(chain.id, scripts)
  const used = yield* KnownUse.of(chain.id, scripts, { holdings, watched })
  yield* insertMany(
    "wallet_address",
    addresses.map(({ bytes, index }) => ({
      ...{ wallet, chain: chain.id, branch, address_index: index, address: bytes, revision: chain.revision },
      ...{ used_height: used.get(Bytes.key(bytes)) ?? null, requested: null }
    }))
  )
  const amount = [...holdings.values()].reduce((sum, { amount }) => sum + amount, 0n)
  yield* Balances.add(new Map([[wallet, amount]]))
  return used
})

/** The index after the last address of a branch that is watched, or that has been used. */
export const endOf = Effect.fnUntraced(function* ({ branch, wallet }: WalletBranch, which: "watched" | "used") {
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
