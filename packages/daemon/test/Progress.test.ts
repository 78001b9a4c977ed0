import { assert, describe, it } from "@effect/vitest"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Progress from "../src/Progress.ts"

/** A terminal of 80 columns that keeps what it is given. */
const recording = () => {
  const shown: Array<string> = []
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.die("unused"),
    readInput: Effect.die("unused"),
    readLine: Effect.die("unused"),
    display: (text) => Effect.sync(() => void shown.push(text))
  })
  return { shown, terminal }
}

const clear = "\r\x1b[2K"
/** What is drawn, which begins by clearing the line. */
const withoutClear = (text: string) => {
  assert.isTrue(text.startsWith(clear))
  return text.slice(clear.length)
}

const capabilities = (canAnimate: boolean) => ({ canColor: false, canAnimate, canPrompt: false })

/** A hundred pieces, one every 100 ms. */
const work = (advance: (pieces: number) => Effect.Effect<void>) =>
  Effect.as(
    Effect.forEach(Array.from({ length: 100 }), () => Effect.andThen(Effect.sleep("100 millis"), advance(1))),
    "result"
  )

describe("Progress", () => {
  it("says how much is done, how fast, and how long it takes", () => {
    assert.strictEqual(Progress.describe(0, 100, 0), "0% 0/100 0.0/s waiting")
    assert.strictEqual(Progress.describe(50, 100, 10_000), "50% 50/100 5.0/s 10s left")
    assert.strictEqual(Progress.describe(1000, 400_000, 10_000), "0% 1000/400000 100/s 1h 6m left")
    assert.strictEqual(Progress.describe(999, 1000, 500_000), "99% 999/1000 2.0/s 1s left")
    assert.strictEqual(Progress.describe(100, 100, 200_000), "100% 100/100 0.5/s done")
    assert.strictEqual(Progress.describe(0, 0, 5), "100% 0/0 0.0/s done")
  })

  it.effect("draws a bar on a terminal and leaves it full", () =>
    Effect.gen(function* () {
      const { shown, terminal } = recording()
      const fiber = yield* Progress.track("blocks", 100, work).pipe(
        Effect.provideService(Terminal.Terminal, terminal),
        Effect.provideService(TerminalCapabilities.TerminalCapabilities, capabilities(true)),
        Effect.forkChild
      )
      yield* TestClock.adjust("5050 millis")
      const [half] = shown.slice(-1)
      assert.match(withoutClear(half!), /^blocks █+░+ 50% 50\/100 10\/s 5s left$/)
      assert.isAtMost(withoutClear(half!).length, 80)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "result")
      assert.match(withoutClear(shown.at(-2)!), /^blocks █+ 100% 100\/100 10\/s done$/)
      assert.strictEqual(shown.at(-1), "\n")
    })
  )

  it.effect("logs a line now and then elsewhere", () =>
    Effect.gen(function* () {
      const { shown, terminal } = recording()
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      const fiber = yield* Progress.track("blocks", 250, (advance) =>
        Effect.forEach(Array.from({ length: 250 }), () => Effect.andThen(Effect.sleep("100 millis"), advance(1)))
      ).pipe(
        Effect.provideService(Terminal.Terminal, terminal),
        Effect.provideService(TerminalCapabilities.TerminalCapabilities, capabilities(false)),
        Effect.provide(Logger.layer([logger])),
        Effect.forkChild
      )
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(fiber)
      assert.lengthOf(lines, 3)
      assert.match(lines[0]!, /^blocks (39|40)% \d+\/250/)
      assert.strictEqual(lines[2], "blocks 100% 250/250 10/s done")
      assert.lengthOf(shown, 0)
    })
  )
})
