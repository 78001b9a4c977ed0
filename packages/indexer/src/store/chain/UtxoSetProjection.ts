/**
 * What blocks change in the UTXO set, and what blocks learn from it: whose coins their inputs take. Where
 * watched addresses alone are recorded, what touches none of them is left out of the block from there on.
 */
import type { Spend } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as KeptCoins from "./internal/KeptCoins.ts"
import * as SpentCoins from "./internal/SpentCoins.ts"
import * as KnownCoins from "./KnownCoins.ts"
import * as LostCoins from "./LostCoins.ts"
import type { Make } from "./Projection.ts"
import * as UtxoSet from "./UtxoSet.ts"

export const make: Make = ({ id, record, watched: { set } }) => {
  const keepsAll = record === "all"
  const spent = SpentCoins.make(id, keepsAll ? undefined : KeptCoins.make(id))
  const keeping = { isWatched: set.has, isWatchedAt: set.hasAt, keepsAll }
  return Effect.succeed({
    apply: {
      resolve: Effect.fnUntraced(function* (block, commit) {
        yield* spent.begin(commit)
        const take = (spends: ReadonlyArray<Spend>) => spent.take(spends, commit)
        const applied = yield* UtxoSet.apply(id, block, { ...keeping, take })
        spent.add(applied.created, commit)
        return applied
      }),
      // Whoever was watched by then has every coin of theirs in the set for good.
      record: (block) => (block.height === 0 && !LostCoins.areIn(block) ? KnownCoins.proveAll(id) : Effect.void)
    },
    undo: ({ fork }) => UtxoSet.undo(id, fork),
    skip: ({ to }) => UtxoSet.skip(id, to),
    reprocess: { resolve: (block) => UtxoSet.recall(id, block) },
    prune: (below) => UtxoSet.prune(id, below)
  })
}
