/**
 * A second look at a block of which something was not understood, by each of the chain's nodes: an answer that was broken
 * on its way, or a node that is broken, must not pass for a transaction of a later kind.
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

/** The look that has understood more, where both are at the same block; else the first. */
export const better = (first: Block, second: Block): Block =>
  Bytes.equal(first.hash, second.hash) && lacking(second) < lacking(first) ? second : first

/** A source that looks twice. */
export const of = <S extends Source>(source: S): S => {
  let vain = 0
  /** Whether it was said that first looks do not suffice, since one has. */
  let told = false
  const blockAt: Source["blockAt"] = Effect.fnUntraced(function* (height: number) {
    const first = yield* source.blockAt(height)
    if (lacking(first) === 0) {
      vain = 0
      told = false
      return first
    }
    if (vain >= vainLimit) return first
    yield* Effect.sleep(pause)
    let taken = first
    for (const look of source.byEach?.(height) ?? [source.blockAt(height)]) {
      taken = better(taken, yield* Effect.orElseSucceed(look, () => first))
      if (lacking(taken) === 0) break
    }
    if (taken !== first && !told) {
      told = true
      yield* Effect.logWarning(
        `Block ${height} is taken from a second look, which understood more of it: ${first.notUnderstood![0]!.reason}. ` +
          "If that goes on, the first of the chain's nodes is broken"
      )
    }
    vain = taken === first ? vain + 1 : 0
    return taken
  })
  return { ...source, blockAt }
}
