/**
 * Long computations in slices of a few milliseconds, between which everything else of the process has its turn: requests
 * are answered while a large block is read.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

const sliceMillis = 5

/** Slices of different computations come in different turns of the event loop, or they would add up. */
const turn = Semaphore.makeUnsafe(1)

/**
 * Runs a computation that yields wherever it may be interrupted: at least every millisecond or so. A short one is over
 * at once.
 *
 * @example
 * ```ts
 * import * as TimeSlice from "@headwater/indexer/families/node/TimeSlice"
 * import * as Effect from "effect/Effect"
 *
 * const sum = function* (count: number) {
 *   let sum = 0
 *   for (let number = 1; number <= count; number++) {
 *     sum += number
 *     if (number % 1_000 === 0) yield
 *   }
 *   return sum
 * }
 * await Effect.runPromise(TimeSlice.run(sum(1_000_000))) // => 500000500000
 * ```
 */
export const run = <A>(work: Generator<void, A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const slice = () => {
      const end = performance.now() + sliceMillis
      let step = work.next()
      while (step.done !== true && performance.now() < end) step = work.next()
      return step
    }
    const later = turn.withPermit(Effect.andThen(Effect.yieldNow, Effect.sync(slice)))
    const first = slice()
    if (first.done === true) return Effect.succeed(first.value)
    return Effect.gen(function* () {
      for (;;) {
        const step = yield* later
        if (step.done === true) return step.value
      }
    })
  })
