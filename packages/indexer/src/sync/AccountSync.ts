/** Finds the accounts that newly synced wallets had before, beside the commits of blocks and holding up none. */
import type { Branch } from "@headwater/core/keys/Derivation"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { AccountSource } from "../families/SideSources.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as ScanningWallets from "../store/wallets/ScanningWallets.ts"
import * as WalletAccounts from "../store/wallets/WalletAccounts.ts"
import * as WalletBranches from "../store/wallets/WalletBranches.ts"
import { batchSize } from "../store/wallets/Wallets.ts"
import { retryForever } from "./RetryForever.ts"

export interface Options {
  readonly pollInterval: Duration.Duration
  readonly gapLimit: number
}

export interface AccountSync {
  /** Finds the accounts of every scanning wallet. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Wallets read at a time. */
const walletsAtATime = 100

export const make = Effect.fn("AccountSync.make")(function* (source: AccountSource, options: Options) {
  const database = yield* Database
  const accounts = yield* WalletAccounts.make(source.chain)
  // Any of the addresses that were answered together may have been given out first.
  const gap = Math.max(options.gapLimit, batchSize)

  /** Indices that have an account or had one, among the watched addresses and up to a gap behind the last one. */
  const find = Effect.fnUntraced(function* (branch: Branch, watched: number) {
    const used: Array<number> = []
    for (let from = 0; from < Math.max(watched, (used.at(-1) ?? -1) + 1 + gap); from += batchSize) {
      const addresses = WalletBranches.derive(branch, from, from + batchSize - 1)
      const wereUsed = yield* source.wereUsed(addresses.map(({ bytes }) => bytes))
      used.push(...addresses.filter((_, i) => wereUsed[i] === true).map(({ index }) => index))
    }
    return used
  })

  const step: AccountSync["step"] = Effect.gen(function* () {
    for (const wallet of yield* Effect.provideService(
      ScanningWallets.list(source.chain, walletsAtATime),
      Database,
      database
    )) {
      const found = yield* Effect.forEach(wallet.branches, (branch, i) => find(branch, wallet.unwatched[i]!))
      yield* accounts.enter(wallet, found, options.gapLimit)
    }
  }).pipe(Effect.withSpan("AccountSync.step"))

  const run: AccountSync["run"] = retryForever(source.chain, "Finding the accounts of a wallet", options, step)

  return { step, run } satisfies AccountSync
})
