/** `headwater backup`: a copy of a SQLite store, made while the daemon runs. */
import * as Backup from "@headwater/indexer/store/database/Backup"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Progress from "../Progress.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

/** The store is not a file. */
export class NotAFile extends Schema.TaggedError<NotAFile>()("NotAFile", { message: Schema.String }) {}

export const backup = Command.make(
  "backup",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    file: Argument.Path("file").pipe(Argument.withDescription("Where the copy goes; it must not exist yet"))
  },
  Effect.fnUntraced(function* ({ file, json }) {
    const location = Settings.storeLocation(yield* Settings.Settings)
    if (location.kind === "postgres") {
      return yield* new NotAFile({
        message: "The store is PostgreSQL: back it up by pg_dump, or by its archive of WAL"
      })
    }
    const pages = yield* Backup.pages(location.file)
    const copied = yield* Progress.track("Pages copied", pages, (advance) => Backup.copy(location.file, file, advance))
    yield* Console.log(json ? JSON.stringify({ file, bytes: copied }) : `${copied} bytes in ${file}`)
  })
).pipe(
  Command.withDescription(
    "Copy the SQLite store to a file, also while the daemon runs: the state of one moment, which `store.sqlite` can " +
      "name at once"
  ),
  Command.withShortDescription("Copy the SQLite store to a file, also while the daemon runs"),
  Command.withExamples([{ command: "headwater backup /backup/headwater-$(date +%F).db", description: "Every night" }]),
  Command.provide((input) => WithSettings.layer(input))
)
