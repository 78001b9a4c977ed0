/** A line that stays the last one of the terminal, below the log, until it is taken away. */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

/** The stream that log lines go to. */
export interface Output {
  readonly columns?: number
  readonly write: (text: string) => void
}

const clear = "\r\x1b[2K"

export interface LiveLine {
  /** Shows the text in place of the one before, cut to the terminal's width; an empty one takes the line away. */
  readonly show: (text: string) => Effect.Effect<void>
}

/** The terminal's line; undefined where there is no terminal. */
export const LiveLine = Context.Reference<LiveLine | undefined>("@headwater/daemon/LiveLine", {
  defaultValue: () => undefined
})

/** The line on this output, and the loggers that write above it. */
export const make = (output: Output, loggers: ReadonlySet<Logger.Logger<unknown, unknown>>) => {
  let shown = ""
  const draw = () => output.write(shown === "" ? "" : shown.slice(0, Math.max(1, (output.columns || 80) - 1)))
  const above = (logger: Logger.Logger<unknown, unknown>) =>
    Logger.make<unknown, void>((options) => {
      if (shown !== "") output.write(clear)
      logger.log(options)
      draw()
    })
  const show = (text: string) =>
    Effect.sync(() => {
      if (text === shown) return
      if (shown !== "") output.write(clear)
      shown = text
      draw()
    })
  return { line: { show } satisfies LiveLine, loggers: new Set([...loggers].map(above)) }
}

/** On a terminal; nothing is there elsewhere, and the log is as it was. */
export const layer = Layer.effectContext(
  Effect.gen(function* () {
    const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
    if (!canAnimate || process.stderr.isTTY !== true) return Context.empty()
    const { line, loggers } = make(process.stderr, yield* Logger.CurrentLoggers)
    yield* Effect.addFinalizer(() => line.show(""))
    return Context.make(LiveLine, line).pipe(Context.add(Logger.CurrentLoggers, loggers))
  })
)
