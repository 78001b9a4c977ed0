/** Finds the accounts that newly synced wallets had before, beside the commits of blocks and holding up none. */
import type { AddressBytes } from "@headwater/core/Address"
import { nameOf } from "@headwater/core/Chain"
import type { Branch } from "@headwater/core/Derivation"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { NodeError } from "../sources/NodeError.ts"
import type { Source } from "../sources/Source.ts"
import type { DatabaseError } from "../store/Database.ts"
import * as WalletBranches from "../store/internal/WalletBranches.ts"
import * as WalletAccounts from "../store/WalletAccounts.ts"
import * as WalletCoins from "../store/WalletCoins.ts"
import { batchSize } from "../store/Wallets.ts"

/** A source that knows what any address holds; undefined where there is no account. */
export interface AccountSource extends Source {
  readonly balances: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
}

export interface Options {
  readonly pollInterval: Duration.Duration
  readonly gapLimit: number
}

export interface AccountSync {
  /** Finds the accounts of every wallet that waits for it. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; what goes wrong is logged and tried again. */
  readonly run: Effect.Effect<never>
}

const backoff = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

export const make = Effect.fn("AccountSync.make")(function* (source: AccountSource, options: Options) {
  const { scanning } = yield* WalletCoins.make(source.chain)
  const accounts = yield* WalletAccounts.make(source.chain)
  // Any of the addresses that were answered together may have been given out first.
  const gap = Math.max(options.gapLimit, batchSize)

  /** Indices with an account, among the watched addresses and up to a gap behind the last one. */
  const find = Effect.fnUntraced(function* (branch: Branch, watched: number) {
    const used: Array<number> = []
    for (let from = 0; from < Math.max(watched, (used.at(-1) ?? -1) + 1 + gap); from += batchSize) {
      const addresses = WalletBranches.derive(branch, from, from + batchSize - 1)
      const balances = yield* source.balances(addresses.map(({ bytes }) => bytes))
      addresses.forEach(({ index }, i) => {
        if (balances[i] !== undefined) used.push(index)
      })
    }
    return used
  })

  const step: AccountSync["step"] = Effect.gen(function* () {
    for (const wallet of yield* scanning) {
      const found = yield* Effect.forEach(wallet.branches, (branch, i) => find(branch, wallet.unwatched[i]!))
      yield* accounts.enter(wallet, found, options.gapLimit)
    }
  }).pipe(Effect.withSpan("AccountSync.step"))

  const run: AccountSync["run"] = step.pipe(
    Effect.tapError((error) => Effect.logWarning(`Finding the accounts of a wallet failed: ${error.message}`)),
    Effect.tapDefect((defect) => Effect.logError("Finding the accounts of a wallet failed", Cause.die(defect))),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry(backoff),
    Effect.orDie,
    Effect.andThen(Effect.sleep(options.pollInterval)),
    Effect.forever,
    Effect.annotateLogs({ chain: nameOf(source.chain) })
  )

  return { step, run } satisfies AccountSync
})
