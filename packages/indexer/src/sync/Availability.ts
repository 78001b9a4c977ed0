/** Which blocks a source can give at all: nodes forget old ones, and servers that were down lack some in between. */
import * as Effect from "effect/Effect"
import type { NodeUnreachable } from "../families/node/NodeError.ts"
import type { Source } from "../families/Source.ts"

/** Why the source cannot give the block at a height; undefined where it can. Fails where nobody answers. */
export const lackOf = (source: Source, height: number): Effect.Effect<string | undefined, NodeUnreachable> =>
  source.blockAt(height).pipe(
    Effect.as(undefined),
    Effect.catchTag(["BlockMissing", "NodeRejected", "NodeInconsistent", "ProofFailed"], ({ message }) =>
      Effect.succeed(message)
    )
  )

/**
 * The first block above `height`, which the source cannot give, up to `head` that the source can give: by what the node
 * says that it has, else by bisection. Undefined where there is none.
 */
export const firstAbove = Effect.fn("Availability.firstAbove")(function* (
  source: Source,
  height: number,
  head: number
) {
  const has = (at: number) => Effect.map(lackOf(source, at), (lack) => lack === undefined)
  const ranges = source.ranges === undefined ? [] : yield* Effect.orElseSucceed(source.ranges, () => [])
  const said = ranges.find(([, last]) => last > height)
  const first = Math.max(said?.[0] ?? height, height + 1)
  if (said !== undefined && first <= head && (yield* has(first))) return first
  if (head <= height || !(yield* has(head))) return undefined
  let [lacking, having] = [height, head]
  while (having - lacking > 1) {
    const middle = Math.floor((lacking + having) / 2)
    if (yield* has(middle)) having = middle
    else lacking = middle
  }
  return having
})
