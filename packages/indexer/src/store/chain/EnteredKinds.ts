/** Which transfers of a committed block give way to those that the block shows when it is entered again. */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as MissingParts from "./MissingParts.ts"
import type { Reprocessing } from "./Projection.ts"
import type { Kind } from "./transfers/TransferLog.ts"

/**
 * The kinds, before the block's missing part is forgotten. What the chain has forgotten until now stays forgotten, whatever
 * `internalFrom` was when somebody began to enter blocks again: its sums would count twice.
 */
export const of = Effect.fnUntraced(function* (
  { evm }: Chain,
  block: Block,
  { internalFrom, row }: Pick<Reprocessing, "internalFrom" | "row">
) {
  const shown = internalFrom !== undefined && block.missing === undefined
  const kinds = new Set<Kind>(["token", "transaction"])
  // Coins that a trace had shown stay where the source shows none at this time.
  if (evm?.retryables !== true || shown) kinds.add("coin")
  const isKept = shown && block.height >= Math.max(internalFrom, row.internal_forgotten_below)
  if (isKept || (yield* MissingParts.fillsInternal(row.id, block, internalFrom))) {
    kinds.add("internal")
  }
  return kinds as ReadonlySet<Kind>
})
