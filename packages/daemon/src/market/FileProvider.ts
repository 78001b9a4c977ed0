/** The operator's file as a provider: the file is loaded when it has changed. */
import type { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as AssetFile from "./AssetFile.ts"
import type { FileSettings } from "./MarketSettings.ts"
import { nothing, type Provider, type Work } from "./Provider.ts"

/** Problems of a file that are logged one by one. */
const logged = 20

export const make = Effect.fnUntraced(function* ({ everySeconds, path }: FileSettings) {
  const context = yield* Effect.context<Assets | FileSystem.FileSystem>()
  let loaded = 0

  const load = (written: number): Work["run"] =>
    Effect.fnUntraced(function* (advance) {
      let problems = 0
      const summary = yield* AssetFile.load(path, {
        advance,
        onProblem: ({ line, message }) =>
          problems++ < logged ? Effect.logWarning(`${path} line ${line}: ${message}`) : Effect.void
      })
      if (problems > logged) yield* Effect.logWarning(`${path}: ${problems - logged} more entries could not be taken`)
      loaded = written
      return summary
    }, Effect.provide(context))

  const work = AssetFile.describe(path).pipe(
    Effect.map(
      ({ size, written }): Work =>
        written === loaded ? { total: 0, run: () => Effect.succeed(nothing) } : { total: size, run: load(written) }
    ),
    Effect.provide(context)
  )

  return {
    name: AssetFile.provider,
    tasks: [{ name: "load", everyMillis: everySeconds * 1000, work }]
  } satisfies Provider
})
