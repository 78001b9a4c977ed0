/** Wallets for which a sync looks beside the commits of blocks: for what their addresses had before they were watched. */
import type { AddressBytes } from "@headwater/core/address/Address"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import type { Branch } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletBranches from "./WalletBranches.ts"

export interface ScanningWallet {
  readonly id: number
  readonly branches: ReadonlyArray<Branch>
  /** For each branch the first index that is not watched. */
  readonly unwatched: ReadonlyArray<number>
}

/** Addresses that are looked for, by branch, index 0 first. */
export type Targets = ReadonlyArray<ReadonlyArray<{ readonly index: number; readonly bytes: AddressBytes }>>

/** The first `limit` of a chain's wallets that are to be looked for. */
export const list = Effect.fn("ScanningWallets.list")(function* (chain: Chain, limit: number) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(["wallet.id", "wallet.public_key", "wallet.derivation", "wallet.format"])
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.state", "=", "scanning")
      .orderBy("wallet.id")
      .limit(limit)
  )
  return yield* Effect.forEach(
    rows,
    Effect.fnUntraced(function* (row) {
      const branches = WalletBranches.of(chain, row)
      const unwatched = yield* WalletAddresses.unwatchedOf(row.id, branches.length)
      return { id: row.id, branches, unwatched } satisfies ScanningWallet
    })
  )
})
