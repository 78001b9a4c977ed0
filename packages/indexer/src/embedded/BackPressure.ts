/**
 * Holds the following of a chain where its open consumers are far behind: what they have yet to acknowledge is in the
 * store, and of that no more than a bound.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Source } from "../families/Source.ts"
import * as Wakeup from "../Wakeup.ts"

/** An open consumer of a chain. */
export interface Attached {
  /** Takes note of the last block that it has acknowledged. */
  readonly acknowledged: (height: number | undefined) => Effect.Effect<void>
}

export interface BackPressure {
  /** Attaches the consumer of this name until the scope ends. */
  readonly attach: (name: string, height: number | undefined) => Effect.Effect<Attached, never, Scope.Scope>
  /** The source, whose next blocks wait until the consumers have come near. */
  readonly hold: (source: Source) => Source
}

interface Held {
  readonly name: string
  height: number | undefined
}

/** After this time of waiting, the log says for whom. */
const timeout = "1 minute"

/** `ahead`: blocks that following may be ahead of the last open consumer. */
export const make = (ahead: number): BackPressure => {
  const consumers = new Set<Held>()
  const moved = Wakeup.make()

  const room = (height: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      while (true) {
        const next = yield* moved.next
        // A consumer of a chain without blocks begins with the first one.
        for (const consumer of consumers) consumer.height ??= height - 1
        const behind = [...consumers].filter((consumer) => height > consumer.height! + ahead)
        if (behind.length === 0) return
        if (Option.isSome(yield* Effect.timeoutOption(next, timeout))) continue
        // Of the blocks that wait, the first speaks.
        for (const { name, height: acknowledged } of behind) {
          if (height !== acknowledged! + ahead + 1) continue
          yield* Effect.logWarning(
            `Block ${height} waits for the consumer ${name}, which has acknowledged ${acknowledged}`
          )
        }
      }
    })

  return {
    attach: Effect.fnUntraced(function* (name, height) {
      const consumer: Held = { name, height }
      // First, so that no consumer stays that is interrupted here.
      yield* Effect.addFinalizer(() => {
        consumers.delete(consumer)
        return moved.signal
      })
      consumers.add(consumer)
      return {
        acknowledged: (height) =>
          Effect.suspend(() => {
            consumer.height = height
            return moved.signal
          })
      }
    }),
    hold: (source) => ({
      ...source,
      // The first of more blocks in one request would wait for the last, and that one for the first to be acknowledged.
      ...(source.blocksOfRequest && { blocksOfRequest: () => Math.min(source.blocksOfRequest!(), ahead) }),
      blockAt: (height) => Effect.andThen(room(height), source.blockAt(height))
    })
  }
}
