/** Which transfers of a committed block give way to those that the block shows when it is entered again. */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as MissingParts from "./MissingParts.ts"
import type { Kind } from "./transfers/TransferLog.ts"

/** The kinds, before the block's missing part is forgotten. `internalFrom` as in `Reprocess.Options`. */
export const of = Effect.fnUntraced(function* (
  { evm }: Chain,
  id: number,
  block: Block,
  internalFrom: number | undefined
) {
  const shown = internalFrom !== undefined && block.missing === undefined
  const kinds = new Set<Kind>(["token", "transaction"])
  // Coins that a trace had shown stay where the source shows none at this time.
  if (evm?.retryables !== true || shown) kinds.add("coin")
  if ((shown && block.height >= internalFrom) || (yield* MissingParts.fillsInternal(id, block, internalFrom))) {
    kinds.add("internal")
  }
  return kinds as ReadonlySet<Kind>
})
