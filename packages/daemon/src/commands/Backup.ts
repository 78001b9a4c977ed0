/** `headwater backup`: a copy of a SQLite store, made while the daemon runs. */
import { existsSync } from "node:fs"
import * as Backup from "@headwater/indexer/store/database/Backup"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Size from "../internal/Size.ts"
import * as Progress from "../Progress.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

export const backup = Command.make(
  "backup",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    file: Argument.Path("file").pipe(Argument.withDescription("File to write, which must not exist yet"))
  },
  Effect.fnUntraced(function* ({ file, json }) {
    const location = Settings.storeLocation(yield* Settings.Settings)
    const store = yield* Backup.fileOf(location)
    const pages = yield* Backup.pages(store)
    const bytes = yield* Progress.track("Pages copied", pages, (advance) => Backup.copy(store, file, advance))
    if (yield* Effect.sync(() => existsSync(SecretKeys.fileOf(location)))) {
      yield* Console.error(
        `Callback secrets in the copy need the key in ${SecretKeys.fileOf(location)}: back that up apart`
      )
    }
    yield* Console.log(json ? JSON.stringify({ file, bytes }) : `The copy is ${file}, ${Size.describe(bytes)}`)
  })
).pipe(
  Command.withDescription(
    "Copy the SQLite store to a file, also while the daemon runs. The copy is the state of one moment, and `store.sqlite` " +
      "can name the copy at once"
  ),
  Command.withShortDescription("Copy the SQLite store to a file, also while the daemon runs"),
  Command.withExamples([{ command: "headwater backup /backup/headwater-$(date +%F).db", description: "Every night" }]),
  Command.provide((input) => WithSettings.layer(input))
)
