/** The store that the settings name, how long it keeps callbacks, and how much of it an account may take. */
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import { Database, type DatabaseError, type Location } from "@headwater/indexer/store/database/Database"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { commandName } from "./CommandName.ts"
import * as Settings from "./settings/Settings.ts"

/** The store could not be opened at the start. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  message: Schema.String,
  /** As `doctor` names what is wrong. */
  code: Schema.Literals([
    "store_unavailable",
    "file_damaged",
    "store_in_use",
    "store_too_new",
    "store_incomplete",
    "store_moved",
    "secret_key_missing"
  ]),
  /** What the operator can check. */
  advice: Schema.String
}) {}

/** What to do where the key of callback secrets is not there. */
export const secretKeyAdvice =
  "put the key back from its backup, or set store.secretKey (docs/operations.md, Callback secrets); if the key is lost, see " +
  `${commandName} secrets forget`

/** What to do where the SQLite file is damaged. */
export const damageAdvice = "stop the daemon, check the disk, and restore a backup (docs/operations.md, Backup)"

const codes = {
  StoreInUse: "store_in_use",
  StoreTooNew: "store_too_new",
  StoreIncomplete: "store_incomplete",
  StoreMoved: "store_moved"
} as const

const dayMillis = 86_400_000

const retention = ({ callbacks: { heldCount, heldDays, keepDays } }: Settings.Settings["Service"]) =>
  Layer.succeed(Retention, {
    finishedMillis: keepDays * dayMillis,
    parkedMillis: heldDays * dayMillis,
    parkedCount: heldCount
  })

/** PostgreSQL and OpenSSL name no remedy: since PostgreSQL 15 a role may create nothing in `public` by itself. */
const postgresAdvice = (message: string) =>
  /^the database has the encoding/.test(message)
    ? "the encoding of a database stays as it is: make another one, and name that in store.postgres"
    : /^permission denied/.test(message)
      ? "let the role create tables: make it the owner of the database, or grant create on the schema"
      : /^(ENOENT|EACCES)|certificate|SSL|PEM|no encryption/.test(message)
        ? "see the TLS of the store's connections: store.postgres ends with ?sslmode=verify-full, and with &sslrootcert=ca.pem " +
          "where the server's authority is your own (docs/operations.md, SQLite or PostgreSQL)"
        : "check that PostgreSQL runs, and that store.postgres names its host, user, password and database"

/** A step of an upgrade that found no room is taken back, and the ones before stay. */
const sqliteAdvice = (message: string) =>
  /is full|ENOSPC/.test(message)
    ? "make room on the file's disk, and start again: an upgrade goes on where it was"
    : "check that its folder exists and this user may write there, and that store.sqlite names the file"

const nameOf = (location: Location) => (location.kind === "sqlite" ? `the SQLite file ${location.file}` : "PostgreSQL")

/** Why a statement failed as the store was opened, and what to check. */
const ofDatabase = ({ kind }: Location, { damaged, message }: DatabaseError) =>
  damaged
    ? ({ code: "file_damaged", advice: damageAdvice } as const)
    : ({
        code: "store_unavailable",
        advice: kind === "sqlite" ? sqliteAdvice(message) : postgresAdvice(message)
      } as const)

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, (settings) => {
    const location = Settings.storeLocation(settings)
    return Database.layer(location).pipe(
      Layer.catch((error) => {
        const { advice, code } =
          error._tag === "DatabaseError"
            ? ofDatabase(location, error)
            : { code: codes[error._tag], advice: "follow the message, and try again" }
        return Layer.effect(
          Database,
          new StoreUnavailable({ message: `Cannot open ${nameOf(location)}: ${error.message}`, code, advice })
        )
      }),
      Layer.merge(retention(settings)),
      Layer.merge(Layer.succeed(Limits, settings.limits))
    )
  })
)
