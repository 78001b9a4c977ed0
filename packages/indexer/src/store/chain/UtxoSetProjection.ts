/** What blocks change in the UTXO set, and what blocks learn from it: whose coins their inputs take. */
import * as Effect from "effect/Effect"
import * as KnownCoins from "./KnownCoins.ts"
import * as LostCoins from "./LostCoins.ts"
import type { Make } from "./Projection.ts"
import * as UtxoSet from "./UtxoSet.ts"

export const make: Make = ({ id, record, watched }) =>
  Effect.succeed({
    apply: {
      resolve: (block) => UtxoSet.apply(id, block, (script) => record === "all" || watched.set.has(script)),
      // Whoever was watched by then has every coin of theirs in the set for good.
      record: (block) => (block.height === 0 && !LostCoins.areIn(block) ? KnownCoins.proveAll(id) : Effect.void)
    },
    undo: ({ fork }) => UtxoSet.undo(id, fork),
    skip: ({ to }) => UtxoSet.skip(id, to),
    reprocess: { resolve: (block) => UtxoSet.recall(id, block) },
    prune: (below) => UtxoSet.prune(id, below)
  })
