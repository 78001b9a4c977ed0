/**
 * Holds the following of a chain where its open consumers are far behind: what they have yet to acknowledge is in the
 * store, and of that no more than a bound.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Source } from "../families/Source.ts"
import * as Wakeup from "../Wakeup.ts"

/** An open consumer of a chain. */
export interface Attached {
  /** Takes note of the last block that it has acknowledged. */
  readonly acknowledged: (height: number | undefined) => Effect.Effect<void>
}

export interface BackPressure {
  /** Attaches a consumer until the scope ends. */
  readonly attach: (height: number | undefined) => Effect.Effect<Attached, never, Scope.Scope>
  /** The source, whose next blocks wait until the consumers have come near. */
  readonly hold: (source: Source) => Source
}

/** `ahead`: blocks that following may be ahead of the last open consumer. */
export const make = (ahead: number): BackPressure => {
  const heights = new Map<object, number | undefined>()
  const moved = Wakeup.make()

  const room = (height: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      while (true) {
        const next = yield* moved.next
        // A consumer of a chain without blocks begins with the first one.
        for (const [key, known] of heights) if (known === undefined) heights.set(key, height - 1)
        const lowest = Math.min(Number.POSITIVE_INFINITY, ...([...heights.values()] as ReadonlyArray<number>))
        if (height <= lowest + ahead) return
        yield* next
      }
    })

  return {
    attach: (height) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const key = {}
            heights.set(key, height)
            return key
          }),
          (key) =>
            Effect.andThen(
              Effect.sync(() => heights.delete(key)),
              moved.signal
            )
        ),
        (key) => ({
          acknowledged: (height) =>
            Effect.andThen(
              Effect.sync(() => heights.set(key, height)),
              moved.signal
            )
        })
      ),
    hold: (source) => ({
      ...source,
      blockAt: (height) => Effect.andThen(room(height), source.blockAt(height))
    })
  }
}
