/** How far a long command is: a bar with rate and time left on a terminal, a log line now and then elsewhere. */

import * as Clock from "effect/Clock"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Terminal from "effect/Terminal"

/** Two units at most: `45s`, `3m 20s`, `2h 5m`. */
const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds}s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)}m ${seconds % 60}s`
      : `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`

/** `done` of `total` after so many milliseconds, in words. */
export const describe = (done: number, total: number, elapsedMillis: number): string => {
  const rate = elapsedMillis > 0 ? (done * 1000) / elapsedMillis : 0
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  const left = done >= total ? "done" : rate > 0 ? `${duration(Math.ceil((total - done) / rate))} left` : "waiting"
  return `${percent}% ${done}/${total} ${rate >= 10 ? rate.toFixed(0) : rate.toFixed(1)}/s ${left}`
}

/**
 * Runs `use`, which reports each piece of the `total` as it is done, and shows how far it is until it ends.
 */
export const track = Effect.fnUntraced(function* <A, E, R>(
  title: string,
  total: number,
  use: (advance: (pieces: number) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) {
  const terminal = yield* Terminal.Terminal
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const done = yield* Ref.make(0)
  const start = yield* Clock.currentTimeMillis
  const text = Effect.gen(function* () {
    return describe(yield* Ref.get(done), total, (yield* Clock.currentTimeMillis) - start)
  })
  const draw = Effect.gen(function* () {
    const line = yield* text
    const width = Math.max(10, Math.min(40, (yield* terminal.columns) - line.length - title.length - 3))
    const filled = total === 0 ? width : Math.min(width, Math.round(((yield* Ref.get(done)) / total) * width))
    yield* terminal.display(`\r\x1b[2K${title} ${"█".repeat(filled)}${"░".repeat(width - filled)} ${line}`)
  }).pipe(Effect.ignore)
  const log = Effect.flatMap(text, (line) => Effect.logInfo(`${title} ${line}`))

  const newline = Effect.ignore(terminal.display("\n"))
  const [show, every] = canAnimate ? ([draw, "100 millis"] as const) : ([log, "10 seconds"] as const)
  const shown = Effect.andThen(Effect.repeat(Effect.delay(show, every), Schedule.forever), Effect.never)
  return yield* use((pieces) => Ref.update(done, (before) => before + pieces)).pipe(
    Effect.raceFirst(shown),
    // A log line about what has failed would only stand between its start and its failure.
    Effect.onExit((exit) => (canAnimate ? Effect.andThen(draw, newline) : Exit.isSuccess(exit) ? log : Effect.void))
  )
})
