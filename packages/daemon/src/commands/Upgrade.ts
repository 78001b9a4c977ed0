/** `headwater upgrade`: what the start of this version would do to the store, and what an operator does before it. */
import type { Location } from "@headwater/indexer/store/database/Database"
import * as UpgradeReport from "@headwater/indexer/store/database/UpgradeReport"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import * as Screen from "../internal/Screen.ts"
import * as Size from "../internal/Size.ts"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import { version } from "../Version.ts"
import * as WithSettings from "./WithSettings.ts"

/** Something stands in the way. It is printed already: only the exit code is left to set. */
export class InTheWay extends Schema.TaggedError<InTheWay>()("InTheWay", { count: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
}

/** An upgrade was asked for, which the package manager does. */
export class NotByHeadwater extends Schema.TaggedError<NotByHeadwater>()("NotByHeadwater", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
}

/** A result of the check. */
interface Checked {
  readonly level: "ok" | "note" | "obstacle"
  readonly message: string
}

const ok = (message: string): Checked => ({ level: "ok", message })
const note = (message: string): Checked => ({ level: "note", message })
const obstacle = (message: string): Checked => ({ level: "obstacle", message })

const rowsText = ({ more, rows, table }: UpgradeReport.Rows) =>
  `${more ? "more than " : ""}${rows} ${rows === 1 ? "row" : "rows"} of ${table}`

/** Of each table once. */
const rowsOf = (pending: UpgradeReport.UpgradeReport["pending"], part: "atStart" | "behind") => [
  ...new Map(pending.flatMap((migration) => migration[part]).map((rows) => [rows.table, rows])).values()
]

/** Bytes that a row with its indexes takes anew, at most: rows of wallets and callbacks are the largest. */
const bytesOfRow = 1_024

/** Bytes that the migrations may need; all of the store again where more rows are touched than were counted. */
const neededBytes = ({ bytes, pending }: UpgradeReport.UpgradeReport) => {
  const rows = [...rowsOf(pending, "atStart"), ...rowsOf(pending, "behind")]
  return rows.some(({ more }) => more) ? bytes : rows.reduce((sum, { rows }) => sum + rows * bytesOfRow, 0)
}

const ofMigrations = ({ pending, unfinished }: UpgradeReport.UpgradeReport): ReadonlyArray<Checked> => {
  const left = unfinished.map((name) => note(`the daemon has yet to end an earlier rewriting of rows: ${name}`))
  if (pending.length === 0) return [ok("the store has the schema of this version: no migration is pending"), ...left]
  const [atStart, behind] = [rowsOf(pending, "atStart"), rowsOf(pending, "behind")]
  return [
    note(
      pending.length === 1
        ? `1 migration is pending, ${pending[0]!.name}; the first program that opens the store runs it`
        : `${pending.length} migrations are pending, ${pending[0]!.name} to ${pending.at(-1)!.name}; ` +
            "the first program that opens the store runs them"
    ),
    atStart.length === 0
      ? ok("none of them goes through stored rows before the start: they take seconds")
      : note(`before the start, they go through ${atStart.map(rowsText).join(", ")}`),
    ...(behind.length === 0
      ? []
      : [
          note(
            `beside the daemon's work, ${behind.map(rowsText).join(", ")} are rewritten; the log says how far that is`
          )
        ]),
    ...(pending.some(({ final }) => final)
      ? [note("no older version runs on the store afterwards: the way back is the backup")]
      : []),
    ...left
  ]
}

const ofDisk = (report: UpgradeReport.UpgradeReport): ReadonlyArray<Checked> => {
  const { bytes, free, pending } = report
  if (pending.length === 0) return []
  const needed = neededBytes(report)
  if (needed === 0) return [ok(`the store has ${Size.describe(bytes)}, and needs no more room on its disk`)]
  if (free === undefined) {
    return [
      note(
        `the database has ${Size.describe(bytes)}: see that its server has ${Size.describe(needed)} free on its disk`
      )
    ]
  }
  const message = `the store has ${Size.describe(bytes)}; ${Size.describe(free)} are free beside it, and up to ${Size.describe(needed)} are needed`
  return [free < needed ? obstacle(`${message}: make room`) : ok(message)]
}

/** A SQLite file is one daemon's alone; who else is connected to a PostgreSQL database may be no daemon, or one of its peers. */
const ofUse = (location: Location, { inUse, oneByOne, pending }: UpgradeReport.UpgradeReport): Checked => {
  if (inUse === undefined) return ok("no daemon has the store open")
  if (location.kind === "sqlite") return obstacle(`${inUse}: stop every daemon before this version starts`)
  if (pending.length === 0) return ok(`${inUse}; the next start of this version changes nothing of its schema`)
  return oneByOne
    ? ok(`${inUse}: the daemons may go on, since the migrations only add`)
    : note(`${inUse}: stop every daemon before this version starts`)
}

const ofKeys = ({ withoutKeys }: UpgradeReport.UpgradeReport): ReadonlyArray<Checked> =>
  withoutKeys === undefined
    ? []
    : [obstacle(`${withoutKeys}, without which this version does not start: ${Store.secretKeyAdvice}`)]

const ofEncoding = ({ incompleteEncoding }: UpgradeReport.UpgradeReport): ReadonlyArray<Checked> =>
  incompleteEncoding === undefined
    ? []
    : [
        obstacle(
          `the database has the encoding ${incompleteEncoding}, which lacks characters that names of tokens have: make it ` +
            "with encoding 'UTF8' template template0"
        )
      ]

/** Where no store is yet: of a SQLite file the folder has to be there, and this user may write to it. */
const ofAbsence = Effect.fnUntraced(function* (location: Location) {
  if (location.kind === "postgres") return ok("there is no store yet: the first start makes it")
  const path = yield* Path.Path
  const file = path.resolve(location.file)
  const folder = yield* Effect.result((yield* FileSystem.FileSystem).access(path.dirname(file), { writable: true }))
  return folder._tag === "Success"
    ? ok(`there is no store yet: the first start makes ${file}`)
    : obstacle(
        `there is no store yet, and ${file} cannot be made: see that its folder exists and this user may write there, ` +
          "and that store.sqlite names the file"
      )
})

const start = `Start this version: ${commandName} serve`

/** What an operator does, in order. */
const nextOf = (location: Location, report: UpgradeReport.UpgradeReport) => {
  if (report.tooNew !== undefined) return ["Do what the message says"]
  if (report.incompleteEncoding !== undefined) return ["Name another database in store.postgres"]
  if (report.pending.length === 0) {
    const stop = location.kind === "sqlite" && report.inUse !== undefined ? ["Stop the daemon of the store"] : []
    return [...stop, start]
  }
  if (report.oneByOne) {
    return [
      "Back up: pg_dump; and the file of the key, where there is one",
      `Stop a daemon, start this version in its place (${commandName} serve), and wait until it is ready; then the next one`,
      `Look: ${commandName} status, ${commandName} doctor`
    ]
  }
  return [
    "Stop every daemon of the store",
    location.kind === "sqlite"
      ? `Back up, with the version that the store is of: ${commandName} backup <file>; and the file of the key, where there is one`
      : "Back up: pg_dump; and the file of the key, where there is one",
    start,
    `Look: ${commandName} status, ${commandName} doctor`
  ]
}

/** Everything that can be looked at without a change to the store. */
const check = Effect.fnUntraced(function* (file: string | undefined) {
  const settings = yield* Effect.result(Effect.provide(Settings.Settings, SettingsFile.layer(file)))
  if (settings._tag === "Failure") {
    const { failure } = settings
    if (failure._tag !== "InvalidSettings") return yield* failure
    const checked = failure.problems.map((problem) => {
      const text = SettingsFile.describe(problem)
      return obstacle(problem.path === failure.source ? text : `${failure.source}: ${text}`)
    })
    return {
      checked,
      report: undefined,
      next: ["Correct the settings, and run this again: the store is looked at then"]
    }
  }
  const location = Settings.storeLocation(settings.success)
  const usable = ok("the settings can be used by this version")
  const read = yield* Effect.result(UpgradeReport.read(location))
  if (read._tag === "Failure") {
    const checked = [usable, obstacle(`the store cannot be read: ${read.failure.message}`)]
    return { checked, report: undefined, next: [`See that the store can be opened: ${commandName} doctor`] }
  }
  const report = read.success
  if (report === undefined) {
    const absence = yield* ofAbsence(location)
    const next = absence.level === "ok" ? [start] : [`See that the store can be made: ${commandName} doctor`]
    return { checked: [usable, absence], report, next }
  }
  const checked =
    report.tooNew === undefined
      ? [
          usable,
          ofUse(location, report),
          ...ofKeys(report),
          ...ofEncoding(report),
          ...ofMigrations(report),
          ...ofDisk(report)
        ]
      : [usable, obstacle(report.tooNew)]
  return { checked, report, next: nextOf(location, report) }
})

const marks = { ok: ["ok", "green"], note: ["note", "yellow"], obstacle: ["OBSTACLE", "red"] } as const

export const upgrade = Command.make(
  "upgrade",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Look at settings, store and disk, and change nothing"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    if (!input.check) {
      return yield* new NotByHeadwater({
        message:
          "npm upgrades the package: npm install @headwater/daemon@latest, or the checkout or image of the new version.\n" +
          `  The order: ${commandName} upgrade --check with the new version, stop, ${commandName} backup, start`
      })
    }
    const { checked, next, report } = yield* check(Option.getOrUndefined(input.config))
    const obstacles = checked.filter(({ level }) => level === "obstacle")
    const screen = yield* Screen.output
    yield* Console.log(
      input.json
        ? JSON.stringify({ version, ok: obstacles.length === 0, checked, store: report ?? null, next })
        : [
            screen.bold(`headwater ${version}`),
            ...checked.map(({ level, message }) => {
              const [text, colour] = marks[level]
              return Screen.wrap(message, screen.width, `  ${text.padEnd(9)}`).replace(text, screen[colour](text))
            }),
            screen.bold("Next"),
            ...next.map((step, index) => Screen.wrap(step, screen.width, `  ${index + 1}. `))
          ].join("\n")
    )
    if (obstacles.length > 0) return yield* new InTheWay({ count: obstacles.length })
  })
).pipe(
  Command.withDescription(
    "Say what the start of this version would do to the store, and what to do before it; nothing is changed. The exit code " +
      "is 0 where nothing stands in the way, else 1"
  ),
  Command.withShortDescription("Say what this version would do to the store at its start"),
  Command.withExamples([
    { command: "headwater upgrade --check", description: "Before a daemon of a new version starts" }
  ])
)
