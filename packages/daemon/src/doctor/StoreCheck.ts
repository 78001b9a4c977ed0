/**
 * Checks the store: whether it opens, who may read its file, whether the file is whole, how much room is left, its server's
 * clock, what the role there may do, and what the records of chains lack.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import type { Database, DatabaseError, Location } from "@headwater/indexer/store/database/Database"
import * as SecretKeyChange from "@headwater/indexer/store/database/SecretKeyChange"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { commandName } from "../CommandName.ts"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import type { Finding, Unaddressed } from "./Finding.ts"
import type { FindingCode } from "./FindingExplanations.ts"

type Of<Part extends "file" | "server"> = NonNullable<StoreHealth.StoreHealth[Part]>

const gib = 2 ** 30
/** Less room than the first stops the sync of a large chain within hours; less than the second, of any within days. */
const [roomProblem, roomWarning] = [1 * gib, 10 * gib]
const clockTolerance = 5

const room = ({ folder, free }: Of<"file">): Unaddressed => {
  const message = `${(free / gib).toFixed(1)} GiB free in ${folder}`
  if (free >= roomWarning) return { level: "ok", message }
  return {
    level: free < roomProblem ? "problem" : "warning",
    code: "disk_space",
    message,
    advice: "make room, or move the store to a larger disk: stop the daemon, move the file, set store.sqlite"
  }
}

/** That others than the owner of a file may read what it has; undefined where they may not. `files`: whose mode is to be changed. */
const openToOthers = (mode: number, name: string, content: string, files: string): Unaddressed | undefined =>
  (mode & 0o077) === 0
    ? undefined
    : {
        level: "warning",
        code: "file_readable_by_others",
        message: `other users of this machine may read ${name}, which has ${content}`,
        advice: `chmod 600 ${files}`
      }

const readers = ({ mode, name }: Of<"file">): Unaddressed =>
  openToOthers(mode, name, "the secrets of subscriptions", `${name}*`) ?? {
    level: "ok",
    message: "readable by its owner alone"
  }

const wholeness = ({ damage, name }: Of<"file">): Unaddressed => {
  if (damage === undefined) {
    return {
      level: "unknown",
      code: "file_unchecked",
      message: "the file is too large to be read through for damage here",
      advice: `run sqlite3 ${name} "pragma quick_check", which takes minutes`
    }
  }
  return damage.length === 0
    ? { level: "ok", message: "no damage in the file" }
    : {
        level: "problem",
        code: "file_damaged",
        message: `the file is damaged: ${damage.join("; ")}`,
        advice: Store.damageAdvice
      }
}

const role = ({
  role: { altersSchema, name, readOnly, refused, superuser }
}: Of<"server">): ReadonlyArray<Unaddressed> => [
  ...(readOnly
    ? [
        {
          level: "problem",
          code: "server_read_only",
          message: "the database server takes no writes",
          advice: "name the primary in store.postgres, and see that default_transaction_read_only is off"
        } as const
      ]
    : []),
  refused.length > 0
    ? {
        level: "problem",
        code: "role_lacks_tables",
        message: `the role ${name} may not read and write ${refused.join(", ")}`,
        advice: `grant select, insert, update, delete on all tables of the schema and usage on all its sequences to ${name}, or make it their owner`
      }
    : { level: "ok", message: `the role ${name} may read and write every table` },
  ...(altersSchema
    ? []
    : [
        {
          level: "warning",
          code: "role_lacks_schema",
          message: `the role ${name} may not change the schema, which an upgrade does`,
          advice: `make ${name} the owner of the tables, and grant create on the schema`
        } as const
      ]),
  ...(superuser
    ? [
        {
          level: "warning",
          code: "role_is_superuser",
          message: `the role ${name} is a superuser of the server`,
          advice: "use a role that owns this database alone"
        } as const
      ]
    : [])
]

const clock = ({ clockAhead }: Of<"server">): ReadonlyArray<Unaddressed> =>
  Math.abs(clockAhead) <= clockTolerance
    ? []
    : [
        {
          level: "warning",
          code: "server_clock",
          message: `the clock of its server is ${clockAhead} s from this machine's`,
          advice: "set both clocks by NTP"
        }
      ]

const encoding = ({ incompleteEncoding }: Of<"server">): ReadonlyArray<Unaddressed> =>
  incompleteEncoding === undefined
    ? []
    : [
        {
          level: "warning",
          code: "server_encoding",
          message: `the database has the encoding ${incompleteEncoding}, which lacks characters that names of tokens have`,
          advice: "with the daemons stopped, pg_dump the database into one that was made with encoding UTF8"
        }
      ]

