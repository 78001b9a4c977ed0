/** What blocks change in the parts that the record lacks. Stands behind the record of transfers, which asks what lacks. */
import * as Effect from "effect/Effect"
import * as MissingParts from "./MissingParts.ts"
import type { Make } from "./Projection.ts"

export const make: Make = ({ id }) =>
  Effect.succeed({
    apply: { record: ({ height, missing = [] }) => MissingParts.add(id, height, missing) },
    undo: ({ fork }) => MissingParts.undo(id, fork),
    reprocess: {
      record: Effect.fnUntraced(function* (block, { internalFrom }) {
        if (yield* MissingParts.fillsInternal(id, block, internalFrom)) {
          yield* MissingParts.filledInternal(id, block.height)
        }
      })
    }
  })
