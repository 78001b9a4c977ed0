/** What blocks change in the transactions that were not understood. Stands before the missing parts, which are asked for. */
import * as Effect from "effect/Effect"
import * as EnteredKinds from "./EnteredKinds.ts"
import * as NotUnderstood from "./NotUnderstood.ts"
import type { Make } from "./Projection.ts"

export const make: Make = ({ chain, id }) =>
  Effect.succeed({
    apply: {
      record: (block, { insert }) => Effect.sync(() => insert("not_understood", NotUnderstood.rowsOf(id, block)))
    },
    undo: ({ fork }) => NotUnderstood.undo(id, fork),
    reprocess: {
      record: Effect.fnUntraced(function* (block, again) {
        const entered = yield* EnteredKinds.of(chain, block, again)
        const hasInternal = EnteredKinds.hasInternal(again.row, block)
        yield* NotUnderstood.rewrite(id, block, hasInternal ? entered : new Set([...entered, "internal"]))
      })
    }
  })
