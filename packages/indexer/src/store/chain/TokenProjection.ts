/** What blocks change in the names of token contracts: a name that was asked for because of a block goes with the block. */
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import type { Entering, Make, Stages } from "./Projection.ts"
import * as Tokens from "./Tokens.ts"

export const make: Make = ({ id, tokens }) => {
  const keepLearned: Stages<Entering> = {
    record: ({ height }, { afterwards, learned }) => {
      const ofBlock = [...(learned?.values() ?? [])].filter((token) => token.height === height)
      if (ofBlock.length === 0) return Effect.void
      afterwards(tokens.remember(ofBlock))
      return Tokens.keep(id, ofBlock)
    }
  }
  return Effect.succeed({
    apply: keepLearned,
    undo: Effect.fnUntraced(function* ({ fork }) {
      const { defer } = yield* Database
      yield* defer((db) => db.deleteFrom("token").where("chain", "=", id).where("height", ">", fork))
      tokens.forget(fork)
    }),
    reprocess: keepLearned
  })
}
