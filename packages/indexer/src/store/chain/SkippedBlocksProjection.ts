/** Blocks that leave the chain take the ranges with them that were skipped above them. */
import * as Effect from "effect/Effect"
import type { Make } from "./Projection.ts"
import * as SkippedBlocks from "./SkippedBlocks.ts"

export const make: Make = ({ id }) =>
  Effect.succeed({ apply: {}, undo: ({ fork }) => SkippedBlocks.undo(id, fork), reprocess: {} })
