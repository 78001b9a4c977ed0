/** Enters the coins that a search found into HD wallets: how far they are used, and that their balance is complete. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as FoundCoins from "../chain/FoundCoins.ts"
import type { Undone } from "../chain/Projection.ts"
import type { ChainRow } from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as AddressOwners from "./internal/AddressOwners.ts"
import * as Balances from "./internal/Balances.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletReach from "./internal/WalletReach.ts"
import type { ScanningWallet, Targets } from "./ScanningWallets.ts"

/** A wallet with the addresses at which its coins were looked for. */
export interface SoughtWallet {
  readonly wallet: ScanningWallet
  readonly targets: Targets
}

/**
 * Watches a wallet as far as its coins reach, and further, in the transaction that enters them, before they are in the
 * UTXO set. Answers those of the targets that are watched: all their coins are known.
 */
export const enter = Effect.fnUntraced(function* (
  chain: ChainRow,
  { targets, wallet: { id: wallet } }: SoughtWallet,
  found: FoundCoins.FoundCoins,
  gapLimit: number
) {
  const { most } = WalletReach.aheadOf({ ledger: "outputs" }, gapLimit)
  const first = FoundCoins.firstUses(found)
  const watched = yield* Effect.forEach(
    targets,
    Effect.fnUntraced(function* (addresses, branch) {
      const end = yield* WalletAddresses.endOf({ wallet, branch }, "watched")
      const last = addresses.findLast(({ bytes }) => first.has(Bytes.key(bytes)))?.index ?? -1
      const used = Math.max(last + 1, yield* WalletAddresses.endOf({ wallet, branch }, "used"))
      const further = addresses.filter(({ index }) => index >= end && index < used + most)
      yield* WalletAddresses.watch(chain, { wallet, branch }, further, found.height)
      return addresses.filter(({ index }) => index < end || index < used + most).map(({ bytes }) => bytes)
    })
  )
  return watched.flat()
})

/** Notes that the addresses of coins are used, in all wallets of the chain that have them. */
export const markUsed = Effect.fnUntraced(function* (chain: number, found: FoundCoins.FoundCoins, gapLimit: number) {
  const { defer } = yield* Database
  const first = FoundCoins.firstUses(found)
  const owners = yield* AddressOwners.find(chain, FoundCoins.scriptsOf(found))
  const growth = WalletReach.growth(gapLimit)
  for (const { address, branch, id, used_height, wallet } of [...owners.values()].flat()) {
    const height = first.get(Bytes.key(address))!
    if (used_height !== null && used_height <= height) continue
    yield* growth.note({ wallet, branch })
    yield* defer((db) => db.updateTable("wallet_address").set({ used_height: height }).where("id", "=", id))
  }
  yield* growth.grow
})

/** Records from which block on a wallet is known, once its coins and those of its proved addresses have been entered. */
export const settle = ({ wallet }: SoughtWallet, gapLimit: number) =>
  WalletReach.settle(wallet.id, wallet.branches.length, gapLimit)

/** Counts balances anew after found coins have come into the UTXO set. */
export const recount = (chain: number, found: FoundCoins.FoundCoins) =>
  Balances.recount(chain, FoundCoins.scriptsOf(found))

/** Counts the balances anew of wallets that have any of these addresses. */
export const recountOf = Balances.recount

/** Block 0 has been committed: nobody had coins before it, and what comes is recorded. */
export const noneBefore = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("wallet").set({ state: "synced", scan_height: 0 }).where("chain", "=", chain))
})

/** The coins of all wallets are to be looked for again; none has a balance until then. */
export const doubt = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db.updateTable("wallet").set({ state: "scanning", scan_height: null }).where("chain", "=", chain)
  )
})

/** As {@link doubt}, where the UTXO set is emptied. */
export const forget = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* doubt(chain)
  yield* defer((db) => db.updateTable("wallet").set({ balance: "0" }).where("chain", "=", chain))
})

/**
 * Wallets whose coins were looked for in a block that is undone are to be looked for again: coins that were spent before
 * that block were never seen. Those to which such an address belongs have no balance until then. So it is with all
 * wallets where spent coins are forgotten. Before the proofs of the undone blocks are taken back.
 */
export const undo = Effect.fnUntraced(function* (
  chain: number,
  { fork, losesCoins }: Pick<Undone, "fork" | "losesCoins">
) {
  const { defer } = yield* Database
  const proved = losesCoins ? -1 : fork + 1
  yield* defer((db) =>
    db
      .updateTable("wallet")
      .set({ state: "scanning" })
      .where("chain", "=", chain)
      .where("id", "in", (of) =>
        of
          .selectFrom("completeness as c")
          .innerJoin("wallet_address as a", (on) =>
            on.onRef("a.chain", "=", "c.chain").onRef("a.address", "=", "c.address")
          )
          .select("a.wallet")
          .where("c.chain", "=", chain)
          .where("c.coins", ">", proved)
      )
  )
  yield* defer((db) =>
    db
      .updateTable("wallet")
      .set({ state: "scanning", scan_height: null })
      .where("chain", "=", chain)
      .where("scan_height", ">", losesCoins ? -1 : fork)
  )
})
