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
export const mostBlocks = 10

/** The blocks from `first` to `last`; fails where one cannot be had, after the blocks before it. */
export const fetch = <E, R>(
  source: Source,
  blockAt: (height: number) => Effect.Effect<Block, E, R>,
  { concurrency, first, last }: Options
): Stream.Stream<Block, E, R> => {
  const groupAt = (height: number) => {
    // A node works through a request alone: towards the end, as many requests are under way as before, each for fewer blocks.
    const left = Math.floor((last - height + 1) / concurrency)
    const blocks = Math.min(source.blocksOfRequest?.() ?? 1, mostBlocks, left)
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
          Effect.provideService(SharedRequests.MostBlocks, heights.length)
        ),
      { concurrency }
    ),
    Stream.flattenIterable,
    Stream.mapEffect((exit) => exit)
  )
}
