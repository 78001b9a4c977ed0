/**
 * Access to the store. Queries are written with Kysely; effects decide when they run and which of them share a
 * transaction. The same code runs on SQLite (one writer thread, readers of their own) and on PostgreSQL.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { DatabaseError } from "./DatabaseError.ts"
import type { Adapter } from "./internal/Adapter.ts"
import * as Connection from "./internal/Connection.ts"
import * as Migrations from "./internal/Migrations.ts"
import * as PostgresAdapter from "./internal/PostgresAdapter.ts"
import * as PostgresHold from "./internal/PostgresHold.ts"
import * as PostgresServer from "./internal/PostgresServer.ts"
import * as PostgresSignals from "./internal/PostgresSignals.ts"
import * as SqliteAdapter from "./internal/SqliteAdapter.ts"
import * as SqliteFile from "./internal/SqliteFile.ts"
import * as SecretBox from "./internal/SecretBox.ts"
import { SqliteMachine } from "./internal/SqliteMachine.ts"
import { SqliteThreadDialect } from "./internal/SqliteThread.ts"
import * as WalFlush from "./internal/WalFlush.ts"
import type { Location } from "./Location.ts"
import * as PostgresUrl from "./PostgresUrl.ts"
import * as SecretKeys from "./SecretKeys.ts"
import * as Signals from "./Signals.ts"
import * as StoreFile from "./StoreFile.ts"
import * as StoreLock from "./StoreLock.ts"

export { DatabaseError } from "./DatabaseError.ts"
export type { SecretKeysUnusable } from "./SecretKeys.ts"
export { StoreTooNew, type StoreIncomplete, type StoreMoved } from "./internal/Migrations.ts"
export { ServerSilence, TransactionSilence, WaitForServer, whenAvailable } from "./internal/PostgresServer.ts"
export type { Location } from "./Location.ts"
export type { StoreInUse } from "./StoreLock.ts"

export class Database extends Context.Service<
  Database,
  Adapter & {
    /** Runs one query in the surrounding transaction, else on its own. */
    readonly query: <A>(build: Connection.Build<A>) => Effect.Effect<A, DatabaseError>
    /** As `query`, for statements that only read: until a transaction has written, they do not wait for the writer. */
    readonly read: <A>(build: Connection.Build<A>) => Effect.Effect<A, DatabaseError>
    /**
     * Runs `self` in one transaction, which commits if it succeeds; inside another one it joins that. The database is
     * provided to `self`.
     */
    readonly transaction: <A, E, R>(
      self: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | DatabaseError, Exclude<R, Database>>
    /**
     * As `transaction`, for work that may be done from its beginning twice: until it writes, nothing of it waits for the writer.
     * Where another process turns out to have changed the store meanwhile, it is undone and done again. Work that writes nothing,
     * or fails by an error of its own, may have read two states of the store.
     */
    readonly optimistic: <A, E, R>(
      self: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | DatabaseError, Exclude<R, Database>>
    /**
     * Ends when whatever was committed before survives a loss of power, as far as the location asks for that. Who answers
     * that something is stored waits for this.
     */
    readonly flush: Effect.Effect<void, DatabaseError>
    /** What the processes on the store tell one another. */
    readonly signals: Signals.Signals
    /** Callback secrets on their way into the store and out of it. */
    readonly secrets: SecretBox.SecretBox
    /** Fails once a newer program has changed the schema so that this one would go wrong on the store. */
    readonly compatible: Effect.Effect<void, DatabaseError | Migrations.StoreTooNew>
    /** What the first statement said that found the SQLite file damaged, since the store was opened. */
    readonly damage: Effect.Effect<string | undefined>
    /**
     * Ends, saying why, once another PostgreSQL server has taken the place of the one that was opened: a standby was promoted,
     * which may lack the last commits. From then on every statement fails. Whoever has remembered anything of the store
     * forgets that, and opens the store again.
     */
    readonly replaced: Effect.Effect<string>
  }
>()("@headwater/indexer/store/database/Database") {
  /** Opens the store and brings its schema up to date; on SQLite that fails where another process has the store. */
  static readonly layer = (location: Location) => Layer.effect(Database, make(location))
}

const sqlite = Effect.fnUntraced(function* (location: Extract<Location, { kind: "sqlite" }>) {
  const { cacheMegabytes } = location
  const machine = yield* SqliteMachine
  yield* SqliteFile.checkContent(location.file, SecretKeys.fileOf(location))
  yield* SqliteFile.make(location.file)
  const inPlace = yield* SqliteFile.inPlace(location.file)
  const file = StoreFile.itself(location.file)
  const options = { file, cacheMegabytes }
  const own = StoreFile.at(file)
  const thread = () => {
    // SQLite would make the file anew where somebody has moved it.
    if (StoreFile.at(file) !== own) throw new Error(`${file} is not the file that this process has opened`)
    return machine.thread(options)
  }
  const dialect = new SqliteThreadDialect(thread)
  const writer = yield* Connection.open(dialect)
  yield* Migrations.run(writer, SqliteAdapter.columnTypes, StoreLock.acquire(location))
  const reader = yield* SqliteFile.reader(options)
  const connection = Connection.make(writer, { ...reader, isAlike: dialect.isUnchanged, readAhead: dialect.readAhead })
  const flushed = location.synchronous === "normal" ? Effect.void : yield* machine.flush(file)
  const adapter = SqliteAdapter.make(connection, dialect)
  return {
    ...connection,
    ...adapter,
    // What is in a file that nobody will open again is not stored.
    flush: WalFlush.make(Effect.andThen(flushed, inPlace)),
    proveWrite: Effect.andThen(adapter.proveWrite, inPlace),
    // No other process changes the schema, or takes the store's place, while this one has the store.
    ...{ compatible: Effect.void, replaced: Effect.never },
    signals: Signals.make(connection.afterCommit)
  }
})

const postgresql = Effect.fnUntraced(function* (location: Extract<Location, { kind: "postgres" }>) {
  const { connections, url } = location
  const held = yield* Effect.gen(function* () {
    const held = yield* PostgresHold.make(yield* PostgresServer.primary(url))
    const patient = yield* Connection.open(yield* PostgresServer.dialect(held, 2))
    yield* Migrations.run(patient, PostgresAdapter.columnTypes, StoreLock.acquire(location))
    return held
  }).pipe(Effect.scoped, PostgresServer.whenAvailable)
  const silenceMillis = yield* PostgresServer.ServerSilence
  const writer = yield* Connection.open(yield* PostgresServer.dialect(held, connections, silenceMillis))
  const connection = Connection.make(writer, { db: writer })
  if (PostgresUrl.each(Redacted.value(url)).length > 1) yield* PostgresHold.watch(url, held)
  const signals = yield* PostgresSignals.make(connection, held)
  return {
    ...connection,
    ...PostgresAdapter.make(connection, held.server),
    // A commit waits for the disk, and for standbys, as far as the server's `synchronous_commit` says.
    flush: Effect.void,
    ...{ compatible: Migrations.compatible(writer), replaced: held.replaced },
    signals
  }
})

const make = Effect.fnUntraced(function* (location: Location) {
  const opened = location.kind === "sqlite" ? yield* sqlite(location) : yield* postgresql(location)
  const { optimistic, transaction, writer: _, attempt: __, afterCommit: ___, ...rest } = opened
  const database: Database["Service"] = Database.of({
    ...rest,
    secrets: SecretBox.make(location, opened, opened),
    transaction: (self) => transaction(Effect.provideService(self, Database, database)),
    optimistic: (self) => optimistic(Effect.provideService(self, Database, database))
  })
  return database
})
