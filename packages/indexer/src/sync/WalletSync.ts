/**
 * Finds the coins that newly synced wallets had before, beside the commits of blocks and holding up none.
 *
 * A node shows its coins at one block. They are brought up to the last committed block, by the blocks in between, and
 * entered there; if the chain has moved on meanwhile they are brought up a little further, and if the node's block is not
 * on our chain any more they are searched again.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { CoinSearch } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import type { DatabaseError } from "../store/database/Database.ts"
import * as WalletBranches from "../store/wallets/WalletBranches.ts"
import * as WalletCoins from "../store/wallets/WalletCoins.ts"
import { retryForever } from "./RetryForever.ts"

export interface Options {
  readonly pollInterval: Duration.Duration
  readonly gapLimit: number
  /**
   * Addresses of each branch that are searched beyond the watched ones; 1,000 by default. Searching many costs a node
   * no more than few, and of used addresses only those show that still have coins: the gap between two may be wide.
   */
  readonly lookAhead?: number
}

export interface WalletSync {
  /** Finds the coins of every scanning wallet, once the chain has come near enough to the node's head. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Addresses derived at a time, since deriving blocks. */
const deriveSize = 100
/** Blocks that the chain may be behind its node when coins are searched. */
const near = 2

export const make = Effect.fn("WalletSync.make")(function* (
  source: Source,
  search: CoinSearch,
  store: ChainStore,
  options: Options
) {
  const wallets = yield* WalletCoins.make(source.chain)

  const targetsOf = Effect.fnUntraced(function* (wallet: WalletCoins.ScanningWallet, beyond: number) {
    const targets: Array<Array<{ readonly index: number; readonly bytes: AddressBytes }>> = []
    for (const [number, branch] of wallet.branches.entries()) {
      const end = wallet.unwatched[number]! + beyond
      const addresses: Array<{ readonly index: number; readonly bytes: AddressBytes }> = []
      for (let from = 0; from < end; from += deriveSize) {
        addresses.push(...WalletBranches.derive(branch, from, Math.min(end, from + deriveSize) - 1))
        yield* Effect.yieldNow
      }
      targets.push(addresses)
    }
    return targets satisfies WalletCoins.Targets
  })

  /** Coins of a wallet at the node's newest block, looked for so far that a gap without any is behind the last. */
  const find = Effect.fnUntraced(function* (wallet: WalletCoins.ScanningWallet) {
    for (let beyond = Math.max(options.lookAhead ?? 1_000, options.gapLimit); ; beyond *= 2) {
      const targets = yield* targetsOf(wallet, beyond)
      const ranges = wallet.branches.map((branch, i) => ({ branch, count: wallet.unwatched[i]! + beyond }))
      const found = yield* search(
        targets.flat().map(({ bytes }) => bytes),
        ranges
      )
      if (found === undefined) return undefined
      const paid = new Set(found.coins.map(({ script }) => Bytes.key(script)))
      const far = targets.some((branch) =>
        branch.slice(-options.gapLimit).some(({ bytes }) => paid.has(Bytes.key(bytes)))
      )
      if (!far) return { targets, found }
    }
  })

  /** Enters found coins where the chain stands; false where they have to be searched again. */
  const enter = Effect.fnUntraced(function* (
    wallet: WalletCoins.ScanningWallet,
    targets: WalletCoins.Targets,
    found: CoinsAt
  ) {
    const wanted = new Set(targets.flat().map(({ bytes }) => Bytes.key(bytes)))
    let at: WalletCoins.FoundCoins = { ...found, scanned: found.height, spent: [] }
    while (true) {
      const cursor = yield* store.cursor
      if (cursor === undefined) return false
      if (cursor.height < at.height) {
        yield* Effect.sleep("100 millis")
        if ((yield* source.head).height < at.height) return false
        continue
      }
      while (at.height < cursor.height) {
        const block = yield* source.blockAt(at.height + 1)
        if (!Bytes.equal(block.parent, at.hash)) return false
        at = WalletCoins.advance(at, block, wanted)
      }
      if (yield* wallets.enter(wallet, targets, at, options.gapLimit)) return true
      const ours = yield* store.hashAt(at.height)
      if (ours === undefined || !Bytes.equal(ours, at.hash)) return false
      const [present] = (yield* wallets.scanning).filter(({ id }) => id === wallet.id)
      if (present?.unwatched.some((end, branch) => end > targets[branch]!.length)) return false
    }
  })

  const step = Effect.gen(function* () {
    const scanning = yield* wallets.scanning
    if (scanning.length === 0) return
    const cursor = yield* store.cursor
    if (cursor === undefined || (yield* source.head).height > cursor.height + near) return
    for (const wallet of scanning) {
      const result = yield* find(wallet)
      if (result === undefined) {
        yield* wallets.finishWithoutCoins(wallet)
        yield* Effect.logWarning(
          "The node cannot find the coins that a wallet has already: its record begins with the next block"
        )
      } else {
        yield* enter(wallet, result.targets, result.found)
      }
    }
  }).pipe(Effect.withSpan("WalletSync.step"))

  const run: WalletSync["run"] = retryForever(source.chain, "Finding the coins of a wallet", options.pollInterval, step)

  return { step, run } satisfies WalletSync
})
