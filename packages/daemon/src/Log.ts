/** The form of log lines, which go to standard error: standard output is for results only. */

import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { LogLevel } from "effect/LogLevel"
import * as Option from "effect/Option"
import * as References from "effect/References"
import type { Settings } from "./settings/Settings.ts"

type LogSettings = Settings["Service"]["log"]

const loggers: Record<LogSettings["format"], Logger.Logger<unknown, void>> = {
  pretty: Logger.consolePretty(),
  json: Logger.withConsoleError(Logger.formatJson),
  logfmt: Logger.withConsoleError(Logger.formatLogFmt)
}

const levels: Record<LogSettings["level"], LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error"
}

/** Logs as the settings say; the level of the command line (`--log-level`) wins. */
export const layer = (settings: LogSettings) =>
  Layer.unwrap(
    Effect.map(Effect.serviceOption(GlobalFlag.LogLevel), (flag) =>
      Layer.mergeAll(
        Logger.layer([loggers[settings.format]]),
        Layer.succeed(Logger.LogToStderr, true),
        Layer.succeed(
          References.MinimumLogLevel,
          Option.getOrElse(Option.flatten(flag), () => levels[settings.level])
        )
      )
    )
  )
