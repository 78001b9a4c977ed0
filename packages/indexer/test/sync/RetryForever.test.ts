import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import * as RetryForever from "@headwater/indexer/sync/RetryForever"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

/** Runs a step that fails with `cause` for so many seconds; when it was tried, in seconds, and the lines of the log. */
const tried = Effect.fnUntraced(function* (cause: Error, seconds: number) {
  const times: Array<number> = []
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  let now = 0
  const step = Effect.suspend(() => {
    times.push(now)
    return now < seconds ? Effect.fail(new DatabaseError({ cause })) : Effect.void
  })
  yield* RetryForever.retryForever(chain, "Finding", { pollInterval: Duration.hours(1) }, step).pipe(
    Effect.provide(Logger.layer([logger]) satisfies Layer.Layer<never>),
    Effect.forkScoped
  )
  for (; now < seconds + 60; now += 0.5) yield* TestClock.adjust("500 millis")
  return { times, lines }
})

describe("RetryForever", () => {
  it.effect("goes on within two seconds once the store is back, of whose absence others tell", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" })
      const { lines, times } = yield* tried(cause, 61)
      assert.isAtMost(times.at(-1)!, 63)
      assert.isAtLeast(times.length, 30)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.scoped)
  )

  it.effect("says each other failure, and waits longer each time", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("no such table"), { code: "SQLITE_ERROR" })
      const { lines, times } = yield* tried(cause, 61)
      assert.isBelow(times.length, 10)
      assert.deepStrictEqual(new Set(lines), new Set(["Finding failed: no such table"]))
    }).pipe(Effect.scoped)
  )
})
