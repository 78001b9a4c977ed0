import { assert, describe, it, layer } from "@effect/vitest"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { locations, takenStores } from "../../../../../test/Stores.ts"

const start = 1_700_000_000_000

for (const store of takenStores(import.meta.url)) {
  layer(RecurringTasks.layer.pipe(Layer.provideMerge(store.layer)))(`RecurringTasks on ${store.name}`, (it) => {
    it.effect("gives a task to one, when it is due", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const { claim, postpone } = yield* RecurringTasks
        const both = yield* Effect.all([claim("t", 1_000), claim("t", 1_000)], { concurrency: 2 })
        assert.deepStrictEqual(
          [...both].sort((a, b) => a - b),
          [0, 1_000]
        )
        yield* TestClock.setTime(start + 999)
        assert.strictEqual(yield* claim("t", 1_000), 1)
        yield* TestClock.setTime(start + 1_000)
        assert.strictEqual(yield* claim("t", 1_000), 0)
        yield* postpone("t", 600)
        assert.strictEqual(yield* claim("t", 1_000), 600)
        // The claim of a daemon whose clock is ahead holds.
        yield* TestClock.setTime(start + 300)
        assert.strictEqual(yield* claim("t", 1_000), 1_300)
        // An interval that is much shorter counts at once, as does a clock that was set back.
        assert.strictEqual(yield* claim("t", 500), 0)
      })
    )
  })
}

const postgres = locations.find(({ name }) => name === "postgres")

/** Two daemons on one store, each with connections and tasks of its own. */
const daemons = Effect.gen(function* () {
  const location = yield* postgres!.location
  const daemon = Layer.build(RecurringTasks.layer.pipe(Layer.provideMerge(Database.layer(location))))
  return [yield* daemon, yield* daemon] as const
})

describe.skipIf(postgres === undefined)("RecurringTasks of two daemons", () => {
  it.live("are done by one at a time, and go on elsewhere where that one has ended", () =>
    Effect.gen(function* () {
      const tasks = Effect.map(daemons, (both) => both.map(Context.get(RecurringTasks)))
      const everyMillis = 400
      const running = new Set<number>()
      const done = [0, 0]
      let mostAtOnce = 0
      // Longer than the interval: the claim is renewed meanwhile.
      const work = (daemon: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            running.add(daemon)
            mostAtOnce = Math.max(mostAtOnce, running.size)
          }),
          () =>
            Effect.andThen(
              Effect.sleep(3 * everyMillis),
              Effect.sync(() => done[daemon]!++)
            ),
          () => Effect.sync(() => running.delete(daemon))
        )
      const fibers = yield* Effect.forEach(yield* tasks, ({ whenDue }, daemon) =>
        whenDue("work", everyMillis, work(daemon)).pipe(
          Effect.flatMap((millis) => Effect.sleep(millis)),
          Effect.forever,
          Effect.forkChild
        )
      )
      const until = (condition: () => boolean) =>
        Effect.repeat(Effect.delay(Effect.sync(condition), "10 millis"), { until: (holds) => holds })
      yield* until(() => done[0]! + done[1]! > 0 && running.size > 0)
      // Whichever works is killed in the middle.
      const [killed] = [...running]
      yield* Fiber.interrupt(fibers[killed!]!)
      const before = done[1 - killed!]!
      yield* until(() => done[1 - killed!]! > before)
      assert.strictEqual(mostAtOnce, 1)
    }).pipe(Effect.scoped)
  )

  it.live("take the charges of a day that is over once", () =>
    Effect.gen(function* () {
      let charged = 0
      const counting = Layer.mock(Credits, {
        chargeDays: Effect.as(
          Effect.sync(() => charged++),
          { days: 0, credits: 0, deactivated: 0 }
        )
      })
      const contexts = yield* daemons
      const scope = yield* Effect.scope
      for (const context of contexts) {
        const services = Layer.merge(counting, Layer.succeedContext(context))
        yield* Layer.buildWithScope(Credits.daily.pipe(Layer.provide(services)), scope)
      }
      const claimed = Effect.gen(function* () {
        const { query } = Context.get(contexts[0], Database)
        return yield* query((db) => db.selectFrom("market_task").selectAll().where("name", "=", "daily charges"))
      })
      yield* Effect.repeat(Effect.delay(claimed, "10 millis"), { until: () => charged > 0 })
      // The second daemon has looked by now, or will find the claim.
      yield* Effect.sleep("500 millis")
      assert.strictEqual(charged, 1)
      assert.lengthOf(yield* claimed, 1)
    }).pipe(Effect.scoped)
  )
})
