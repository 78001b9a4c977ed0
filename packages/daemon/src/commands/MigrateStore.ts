/** `headwater migrate-store`: moves a SQLite store to PostgreSQL, beside the daemon up to a last short stop. */
import * as StoreMove from "@headwater/indexer/store/database/StoreMove"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { commandName, quoted } from "../CommandName.ts"
import * as Progress from "../Progress.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import * as WithSettings from "./WithSettings.ts"

/** What was asked for is not clear, or not confirmed. */
export class NotAsked extends Schema.TaggedError<NotAsked>()("NotAsked", { message: Schema.String }) {}

const sourceLocation = Effect.map(Settings.Settings, Settings.storeLocation)

/** Changes that are carried over in a moment. */
const fewChanges = 1_000
/** How often it is looked whether the daemon has stopped, and what has changed. */
const pause = "500 millis"

/** Carries over what has changed, until little changes meanwhile. */
const catchUp = Effect.fnUntraced(function* (move: StoreMove.StoreMove) {
  while (true) {
    const changes = yield* move.carryOver
    if (changes > 0) yield* Effect.logInfo(`Rows carried over that had changed: ${changes}`)
    if (changes < fewChanges) return
  }
})

/** Copies and compares what is not copied and compared yet. */
const copyAll = Effect.fnUntraced(function* (move: StoreMove.StoreMove) {
  if (move.foreign.length > 0) {
    yield* Effect.logWarning(`Tables that are none of headwater's stay behind: ${move.foreign.join(", ")}`)
  }
  if (move.keyFile !== undefined) {
    yield* Effect.logInfo(
      `The key of callback secrets was copied to ${move.keyFile}, which the daemon looks for in its working directory`
    )
  }
  yield* Progress.track("Rows copied", yield* move.left.copy, move.copy)
  yield* catchUp(move)
  const differed = yield* Progress.track("Rows compared", yield* move.left.compare, move.compare)
  if (differed > 0) yield* Effect.logWarning(`Rows that differed and were copied again: ${differed}`)
  yield* catchUp(move)
})

/** Waits until the daemon has stopped, keeps the copy close to the file meanwhile, and ends the move. */
const end = Effect.fnUntraced(function* (move: StoreMove.StoreMove, everyRow: boolean) {
  let isAsked = false
  while (true) {
    const begin = yield* Clock.currentTimeMillis
    const ended = yield* move.finish(everyRow).pipe(Effect.catchTag("StoreInUse", () => Effect.undefined))
    if (ended !== undefined) return { ...ended, millis: (yield* Clock.currentTimeMillis) - begin }
    if (!isAsked) yield* Effect.logInfo("The copy is complete. Stop the daemon now: the move ends by itself then")
    isAsked = true
    yield* move.carryOver
    yield* Effect.sleep(pause)
  }
})

const cancel = Effect.fnUntraced(function* (yes: boolean) {
  const location = yield* sourceLocation
  if (!yes) {
    return yield* new NotAsked({
      message:
        "The move would be given up: what is in the database is of no use then, and where the move has ended, whatever came " +
        "since is not in the SQLite file, and is sent again from there. Add --yes"
    })
  }
  const { isBegun, isMoved } = yield* StoreMove.cancel(location)
  yield* Console.log(
    isMoved
      ? "The SQLite file is a store again, with another epoch. See that no daemon runs on the database"
      : isBegun
        ? "The move is given up. Drop the database, or make it empty, before another one"
        : "No move was under way"
  )
})

export const migrateStore = Command.make(
  "migrate-store",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    to: Flag.File("to").pipe(
      Flag.withDescription(
        "Settings file that the daemon is to have afterwards: its store.postgres names an empty database"
      ),
      Flag.optional
    ),
    finish: Flag.Boolean("finish").pipe(
      Flag.withDescription(
        "End the move as soon as the daemon has stopped; without this flag the SQLite file stays the store"
      ),
      Flag.withDefault(false)
    ),
    everyRow: Flag.Boolean("compare-stopped").pipe(
      Flag.withDescription("With --finish: compare every row once more while the daemon is stopped"),
      Flag.withDefault(false)
    ),
    cancel: Flag.Boolean("cancel").pipe(
      Flag.withDescription("Give the move up: the SQLite file is a store as before"),
      Flag.withDefault(false)
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Confirm --cancel"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* (input) {
    if (input.cancel) return yield* cancel(input.yes)
    if (Option.isNone(input.to)) {
      return yield* new NotAsked({
        message: "--to must name the settings file that the daemon is to have afterwards, with store.postgres"
      })
    }
    const to = yield* Effect.provide(Settings.Settings, SettingsFile.layer(input.to.value))
    const opened = yield* Effect.result(StoreMove.open(yield* sourceLocation, Settings.storeLocation(to)))
    if (Result.isFailure(opened)) {
      // A command that was killed behind the end of the move is run again.
      if (opened.failure._tag !== "MovedAlready" || !input.finish) return yield* opened.failure
      return yield* Console.log(input.json ? JSON.stringify({ finished: true }) : opened.failure.message)
    }
    const move = opened.success
    yield* copyAll(move)
    if (!input.finish) {
      const next = `${commandName} migrate-store --to ${quoted(input.to.value)} --finish`
      yield* Console.log(
        input.json
          ? JSON.stringify({ finished: false })
          : move.isEnding
            ? `Everything is copied and compared. The end of the move was interrupted: neither is a store until ${next}`
            : `Everything is copied and compared, and the SQLite file is still the store.\nTo end the move: ${next}, and stop the daemon when it says so`
      )
      return
    }
    const { again, carried, millis, rows, tables } = yield* end(move, input.everyRow)
    yield* Console.log(
      input.json
        ? JSON.stringify({
            finished: true,
            tables,
            rows,
            carriedOver: carried,
            comparedStopped: again,
            stoppedMillis: millis
          })
        : [
            `The store is moved: ${rows} rows of ${tables} tables, each compared; ${again} of them once more while the daemon was ` +
              `stopped, the numbers of all. ${carried} rows were carried over last. The stop took ${(millis / 1000).toFixed(1)} s.`,
            `Start the daemon with ${input.to.value}. The SQLite file is marked as moved, and no daemon starts with it.`
          ].join("\n")
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Move the SQLite store to PostgreSQL with everything in it, while the daemon runs: copy every row, carry over what changes " +
      "meanwhile, and compare both row for row. Killed, it goes on when it is run again. With --finish it then waits until the " +
      "daemon has stopped, carries over the rest, and makes the database the store"
  ),
  Command.withShortDescription("Move the SQLite store to PostgreSQL"),
  Command.withExamples([
    { command: "headwater migrate-store --to postgres.toml", description: "Copy and compare, as often as wanted" },
    { command: "headwater migrate-store --to postgres.toml --finish", description: "The same, and end the move" },
    { command: "headwater migrate-store --cancel --yes", description: "Stay with the SQLite file" }
  ]),
  Command.provide((input) => WithSettings.layer(input))
)
