/**
 * Blocks of a range in the order of their heights, fetched several at a time. Small ones far below the range's end are fetched
 * in groups, which share requests to the node.
 */
import type { Block } from "@headwater/core/Block"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SharedRequests from "../../families/node/SharedRequests.ts"
import type { Source } from "../../families/Source.ts"

export interface Options {
  readonly first: number
  readonly last: number
  /** Blocks, or groups of small ones, fetched at the same time. */
  readonly concurrency: number
}

/** Blocks of a group: more hardly make a request cheaper, and whatever has come of a group waits for the rest. */
const mostBlocks = 10
/** So many blocks at the end of a range are fetched one by one, since they may be the chain's newest. */
const lastOnes = 32

/** The blocks from `first` to `last`; fails where one cannot be had, after the blocks before it. */
export const fetch = <E, R>(
  source: Source,
  blockAt: (height: number) => Effect.Effect<Block, E, R>,
  { concurrency, first, last }: Options
): Stream.Stream<Block, E, R> => {
  const isLast = (height: number) => height > last - lastOnes
  const groupAt = (height: number) => {
    const blocks = isLast(height) ? 1 : Math.min(source.blocksOfRequest?.() ?? 1, mostBlocks)
    return Arr.range(height, height + Math.max(blocks, 1) - 1)
  }
  return Stream.unfold(first, (height) =>
    Effect.sync(() => {
      if (height > last) return undefined
      const group = groupAt(height)
      return [group, height + group.length] as const
    })
  ).pipe(
    Stream.mapEffect(
      (heights) =>
        Effect.forEach(heights, (height) => Effect.exit(blockAt(height)), { concurrency: "unbounded" }).pipe(
          Effect.provideService(SharedRequests.Allowed, !isLast(heights[0]))
        ),
      { concurrency }
    ),
    Stream.flattenIterable,
    Stream.mapEffect((exit) => exit)
  )
}
