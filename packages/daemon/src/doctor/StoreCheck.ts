/**
 * Checks the store: whether it opens, who may read its file, whether the file is whole, how much room is left, its server's
 * clock, what the role there may do, and what is in doubt.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as SkippedBlocks from "@headwater/indexer/store/chain/SkippedBlocks"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Effect from "effect/Effect"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"

type About = Omit<Finding, "subject">

type Of<Part extends "file" | "server"> = NonNullable<StoreHealth.StoreHealth[Part]>

const gib = 2 ** 30
/** Less room than the first stops the sync of a large chain within hours; less than the second, of any within days. */
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
    ? { level: "ok", message: "readable by its owner alone" }
    : {
        level: "warning",
        message: `other users of this machine may read ${name}, which has the secrets of subscriptions`,
        advice: `chmod 600 ${name}*`
      }

const wholeness = ({ damage, name }: Of<"file">): About => {
  if (damage === undefined) {
    return {
      level: "unknown",
      message: "too large to be looked through for damage here",
      advice: `run sqlite3 ${name} "pragma quick_check", which takes minutes`
    }
  }
  return damage.length === 0
    ? { level: "ok", message: "no damage in the file" }
    : {
        level: "problem",
        message: `the file is damaged: ${damage.join("; ")}`,
        advice: "stop the daemon, check the disk, and restore a backup (docs/operations.md, Backup)"
      }
}

const role = ({ role: { altersSchema, name, readOnly, refused, superuser } }: Of<"server">): ReadonlyArray<About> => [
  ...(readOnly
    ? [
        {
          level: "problem",
          message: "its server takes no writes",
          advice: "name the primary in store.postgres, and see that default_transaction_read_only is off"
        } as const
      ]
    : []),
  refused.length > 0
    ? {
        level: "problem",
        message: `the role ${name} may not read and write ${refused.join(", ")}`,
        advice: `grant select, insert, update, delete on all tables of the schema to ${name}, or make it their owner`
      }
    : { level: "ok", message: `the role ${name} may read and write every table` },
  ...(altersSchema
    ? []
    : [
        {
          level: "warning",
          message: `the role ${name} may not change the schema, which an upgrade does`,
          advice: `make ${name} the owner of the tables, and grant create on the schema`
        } as const
      ]),
  ...(superuser
    ? [
        {
          level: "warning",
          message: `the role ${name} is a superuser of the server`,
          advice: "use a role that owns this database alone"
        } as const
      ]
    : [])
]

const clock = ({ clockAhead }: Of<"server">): ReadonlyArray<About> =>
  Math.abs(clockAhead) <= clockTolerance
    ? []
    : [
        {
          level: "warning",
          message: `the clock of its server is ${clockAhead} s from this machine's`,
          advice: "set both clocks by NTP"
        }
      ]

const findings = ({ chains, file, server }: StoreHealth.StoreHealth): ReadonlyArray<About> => [
  { level: "ok", message: `opens; it has blocks of ${chains} chains` },
  ...(server === undefined
    ? []
    : [{ level: "ok", message: server.version } as const, ...clock(server), ...role(server)]),
  ...(file === undefined ? [] : [readers(file), wholeness(file), room(file)])
]

const missingAdvice =
  "add a node to the chain's nodes that keeps the state of these blocks (an archive node), with the same tracer"

/** Everything about the configured store, and where it stands in each of these chains. */
export const check = Effect.fn("StoreCheck.check")(function* (chains: ReturnType<typeof Settings.chains>) {
  const location = Settings.storeLocation(yield* Settings.Settings)
  const looked = Effect.gen(function* () {
    const found = [...findings(yield* StoreHealth.inspect(location))]
    const positions = new Map<string, StoredBlocks.Position>()
    for (const { chain, settings } of chains) {
      const position = yield* StoredBlocks.position(chain, settings.undoDepth)
      if (position !== undefined) positions.set(Chain.nameOf(chain), position)
      const missing = yield* MissingParts.missingInternal(chain)
      if (missing !== undefined) {
        const message = `${Chain.nameOf(chain)}: ${MissingParts.describe(chain, missing)}`
        found.push({ level: "warning", message, advice: missingAdvice })
      }
      for (const skipped of yield* SkippedBlocks.of(chain)) {
        const message = `${Chain.nameOf(chain)}: ${SkippedBlocks.describe(chain, skipped)}`
        found.push({ level: "warning", message, advice: "add a node that has them, if they are wanted" })
      }
      const partly = yield* NotUnderstood.count(chain)
      if (partly !== undefined) {
        const message = `${Chain.nameOf(chain)}: ${NotUnderstood.describe(chain, partly)}`
        found.push({ level: "warning", message, advice: "upgrade Headwater, then replay these blocks" })
      }
      const inDoubt = yield* UnresolvedEvents.count(chain)
      if (inDoubt !== undefined) {
        const message = `${Chain.nameOf(chain)}: ${UnresolvedEvents.describe(inDoubt)}`
        found.push({ level: "warning", message, advice: "set txindex=1 at one of the chain's nodes" })
      }
    }
    return { found, positions }
  })
  const { found, positions } = yield* looked.pipe(
    Effect.provide(Store.layer),
    Effect.catch((error) =>
      Effect.succeed({
        positions: new Map<string, StoredBlocks.Position>(),
        found: [
          {
            level: "problem",
            message: error.message,
            advice: error._tag === "StoreUnavailable" ? error.advice : "check the store and its disk for damage"
          }
        ] satisfies ReadonlyArray<About>
      })
    )
  )
  return { positions, findings: found.map((about): Finding => ({ subject: "store", ...about })) }
})
