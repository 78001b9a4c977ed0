/**
 * The coins that the blocks of a commit take out of the UTXO set. Several blocks have the set asked together: each by itself
 * would wait for an answer of the store.
 */
import type { Spend } from "@headwater/core/Block"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import type { Commit } from "../Projection.ts"
import * as UtxoSet from "../UtxoSet.ts"
import type { KeptCoins } from "./KeptCoins.ts"

/** Those of the chain that has this number in the store; `kept` is what is remembered of the set, if anything is. */
export const make = (chain: number, kept?: KeptCoins) => {
  let of: Commit | undefined
  /** What the set has of the outputs that blocks of the commit spend, and what those have added; until one takes it. */
  const coins = new Map<string, Coin>()
  /** Those of them that blocks have added since an input was last looked for: most commits look for none of theirs. */
  let added: Array<Coin> = []

  const among = (spends: ReadonlyArray<Spend>) => kept?.among(spends) ?? Effect.succeed(spends)

  return {
    /** Comes before the block is entered. */
    begin: Effect.fnUntraced(function* (commit: Commit) {
      if (of === commit) return
      of = undefined
      if (!commit.continues) kept?.forget()
      coins.clear()
      added = []
      if (commit.blocks.length > 1) {
        const sought = yield* among(commit.blocks.flatMap(({ spends }) => spends))
        const outpoints = sought.map(({ outpoint }) => outpoint)
        for (const coin of yield* UtxoSet.find(chain, outpoints)) coins.set(keyOf(coin.outpoint), coin)
      }
      of = commit
    }),
    /** As `UtxoSet.take`, for a block of the commit. */
    take: Effect.fnUntraced(function* (spends: ReadonlyArray<Spend>, { blocks }: Commit) {
      if (blocks.length === 1) return yield* UtxoSet.take(chain, yield* among(spends))
      const sought = kept?.known(spends) ?? spends
      if (sought.length === 0) return []
      for (const coin of added) {
        const key = keyOf(coin.outpoint)
        if (!coins.has(key)) coins.set(key, coin)
      }
      added = []
      const inputs = yield* TimeSlice.runInTransaction(() => UtxoSet.takenFrom(coins, sought))
      yield* UtxoSet.remove(
        chain,
        inputs.map(({ coin }) => coin)
      )
      return inputs
    }),
    /** Takes note of what a block of the commit has added to the set, which keeps an output that it has already. */
    add: (created: ReadonlyArray<Coin>, { blocks }: Commit): void => {
      kept?.add(created)
      if (blocks.length > 1) added = added.concat(created)
    }
  }
}
