/** Which transfers of a committed block give way to those that the block shows when it is entered again. */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as MissingParts from "./MissingParts.ts"
import type { Reprocessing } from "./Projection.ts"
import type { Kind } from "./transfers/TransferLog.ts"

/** Whether a block of Polygon has coins of a state-sync transaction, which is from nobody to nobody. */
const paysByStateSync = ({ parties = [], transfers }: Block): boolean => {
  const syncs = new Set(
    parties.filter(({ from, to }) => Bytes.isZero(from) && Bytes.isZero(to)).map(({ transaction }) => transaction)
  )
  return syncs.size > 0 && transfers.some(({ kind, transaction }) => kind === "coin" && syncs.has(transaction))
}

/** Whether the chain recorded internal transfers when the block came. */
export const hasInternal = ({ internal_from }: Reprocessing["row"], { height }: Block): boolean =>
  internal_from !== null && internal_from <= height

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
  const isKept = shown && block.height >= Math.max(internalFrom, row.internal_forgotten_below)
  if (isKept || (yield* MissingParts.fillsInternal(row.id, block, internalFrom))) {
    kinds.add("internal")
  }
  // Versions that told coins of a state-sync as internal transactions have left them as such where these stay.
  const mayCountTwice =
    evm?.stateSync === true && hasInternal(row, block) && !kinds.has("internal") && paysByStateSync(block)
  // Coins that a trace had shown stay where the source shows none at this time.
  if (!mayCountTwice && (evm?.retryables !== true || shown)) kinds.add("coin")
  return kinds as ReadonlySet<Kind>
})
