/**
 * Brings the schema up to date: every migration once, in the order of its name, on both databases. A migration and the
 * note that it was applied are one transaction, so a process that is killed leaves the schema before or after it.
 *
 * How a migration is written:
 * - It only changes the schema, and lasts no longer than the making of an index. On PostgreSQL a column of callbacks is one of
 *   `every_callback`, whose partitions have it then.
 * - A program that does not know the migration still runs on the store, as with any table or column that is only added:
 *   daemons of both releases share the store while they are upgraded one after another, and an older one may be started
 *   again. Where such a program would go wrong, the migration ends with
 *   `update store_format set oldest_migration = '0012_its_name', oldest_program = '0.3.0'`, the release that brings it:
 *   older daemons stop then. So what is removed goes one release after the last one that needs it (`Migrations.test.ts`).
 * - Stored rows that must change are rewritten behind it, beside the work of the daemon: the migration leaves a row in
 *   `background_migration` (`select 'its name', 0, coalesce(max(id), 0) from …`), and `BackgroundMigrations.ts` says how
 *   a range of ids is rewritten. Until the end of that a program reads both forms of a row, and writes the new one alone.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { CompiledQuery, type Kysely, sql } from "kysely"
import { type Migration, type MigrationResultSet, Migrator } from "kysely/migration"
import { DatabaseError } from "../DatabaseError.ts"
import * as migrations from "../migrations/migrations.ts"
import { StoreInUse } from "../StoreLock.ts"
import type { Tables } from "../Tables.ts"
import type { ColumnTypes } from "./ColumnTypes.ts"
import { attempt } from "./Connection.ts"

/** The migrations of a program that is newer than this one: none but in tests of both side by side. */
export const NewerMigrations = Context.Reference<
  Readonly<Record<string, { readonly up: (types: ColumnTypes) => ReadonlyArray<string> }>>
>("@headwater/indexer/store/database/internal/Migrations/NewerMigrations", { defaultValue: () => ({}) })

const withNewer = Effect.map(NewerMigrations, (newer) => ({ ...migrations, ...newer }))

/** The last migration of release 0.1, whose migrations were no transactions on SQLite. */
const lastOfFirstRelease = "0009_replay"
/** What both databases say of a table, an index or a column that is there. */
const existsAlready = /already exists|duplicate column/

/** For five seconds another process may be making an empty store; after them it counts as one that stays. */
const tries = { schedule: Schedule.spaced("100 millis"), times: 50 }

/**
 * What a move to PostgreSQL leaves among the names of the migrations, so that every program refuses the store: one that knows
 * nothing of moves as well, by `store_format`. The file that was moved, and the database as long as it is being filled.
 */
export const moved = "store_moved"
export const beingFilled = "store_being_filled"
/** The oldest program that knows these names, for the message of others. */
export const movingProgram = "0.2.0"

/** Makes a database that is to be filled from another store; on a database with anything of a store, nothing is done. */
const fillable: Migration = {
  up: async (db) => {
    const statements = [
      "create table store_move (name text primary key, value text not null)",
      "insert into store_move (name, value) select 'oldest_migration', oldest_migration from store_format",
      "insert into store_move (name, value) select 'oldest_program', oldest_program from store_format",
      `update store_format set oldest_migration = '${beingFilled}', oldest_program = '${movingProgram}'`
    ]
    for (const statement of statements) await db.executeQuery(CompiledQuery.raw(statement))
  }
}

/** The names of the migrations that this program knows. */
export const known: ReadonlyArray<string> = Object.keys(migrations)

/** The names of the migrations that were applied. */
export const applied = (db: Kysely<Tables>) =>
  attempt(() => sql<{ readonly name: string }>`select name from kysely_migration`.execute(db)).pipe(
    Effect.map(({ rows }) => rows.map(({ name }) => name)),
    Effect.catchIf(
      (error) => error.missingTable,
      () => Effect.succeed<ReadonlyArray<string>>([])
    )
  )

/** Fails where a newer program has changed the schema so that this program would go wrong on it. */
export const checkFormat = Effect.fnUntraced(function* (db: Kysely<Tables>, names: ReadonlyArray<string>) {
  if (names.includes(moved)) return yield* new StoreMoved({ where: "old" })
  if (names.includes(beingFilled)) return yield* new StoreMoved({ where: "new" })
  const own = yield* withNewer
  if (names.every((name) => name in own)) return
  yield* compatible(db)
})

/** As {@link checkFormat}, of a store whose schema was up to date: a newer program may have been started meanwhile. */
export const compatible = Effect.fnUntraced(function* (db: Kysely<Tables>) {
  const own = yield* withNewer
  const [format] = yield* attempt(() => db.selectFrom("store_format").selectAll().execute())
  if (format === undefined || format.oldest_migration in own) return
  return yield* new StoreTooNew({ program: format.oldest_program })
})