const findings = ({ chains, file, server }: StoreHealth.StoreHealth): ReadonlyArray<Unaddressed> => [
  { level: "ok", message: `opens; it has blocks of ${chains === 1 ? "1 chain" : `${chains} chains`}` },
  ...(server === undefined
    ? []
    : [{ level: "ok", message: server.version } as const, ...clock(server), ...encoding(server), ...role(server)]),
  ...(file === undefined ? [] : [readers(file), wholeness(file), room(file)])
]

/** Whether the callback secrets in the store can be read, by the ids of their keys. */
const secretKeys = Effect.fnUntraced(function* (
  location: Location
): Effect.fn.Return<ReadonlyArray<Unaddressed>, DatabaseError, Database> {
  const place = SecretKeys.placeOf(location)
  const needed = yield* SecretKeyChange.needed
  const keys = yield* Effect.result(SecretKeys.read(location))
  if (Result.isFailure(keys)) {
    return [
      { level: "problem", code: "secret_key_missing", message: keys.failure.message, advice: Store.secretKeyAdvice }
    ]
  }
  const missing = needed.filter((id) => keys.success.every((key) => key.id !== id))
  if (missing.length > 0) {
    const message = `callback secrets are encrypted with the key ${missing.join(", ")}, which is not in ${place}`
    return [{ level: "problem", code: "secret_key_missing", message, advice: Store.secretKeyAdvice }]
  }
  if (yield* BackgroundMigrations.isPending(SecretKeyChange.name)) {
    return [
      {
        level: "warning",
        code: "secrets_being_encrypted",
        message: "callback secrets are being encrypted",
        advice: `start the daemon, which goes on with that, or run ${commandName} secrets rotate`
      }
    ]
  }
  const [key] = keys.success
  if (key === undefined) return []
  const open = openToOthers((yield* SecretKeys.modeOf(location)) ?? 0, place, "the key of callback secrets", place)
  return [open ?? { level: "ok", message: `callback secrets are encrypted with the key in ${place}` }]
})

/** The daemons of the store, and chains that none of them follows. */
const placement = Effect.gen(function* () {
  const { chains, daemons } = Placements.shown(yield* Placements.read)
  const names = daemons.map(({ follows, name, version }) =>
    [`${name} (${version})`, ...(follows.length === 0 ? [] : [`follows ${follows.join(", ")}`])].join(" ")
  )
  const left = daemons.length === 0 ? [] : chains.flatMap(({ chain, daemon }) => (daemon === null ? [chain] : []))
  return [
    ...(daemons.length === 0 ? [] : [{ level: "ok", message: `its daemons: ${names.join("; ")}` } as const]),
    ...(left.length === 0
      ? []
      : [
          {
            level: "warning",
            code: "chain_without_daemon",
            message: `no daemon that runs may follow ${left.join(", ")}`,
            advice: "start one with the role follow and the chain in its settings"
          } as const
        ])
  ] satisfies ReadonlyArray<Unaddressed>
})

/** What `headwater explain` calls a gap of a chain's record. */
export const codeOfGap: Record<GapReport.Gap["kind"], FindingCode> = {
  skipped: "blocks_skipped",
  missing: "internal_transactions_missing",
  unproven: "part_unproven",
  notUnderstood: "not_understood",
  unresolved: "amounts_in_doubt"
}

/** Everything about the configured store, and where it stands in each of these chains if it opens. */
export const check = Effect.fn("StoreCheck.check")(function* (chains: ReturnType<typeof Settings.chains>) {
  const location = Settings.storeLocation(yield* Settings.Settings)
  const looked = Effect.gen(function* () {
    const found: Array<Unaddressed> = [
      ...findings(yield* StoreHealth.inspect(location)),
      ...(yield* secretKeys(location)),
      ...(yield* placement)
    ]
    const positions = new Map<string, StoredBlocks.Position>()
    for (const { chain, settings } of chains) {
      const position = yield* StoredBlocks.position(chain, settings.undoDepth)
      if (position !== undefined) positions.set(Chain.nameOf(chain), position)
      for (const { advice, kind, message } of GapReport.list(yield* GapReport.of(chain))) {
        found.push({ level: "warning", code: codeOfGap[kind], message: `${Chain.nameOf(chain)}: ${message}`, advice })
      }
    }
    return { found, positions }
  })
  const { found, positions } = yield* looked.pipe(
    Effect.provide(Store.layer),
    Effect.catch((error) =>
      Effect.succeed({
        positions: undefined,
        found: [
          {
            level: "problem",
            code: error._tag === "StoreUnavailable" ? error.code : "store_failing",
            message: error.message,
            advice: error._tag === "StoreUnavailable" ? error.advice : "check the store and its disk for damage"
          }
        ] satisfies ReadonlyArray<Unaddressed>
      })
    )
  )
  return { positions, findings: found.map((about): Finding => ({ subject: "store", ...about })) }
})
