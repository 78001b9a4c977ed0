import { assert, describe, it } from "@effect/vitest"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"

/** Longer than a slice, however fast the machine is: it goes on until others had so many turns. */
function* until(turns: () => number, least: number): Generator<void, number> {
  const before = turns()
  let steps = 0
  while (turns() < before + least) {
    steps++
    yield
  }
  return steps
}

/** Turns of the event loop that another fiber has, counted as long as the scope is open. */
const turnsOfOthers = Effect.gen(function* () {
  let turns = 0
  yield* Effect.yieldNow.pipe(
    Effect.map(() => turns++),
    Effect.forever,
    Effect.forkScoped
  )
  return () => turns
})

describe("TimeSlice", () => {
  it.live("a short computation is over at once", () =>
    Effect.gen(function* () {
      const turns = yield* turnsOfOthers
      const before = turns()
      assert.deepStrictEqual(yield* TimeSlice.run(() => TimeSlice.map([1, 2, 3], (number) => number * 2)), [2, 4, 6])
      assert.strictEqual(turns(), before)
    }).pipe(Effect.scoped)
  )

  it.live("others have their turns within long computations, which come to their ends", () =>
    Effect.gen(function* () {
      const turns = yield* turnsOfOthers
      const all = [TimeSlice.run, TimeSlice.run, TimeSlice.runInTransaction].map((run) => run(() => until(turns, 3)))
      for (const steps of yield* Effect.all(all, { concurrency: "unbounded" })) assert.isAbove(steps, 0)
    }).pipe(Effect.scoped)
  )

  it.live("no two computations have a slice in one turn", () =>
    Effect.gen(function* () {
      const turns = yield* turnsOfOthers
      const sliced: Array<number> = []
      function* work() {
        for (let slices = 0, last = -1; slices < 4; ) {
          if (turns() !== last) {
            last = turns()
            slices++
            sliced.push(last)
          }
          yield
        }
      }
      yield* Effect.all([TimeSlice.run(work), TimeSlice.run(work)], { concurrency: "unbounded" })
      // The first slice of each is at once.
      const later = sliced.filter((turn) => turn > 0)
      assert.strictEqual(new Set(later).size, later.length)
    }).pipe(Effect.scoped)
  )

  it.live("what is thrown after a slice is a failure of `attempt`, and a defect of `run`", () =>
    Effect.gen(function* () {
      const turns = yield* turnsOfOthers
      const error = new Error("broken")
      function* failing() {
        yield* until(turns, 2)
        throw error
      }
      assert.strictEqual(yield* Effect.flip(TimeSlice.attempt(failing)), error)
      const exit = yield* Effect.exit(TimeSlice.run(failing))
      assert.isTrue(Exit.isFailure(exit) && Exit.hasDies(exit))
      assert.deepStrictEqual(
        TimeSlice.atOnce(
          TimeSlice.caught(function* () {
            yield
            throw error
          })
        ),
        Result.fail(error)
      )
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted computation goes no further, and holds up no other", () =>
    Effect.gen(function* () {
      const turns = yield* turnsOfOthers
      let steps = 0
      const endless = TimeSlice.run(function* () {
        while (true) {
          steps++
          yield
        }
      })
      const running = yield* Effect.forkChild(endless)
      const waiting = yield* Effect.forkChild(endless)
      yield* TimeSlice.runInTransaction(() => until(turns, 5))
      yield* Fiber.interrupt(running)
      yield* Fiber.interrupt(waiting)
      const before = steps
      yield* TimeSlice.run(() => until(turns, 5))
      assert.isAbove(before, 0)
      assert.strictEqual(steps, before)
    }).pipe(Effect.scoped)
  )

  it.live("runs a computation again where its effect is", () =>
    Effect.gen(function* () {
      const sum = TimeSlice.run(() => TimeSlice.map([1, 2], (number) => number + 1))
      assert.deepStrictEqual(
        [yield* sum, yield* sum],
        [
          [2, 3],
          [2, 3]
        ]
      )
    })
  )
})
