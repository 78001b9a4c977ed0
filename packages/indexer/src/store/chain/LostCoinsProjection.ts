/** What blocks change in what is known of coins, where a transaction is not understood. */
import * as Effect from "effect/Effect"
import * as LostCoins from "./LostCoins.ts"
import type { Make } from "./Projection.ts"

export const make: Make = ({ id }) =>
  Effect.succeed({
    apply: {
      // Before the match: the block's own transactions may spend what was paid unseen.
      resolve: (block) => (LostCoins.areIn(block) ? Effect.as(LostCoins.lose(id, block), block) : Effect.succeed(block))
    },
    undo: ({ fork }) => LostCoins.undo(id, fork),
    reprocess: {}
  })
