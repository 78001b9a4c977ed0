/** What blocks change in the transactions that were not understood. */
import * as Effect from "effect/Effect"
import * as NotUnderstood from "./NotUnderstood.ts"
import type { Make } from "./Projection.ts"

export const make: Make = ({ id }) =>
  Effect.succeed({
    apply: {
      record: (block, { insert }) => Effect.sync(() => insert("not_understood", NotUnderstood.rowsOf(id, block)))
    },
    undo: ({ fork }) => NotUnderstood.undo(id, fork),
    reprocess: { record: (block) => NotUnderstood.rewrite(id, block) }
  })
