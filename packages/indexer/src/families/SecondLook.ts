/**
 * A second look at a block of which something was not understood: an answer that was broken on its way, or a node that is
 * broken, must not pass for a transaction of a later kind.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import type { Source } from "./Source.ts"

/** Between the looks. */
const pause = "500 millis"

/** After so many blocks in a row that were no better understood the second time, blocks are read once: a kind is new. */
const vainLimit = 8

const lacking = ({ notUnderstood }: Block): number => notUnderstood?.length ?? 0

/** Of two looks at one block the one that has understood more; of two blocks the later look's. */
export const better = (first: Block, second: Block): Block =>
  Bytes.equal(first.hash, second.hash) && lacking(first) <= lacking(second) ? first : second

/** A source that looks twice. */
export const of = <S extends Source>(source: S): S => {
  let vain = 0
  const blockAt: Source["blockAt"] = Effect.fnUntraced(function* (height: number) {
    const first = yield* source.blockAt(height)
    if (lacking(first) === 0) {
      vain = 0
      return first
    }
    if (vain >= vainLimit) return first
    yield* Effect.sleep(pause)
    const second = yield* Effect.orElseSucceed(source.blockAt(height), () => first)
    const taken = better(first, second)
    vain = taken === first ? vain + 1 : 0
    return taken
  })
  return { ...source, blockAt }
}
