/** Looks at the store: whether it opens, who may read it, how much room is left, whether its clock is ours. */
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Effect from "effect/Effect"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"

type About = Omit<Finding, "subject">

type Of<Part extends "file" | "server"> = NonNullable<StoreHealth.StoreHealth[Part]>

const gib = 2 ** 30
/** Less room than this stops a sync of a large chain within hours; less than the second, of any within days. */
const [roomProblem, roomWarning] = [1 * gib, 10 * gib]
const clockTolerance = 5

const room = ({ folder, free }: Of<"file">): About => {
  const message = `${(free / gib).toFixed(1)} GiB free in ${folder}`
  if (free >= roomWarning) return { level: "ok", message }
  return {
    level: free < roomProblem ? "problem" : "warning",
    message,
    advice: "make room, or move the store to a larger disk: stop the daemon, move the file, set store.sqlite"
  }
}

const readers = ({ mode, name }: Of<"file">): About =>
  (mode & 0o077) === 0
    ? { level: "ok", message: "readable for its owner alone" }
    : {
        level: "warning",
        message: `others of this machine may read ${name}, which holds secrets of subscriptions`,
        advice: `chmod 600 ${name}*`
      }

const clock = ({ clockAhead }: Of<"server">): ReadonlyArray<About> =>
  Math.abs(clockAhead) <= clockTolerance
    ? []
    : [{ level: "warning", message: `its clock is ${clockAhead} s from this machine's`, advice: "set both by NTP" }]

const findings = ({ chains, file, server }: StoreHealth.StoreHealth): ReadonlyArray<About> => [
  { level: "ok", message: `opens; ${chains} chains have blocks in it` },
  ...(server === undefined ? [] : [{ level: "ok", message: server.version } as const, ...clock(server)]),
  ...(file === undefined ? [] : [readers(file), room(file)])
]

/** Everything about the configured store. */
export const check = Effect.gen(function* () {
  const location = Settings.storeLocation(yield* Settings.Settings)
  const found = yield* Effect.map(StoreHealth.inspect(location), findings).pipe(
    Effect.provide(Store.layer),
    Effect.catch((error) =>
      Effect.succeed<ReadonlyArray<About>>([
        {
          level: "problem",
          message: error.message,
          advice: error._tag === "StoreUnavailable" ? error.advice : "see whether the store and its disk are whole"
        }
      ])
    )
  )
  return found.map((about): Finding => ({ subject: "store", ...about }))
})