/** The migrations that are not among these names, in their order, with their statements. */
export const pending = (names: ReadonlyArray<string>, types: ColumnTypes) =>
  Effect.map(withNewer, (own) =>
    Object.entries(own)
      .filter(([name]) => !names.includes(name))
      .map(([name, { up }]) => [name, up(types)] as const)
  )

/** Behind the migrations of this number, daemons may be upgraded one after another: before it, chains had no fence. */
export const lastBeforeRolling = "0069"

/**
 * Whether a column or a table was gone that PostgreSQL's catalogue had shown: Kysely reads it before its lock, while another
 * process may be migrating. No migration was begun then.
 */
const isChangedMeanwhile = ({ error, results }: MigrationResultSet) =>
  results === undefined && /^(42703|42P01|XX000)$/.test((error as { readonly code?: string } | undefined)?.code ?? "")

/** Applies what is pending. On PostgreSQL Kysely lets one process at a time do that. */
const migrate = Effect.fnUntraced(function* (
  db: Kysely<Tables>,
  types: ColumnTypes,
  names: ReadonlyArray<string>,
  more: Record<string, Migration> = {}
): Effect.fn.Return<void, DatabaseError | StoreIncomplete> {
  const own = Object.fromEntries(
    Object.entries(yield* withNewer).map(([name, { up }]): [string, Migration] => [
      name,
      {
        up: async (transaction) => {
          for (const statement of up(types)) await transaction.executeQuery(CompiledQuery.raw(statement))
        }
      }
    ])
  )
  if (names.length === 0) {
    for (const statement of types.first) yield* attempt(() => db.executeQuery(CompiledQuery.raw(statement)))
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...own, ...more }) } })
  // A transaction for each. An empty store, which nobody waits for, is made in one: Kysely reads the catalogue each time.
  const steps =
    names.length === 0
      ? [() => migrator.migrateToLatest()]
      : (yield* pending(names, types)).map(() => () => migrator.migrateUp())
  for (const step of steps) {
    const { error, results = [] } = yield* Effect.repeat(attempt(step), { ...tries, while: isChangedMeanwhile })
    if (error === undefined) continue
    const migration = results.find(({ status }) => status === "Error")?.migrationName
    return yield* migration !== undefined && migration <= lastOfFirstRelease && existsAlready.test(String(error))
      ? new StoreIncomplete({ migration, cause: error })
      : new DatabaseError({ cause: error })
  }
})

/** Brings the schema up to date where it is behind, which takes `lock`: a process that has the store may not notice. */
export const run = Effect.fnUntraced(
  function* (
    db: Kysely<Tables>,
    types: ColumnTypes,
    lock: Effect.Effect<void, StoreInUse | DatabaseError, Scope.Scope>
  ) {
    const names = yield* applied(db)
    yield* checkFormat(db, names)
    if (Object.keys(yield* withNewer).every((name) => names.includes(name))) return
    yield* Effect.scoped(Effect.andThen(lock, migrate(db, types, names)))
  },
  Effect.retry({ ...tries, while: ({ _tag }) => _tag === "StoreInUse" }),
  Effect.catchTag(
    "StoreInUse",
    ({ message }) => new StoreInUse({ message: `Its schema is to be brought up to date first. ${message}` })
  )
)

/** Makes the schema in an empty database, which no program but the move serves from until the move ends. */
export const makeFillable = (db: Kysely<Tables>, types: ColumnTypes) =>
  migrate(db, types, [], { [beingFilled]: fillable })

/** The store was moved, or is the half of one that another store is being moved to. */
export class StoreMoved extends Schema.TaggedError<StoreMoved>()("StoreMoved", {
  where: Schema.Literals(["old", "new"])
}) {
  override get message() {
    return this.where === "old"
      ? "It was moved to PostgreSQL by headwater migrate-store, and is used no more: let the settings name that database. Where " +
          "the move is to count for nothing, headwater migrate-store --cancel makes the file a store again"
      : "Another store is being moved to it by headwater migrate-store, and not everything is there: end the move by " +
          "headwater migrate-store --finish, and let the settings name the SQLite file until then"
  }
}

/** A newer program has changed the store so that this one would go wrong on it. */
export class StoreTooNew extends Schema.TaggedError<StoreTooNew>()("StoreTooNew", {
  /** The oldest program that may run on the store. */
  program: Schema.String
}) {
  override get message() {
    return (
      `A newer headwater has brought its schema up to date, and headwater ${this.program} is the oldest that may run on ` +
      "it: install that or a newer one, or restore the backup from before the upgrade"
    )
  }
}

/** The store has tables that no migration has made as a whole. */
export class StoreIncomplete extends Schema.TaggedError<StoreIncomplete>()("StoreIncomplete", {
  migration: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return (
      `Migration ${this.migration} cannot be applied, ${(this.cause as Error).message}. Either headwater 0.1 was killed at ` +
      "its first start on this store, before anything was stored, or the tables belong to another program: give the " +
      "store a new file, or an empty database"
    )
  }
}
