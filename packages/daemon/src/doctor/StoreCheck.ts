/** Looks at the store: whether it opens, who may read it, how much room is left, whether its clock is ours. */
import { statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"

type About = Omit<Finding, "subject">

const gib = 2 ** 30
/** Less room than this stops a sync of a large chain within hours; less than the second, of any within days. */
const [roomProblem, roomWarning] = [1 * gib, 10 * gib]
const clockTolerance = 5

const room = Effect.fnUntraced(function* (file: string) {
  const folder = dirname(resolve(file))
  const { bavail, bsize } = yield* Effect.promise(() => statfs(folder))
  const free = bavail * bsize
  const message = `${(free / gib).toFixed(1)} GiB free in ${folder}`
  if (free >= roomWarning) return { level: "ok", message } satisfies About
  return {
    level: free < roomProblem ? "problem" : "warning",
    message,
    advice: "make room, or move the store to a larger disk: stop the daemon, move the file, set store.sqlite"
  } satisfies About
})

const readers = Effect.fnUntraced(function* (file: string) {
  const { mode } = yield* (yield* FileSystem.FileSystem).stat(file)
  return (mode & 0o077) === 0
    ? ({ level: "ok", message: "readable for its owner alone" } satisfies About)
    : ({
        level: "warning",
        message: `others of this machine may read ${file}, which holds secrets of subscriptions`,
        advice: `chmod 600 ${file}*`
      } satisfies About)
})

const postgres = Effect.gen(function* () {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectNoFrom(({ fn }) => [fn<string>("version", []).as("version"), fn<Date>("now", []).as("now")])
  )
  const skew = Math.round((row!.now.getTime() - (yield* Clock.currentTimeMillis)) / 1000)
  return [
    { level: "ok", message: row!.version.split(" on ")[0]! },
    ...(Math.abs(skew) <= clockTolerance
      ? []
      : [
          {
            level: "warning",
            message: `its clock is ${skew} s from this machine's`,
            advice: "set both by NTP"
          } as const
        ])
  ] satisfies ReadonlyArray<About>
})

/** Everything about the configured store. */
export const check = Effect.gen(function* () {
  const location = Settings.storeLocation(yield* Settings.Settings)
  const found = yield* Effect.gen(function* () {
    const { read } = yield* Database
    const chains = yield* read((db) => db.selectFrom("chain").select("id").where("height", "is not", null))
    const opens: About = { level: "ok", message: `opens; ${chains.length} chains have blocks in it` }
    if (location.kind === "postgres") return [opens, ...(yield* postgres)]
    return [opens, yield* readers(location.file), yield* room(location.file)]
  }).pipe(
    Effect.provide(Store.layer),
    Effect.catch((error) =>
      Effect.succeed<ReadonlyArray<About>>([
        {
          level: "problem",
          message: error.message,
          advice:
            location.kind === "sqlite"
              ? "see whether its folder exists and this user may write there, and what store.sqlite says"
              : "see whether PostgreSQL runs, and whether store.postgres names its host, user, password and database"
        }
      ])
    )
  )
  return found.map((about): Finding => ({ subject: "store", ...about }))
})
