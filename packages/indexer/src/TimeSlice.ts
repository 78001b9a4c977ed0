/**
 * Long computations in slices of a few milliseconds, between which everything else of the process has its turn: requests
 * are answered while a large block is read.
 *
 * Such a computation is a generator that yields wherever it may be interrupted: at least every millisecond or so. Its
 * function is made once, and is given what it works on: V8 makes a hidden class for each generator function that is made
 * anew, in the old generation, which holds what the function closes over, as a whole block, until all garbage is collected.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"

export { atOnce } from "@headwater/core/Steps"

const sliceMillis = 5
/** Steps after which the clock is looked at, which takes as long as a small step. */
const stepsOfLook = 8

/** Slices of different computations come in different turns of the event loop, or they would add up. */
const turn = Semaphore.makeUnsafe(1)
/** A transaction, for which others wait, does not wait for them. */
const turnInTransaction = Semaphore.makeUnsafe(1)

const runIn = <A>(turn: Semaphore.Semaphore, compute: () => Generator<void, A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const work = compute()
    const slice = () => {
      const end = performance.now() + sliceMillis
      for (let steps = 1; ; steps++) {
        const step = work.next()
        if (step.done === true || (steps % stepsOfLook === 0 && performance.now() >= end)) return step
      }
    }
    const later = turn.withPermit(Effect.andThen(Effect.yieldNow, Effect.sync(slice)))
    const first = slice()
    if (first.done === true) return Effect.succeed(first.value)
    const rest: Effect.Effect<A> = Effect.flatMap(later, (step) =>
      step.done === true ? Effect.succeed(step.value) : rest
    )
    return rest
  })

/**
 * Runs a computation. A short one is over at once.
 *
 * @example
 * ```ts
 * import * as TimeSlice from "@headwater/indexer/TimeSlice"
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
 * await Effect.runPromise(TimeSlice.run(() => sum(1_000_000))) // => 500000500000
 * ```
 */
export const run = <A>(compute: () => Generator<void, A>): Effect.Effect<A> => runIn(turn, compute)

/** As {@link run}, within a transaction of the store. */
export const runInTransaction = <A>(compute: () => Generator<void, A>): Effect.Effect<A> =>
  runIn(turnInTransaction, compute)

/** As the computation; an exception is a failure. */
export function* caught<A>(compute: () => Generator<void, A>): Generator<void, Result.Result<A, unknown>> {
  const work = compute()
  for (;;) {
    const step = Result.try(() => work.next())
    if (Result.isFailure(step)) return Result.fail(step.failure)
    if (step.success.done === true) return Result.succeed(step.success.value)
    yield
  }
}

/** As {@link run}; what the computation throws is the failure. */
export const attempt = <A>(compute: () => Generator<void, A>): Effect.Effect<A, unknown> =>
  Effect.flatMap(
    run(() => caught(compute)),
    Effect.fromResult
  )

/** What `to` makes of each item; yields after each. */
export function* map<A, B>(items: ReadonlyArray<A>, to: (item: A, index: number) => B): Generator<void, Array<B>> {
  const mapped: Array<B> = []
  for (let index = 0; index < items.length; index++) {
    mapped.push(to(items[index]!, index))
    yield
  }
  return mapped
}
