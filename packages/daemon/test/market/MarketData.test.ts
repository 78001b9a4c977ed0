import { assert, describe, it } from "@effect/vitest"
import { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import * as MarketData from "../../src/market/MarketData.ts"
import { nothing, type Provider, ProviderError, Providers, type Task } from "../../src/market/Provider.ts"
import * as MarketServices from "./MarketServices.ts"

/** A task that counts, and does what it is told. */
const counting = (
  name: string,
  everyMillis: number,
  run: Task["work"] = Effect.succeed({ total: 0, run: () => Effect.succeed(nothing) })
) => {
  const times: Array<number> = []
  const work = Effect.andThen(
    Effect.map(Clock.currentTimeMillis, (now) => times.push(now)),
    run
  )
  return { times, task: { name, everyMillis, work } satisfies Task }
}

const failing = (retryAfter?: number) =>
  Effect.fail(
    new ProviderError({ provider: "broken", message: "is down", ...(retryAfter === undefined ? {} : { retryAfter }) })
  )

const run = (providers: ReadonlyArray<Provider>) =>
  Layer.build(MarketData.layer.pipe(Layer.provide(Layer.succeed(Providers, providers))))

const until = Effect.fnUntraced(function* (condition: () => boolean) {
  for (let i = 0; i < 6_000; i++) {
    if (condition()) return
    yield* Effect.sleep("10 millis")
  }
  return yield* Effect.die(new Error("Not so within a minute"))
})

describe("MarketData", () => {
  it.effect("lists what ships, and does every task on its own schedule", () =>
    Effect.gen(function* () {
      const often = counting("often", 1_000)
      const seldom = counting("seldom", 86_400_000)
      const begin = yield* Clock.currentTimeMillis
      yield* run([{ name: "a", tasks: [often.task, seldom.task] }])
      while (often.times.length < 4 || seldom.times.length === 0) {
        yield* TestClock.adjust("200 millis")
        // The store gets time to answer.
        yield* TestClock.withLive(Effect.sleep("5 millis"))
      }
      assert.isAtMost(often.times.length, ((yield* Clock.currentTimeMillis) - begin) / 1_000 + 1)
      assert.lengthOf(seldom.times, 1)
      assert.isAbove((yield* (yield* Assets).list({ limit: 1, offset: 0 })).total, 15)
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("lists what ships also where the store cannot take anything at first", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const failures = [
        new Error("Connection terminated unexpectedly"),
        Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" })
      ]
      const put: typeof assets.put = (...listed) => {
        const cause = failures.shift()
        return cause === undefined ? assets.put(...listed) : Effect.fail(new DatabaseError({ cause }))
      }
      const seldom = counting("seldom", 60_000)
      yield* Effect.provideService(run([{ name: "a", tasks: [seldom.task] }]), Assets, { ...assets, put })
      yield* until(() => seldom.times.length > 0)
      assert.isAbove((yield* assets.list({ limit: 1, offset: 0 })).total, 15)
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("holds up nobody where the store takes nothing for good", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const cause = Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" })
      yield* Effect.provideService(run([]), Assets, { ...assets, put: () => Effect.fail(new DatabaseError({ cause })) })
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("goes on with one provider while another is down or broken, and says so", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
      const down = counting("down", 50, failing())
      const told = counting("told", 600_000, failing(50))
      const defect = counting("defect", 50, Effect.die("a bug"))
      const well = counting("well", 50)
      yield* run([
        { name: "broken", tasks: [down.task, told.task, defect.task] },
        { name: "sound", tasks: [well.task] }
      ]).pipe(Effect.provide(logger))
      // The provider of "told" said when it wants to be asked again: long before the task's next time.
      yield* until(
        () => well.times.length >= 4 && down.times.length >= 4 && told.times.length >= 3 && defect.times.length > 0
      )
      // Our own bugs are not tried again at once.
      assert.lengthOf(defect.times, 1)
      assert.include(lines.join("\n"), "Market data of broken (down): is down. The last good values stay")
      const runs = (yield* Metric.snapshot).filter(({ id }) => id === "headwater_market_runs_total")
      const outcomes = runs.map(({ attributes }) => attributes as Record<string, string>)
      assert.isTrue(outcomes.some(({ outcome, task }) => task === "down" && outcome === "failed"))
      assert.isTrue(outcomes.some(({ outcome, task }) => task === "well" && outcome === "succeeded"))
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("shares the work among several daemons, and does not repeat it after a restart", () =>
    Effect.gen(function* () {
      const work = counting("work", 60_000)
      const providers = [{ name: "a", tasks: [work.task] }]
      const done = until(() => work.times.length > 0)
      yield* Effect.scoped(
        Effect.all([run(providers), run(providers), done, Effect.sleep("100 millis")], { discard: true })
      )
      yield* Effect.scoped(Effect.andThen(run(providers), Effect.sleep("100 millis")))
      assert.lengthOf(work.times, 1)
    }).pipe(Effect.provide(MarketServices.layer))
  )

  it.live("refreshes at once what it is asked for, and tells what failed", () =>
    Effect.gen(function* () {
      const one = counting(
        "one",
        60_000,
        Effect.succeed({ total: 3, run: (advance) => Effect.as(advance(3), { ...nothing, quotes: 2 }) })
      )
      const two = counting("two", 60_000, failing())
      const titles: Array<string> = []
      const refresh = (name?: string) =>
        MarketData.refresh(name, (title, { run, total }) => {
          titles.push(`${title} ${total}`)
          return run(() => Effect.void)
        }).pipe(
          Effect.provideService(Providers, [
            { name: "a", tasks: [one.task] },
            { name: "b", tasks: [two.task] }
          ])
        )
      const all = yield* refresh()
      assert.deepStrictEqual(all.summary, { ...nothing, quotes: 2 })
      assert.deepStrictEqual(
        all.failures.map(({ message }) => message),
        ["is down"]
      )
      assert.deepStrictEqual(titles, ["a one 3"])
      assert.deepStrictEqual((yield* refresh("a")).failures, [])
      assert.match((yield* Effect.flip(refresh("c"))).message, /^No provider "c" is configured, only a, b$/)
      // The schedule counts from here.
      assert.isAbove(yield* (yield* RecurringTasks).claim("a/one", 60_000), 50_000)
    }).pipe(Effect.provide(MarketServices.layer))
  )

  it.live("says what to do where there is no provider", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(MarketData.refresh(undefined, (_, { run }) => run(() => Effect.void)))
      assert.match(message, /set marketData\.coingecko or marketData\.file/)
    }).pipe(Effect.provideService(Providers, []), Effect.provide(MarketServices.layer))
  )
})
