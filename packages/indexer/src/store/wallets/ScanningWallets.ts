/** Wallets for which a sync looks beside the commits of blocks: for what their addresses had before they were watched. */
import type { AddressBytes } from "@headwater/core/address/Address"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import type { Branch } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletBranches from "./WalletBranches.ts"

export interface ScanningWallet {
  readonly id: number
  readonly branches: ReadonlyArray<Branch>
  /** Whether the balance is known: only addresses beyond those that belong to the wallet by now are looked for. */
  readonly isKnown: boolean
  /** For each branch the first index that is not watched. */
  readonly unwatched: ReadonlyArray<number>
}

/** Addresses that are looked for, by branch, index 0 first. */
export type Targets = ReadonlyArray<ReadonlyArray<{ readonly index: number; readonly bytes: AddressBytes }>>

/** How many of a chain's wallets are to be looked for, and how many of those have no balance until then. */
export const progress = Effect.fn("ScanningWallets.progress")(function* (chain: Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(({ fn }) => [fn.countAll<number>().as("wallets"), fn.count<number>("wallet.scan_height").as("known")])
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.state", "=", "scanning")
  )
  return row === undefined || row.wallets === 0
    ? undefined
    : { wallets: row.wallets, withoutBalance: row.wallets - row.known }
})

/** The same for people. */
export const describe = ({ wallets, withoutBalance }: { readonly wallets: number; readonly withoutBalance: number }) =>
  `${wallets === 1 ? "1 wallet waits" : `${wallets} wallets wait`} for a search of what addresses had before they were ` +
  `watched, ${withoutBalance} without a balance until then`

/** The watched addresses of a wallet. */
export const watched = Effect.fn("ScanningWallets.watched")(function* ({ branches, id }: ScanningWallet) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet_address")
      .select(["branch", "address_index", "address"])
      .where("wallet", "=", id)
      .orderBy("address_index")
  )
  const byBranch = Map.groupBy(rows, ({ branch }) => branch)
  return branches.map((_, branch) =>
    (byBranch.get(branch) ?? []).map(({ address, address_index }) => ({
      index: address_index,
      bytes: address as AddressBytes
    }))
  ) satisfies Targets
})

/** The ids of the wallets that are still there, in a transaction that has the chain's lock: others have gone with their accounts. */
export const stillThere = Effect.fnUntraced(function* (wallets: ReadonlyArray<ScanningWallet>) {
  const { query } = yield* Database
  const ids = wallets.map(({ id }) => id)
  const found = yield* inChunks(ids, (some) =>
    query((db) => db.selectFrom("wallet").select("id").where("id", "in", some))
  )
  return new Set(found.map(({ id }) => id))
})

/** The first `limit` of a chain's wallets that are to be looked for, those without a balance first. */
export const list = Effect.fn("ScanningWallets.list")(function* (chain: Chain, limit: number) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(["wallet.id", "wallet.public_key", "wallet.derivation", "wallet.format", "wallet.scan_height"])
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.state", "=", "scanning")
      .orderBy((of) => of.case().when("wallet.scan_height", "is", null).then(0).else(1).end())
      .orderBy("wallet.id")
      .limit(limit)
  )
  return yield* Effect.forEach(
    rows,
    Effect.fnUntraced(function* (row) {
      const branches = WalletBranches.of(chain, row)
      const unwatched = yield* WalletAddresses.unwatchedOf(row.id, branches.length)
      return { id: row.id, isKnown: row.scan_height !== null, branches, unwatched } satisfies ScanningWallet
    })
  )
})
