import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as Backup from "@headwater/indexer/store/database/Backup"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as StoreMove from "@headwater/indexer/store/database/StoreMove"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import pg from "pg"
import { unmigrated } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"
import * as Released from "./Released.ts"
import { fill } from "./released/fill.ts"

type SqliteLocation = Extract<Location, { kind: "sqlite" }>
type PostgresLocation = Extract<Location, { kind: "postgres" }>

const [sqlite, postgres] = unmigrated
const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))

const newFile = Effect.map(sqlite!.location, (location) => ({ ...(location as SqliteLocation), secretKeys }))
const newDatabase = Effect.suspend(() => postgres!.location as Effect.Effect<PostgresLocation, never, never>)

const open = (location: Location) => Effect.scoped(Layer.build(Database.layer(location)))
const epochOf = (location: Location) => Effect.orDie(Effect.provide(StoreEpoch.current, Database.layer(location)))

/** The tables of a file whose rows are moved as they are. */
const tablesOf = (db: Sqlite.Database) =>
  (
    db
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
      .pluck()
      .all() as ReadonlyArray<string>
  ).filter((name) => !/^(kysely_|store_)/.test(name))

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
}

/** A row of anything: no two of the same table have the same value in a column, and some have none where they may. */
const anyRow = (columns: ReadonlyArray<Column>, number: number) =>
  columns.map(({ name, notnull, pk, type }) => {
    if (notnull === 0 && pk === 0 && number % 3 === 0) return null
    switch (type.toLowerCase()) {
      case "text":
        return `${name} ${number} "quoted" \\ \u0001 é 漢 🚰${number % 2 === 0 ? "" : "\n\t"}`
      case "blob":
        return Buffer.from([number & 255, (number >> 8) & 255, (number >> 16) & 255, 0, 255, 92])
      case "double precision":
        return number / 7
      default:
        return pk > 0 || name === "balance" ? number : number * (number % 2 === 0 ? 1 : -(2 ** 20))
    }
  })

const insertAny = (db: Sqlite.Database, table: string, from: number, count: number) => {
  const columns = db.pragma(`table_info("${table}")`) as ReadonlyArray<Column>
  const names = columns.map(({ name }) => `"${name}"`).join(", ")
  const insert = db.prepare(`insert into "${table}" (${names}) values (${columns.map(() => "?").join(", ")})`)
  db.transaction(() => {
    for (let i = 0; i < count; i++) insert.run(anyRow(columns, from + i))
  })()
}

const firstAny = 10_000_000
/** The ids of keys that there are: anything else in it is a key that is missing. */
const keyTable = "secret_key"

/** Rows in every table: what a story leaves, and any others; so many in two tables that they go in several pieces. */
const template = Effect.gen(function* () {
  const from = yield* newFile
  const layers = [
    Assets.layer,
    Credits.layer,
    Domains.layer,
    RecurringTasks.layer,
    Subscriptions.layer,
    Wallets.layer
  ] as const
  yield* Effect.andThen(fill, StoreEpoch.current).pipe(
    Effect.provide(Layer.mergeAll(Accounts.layer, ...layers).pipe(Layer.provideMerge(Database.layer(from))))
  )
  const db = new Sqlite(from.file)
  db.pragma("synchronous = off")
  for (const table of tablesOf(db)) if (table !== keyTable) insertAny(db, table, firstAny, 20)
  for (const table of ["callback", "unspent_output"]) insertAny(db, table, firstAny + 100, 2_500)
  // The last ids that were given are those of rows that are gone.
  db.exec("delete from callback where id > (select max(id) - 7 from callback)")
  db.close()
  return readFileSync(from.file)
}).pipe(Effect.scoped)
let bytes: Buffer | undefined

const filled = Effect.gen(function* () {
  const from = yield* newFile
  bytes ??= yield* template
  writeFileSync(from.file, bytes)
  const db = yield* Effect.acquireRelease(
    Effect.sync(() => new Sqlite(from.file)),
    (db) => Effect.sync(() => db.close())
  )
  db.pragma("synchronous = off")
  return { db, from }
})

const comparable = (row: Record<string, unknown>) =>
  JSON.stringify(
    Object.keys(row)
      .sort()
      .map((name) => [name, row[name] instanceof Uint8Array ? Buffer.from(row[name]).toString("hex") : row[name]])
  )

/** Every row of both, read and compared by this test alone. */
const assertSame = Effect.fnUntraced(function* (db: Sqlite.Database, to: PostgresLocation) {
  const client = yield* connected(to)
  const query = (text: string) => Effect.promise(() => client.query(text))
  let rows = 0
  for (const table of tablesOf(db)) {
    // The database has columns of its own.
    const columns = (db.pragma(`table_info("${table}")`) as ReadonlyArray<{ readonly name: string }>).map(
      ({ name }) => `"${name}"`
    )
    const found = yield* query(`select ${columns.join(", ")} from "${table}"`)
    const inDatabase = found.rows.map(comparable).sort()
    const inFile = (db.prepare(`select * from "${table}"`).all() as Array<Record<string, unknown>>)
      .map(comparable)
      .sort()
    assert.isNotEmpty(inFile, table)
    assert.deepStrictEqual(inDatabase, inFile, table)
    rows += inFile.length
  }
  const serials = yield* query(
    `select table_name, pg_get_serial_sequence(table_name, column_name) as sequence
     from information_schema.columns where table_schema = 'public' and column_name = 'id'`
  )
  const counted = serials.rows.filter(({ sequence }) => sequence !== null)
  assert.isAbove(counted.length, 10)
  for (const { sequence, table_name: table } of counted) {
    const { rows } = yield* query(`select last_value, is_called from ${sequence}`)
    const last = db.prepare("select seq from sqlite_sequence where name = ?").pluck().get(table)
    assert.deepStrictEqual(rows, [{ last_value: last, is_called: true }], table)
  }
  return rows
})

const connected = (to: PostgresLocation) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const types = {
        getTypeParser: (oid: number, format?: "text") => (oid === 20 ? Number : pg.types.getTypeParser(oid, format))
      }
      const client = new pg.Client({ connectionString: Redacted.value(to.url), types: types as never })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

/** What a daemon does meanwhile: rows come, change, go, and give their names to others. */
const writer = (db: Sqlite.Database, seed: number) => {
  let state = seed
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  const tables = tablesOf(db).filter((table) => table !== keyTable)
  let next = firstAny + 1_000_000
  return () => {
    // Of a table of several pieces: what must not be there twice goes from a copied row to one that is not copied yet.
    db.prepare("update callback set id = ? where id = (select min(id) from callback)").run(next++)
    for (let i = 0; i < 20; i++) {
      const table = tables[random(tables.length)]!
      const columns = db.pragma(`table_info("${table}")`) as ReadonlyArray<Column>
      const keys = columns.filter(({ pk }) => pk > 0)
      const pick = () => {
        const order = keys.length === 0 ? "1" : keys.map(({ name }) => `"${name}"`).join(", ")
        const count = db.prepare(`select count(*) from "${table}"`).pluck().get() as number
        return db
          .prepare(`select * from "${table}" order by ${order} limit 1 offset ?`)
          .get(random(Math.max(1, count))) as Record<string, unknown>
      }
      const of = (row: Record<string, unknown>) => {
        const named = keys.length === 0 ? columns.filter(({ name }) => row[name] !== null) : keys
        return {
          where: named.map(({ name }) => `"${name}" = ?`).join(" and "),
          values: named.map(({ name }) => row[name])
        }
      }
      const row = pick()
      const { values, where } = of(row)
      const plain = columns.find(({ name, pk, type }) => pk === 0 && type === "bigint" && name !== "balance")
      const action = random(5)
      if (action === 0) insertAny(db, table, next++, 1)
      else if (action === 1 && db.prepare(`select count(*) from "${table}"`).pluck().get() !== 1) {
        db.prepare(`delete from "${table}" where ${where}`).run(values)
      } else if (action === 2 && keys.length > 0) {
        // The row's other values, with all that must not be there twice, under another key.
        const last = keys.at(-1)!
        const type = last.type.toLowerCase()
        const value = type === "blob" ? Buffer.from(`key ${next++}`) : type === "text" ? `key ${next++}` : next++
        db.prepare(`update "${table}" set "${last.name}" = ? where ${where}`).run(value, ...values)
      } else if (plain !== undefined) {
        db.prepare(`update "${table}" set "${plain.name}" = ? where ${where}`).run(next++, ...values)
      }
    }
  }
}

class Killed extends Error {}

/** Moves everything, as the command does; `at` runs at each piece. */
const moved = (from: Location, to: Location, at: () => void = () => {}) =>
  Effect.gen(function* () {
    const move = yield* StoreMove.open(from, to)
    const advance = () => Effect.sync(at)
    yield* move.copy(advance)
    at()
    yield* move.carryOver
    at()
    const differed = yield* move.compare(advance)
    at()
    yield* move.carryOver
    return { differed, ...(yield* move.finish(false)) }
  }).pipe(Effect.scoped)

describe.skipIf(postgres === undefined || !isInTurn(import.meta.url))("A move from SQLite to PostgreSQL", () => {
  it.live("brings every row of every table, with the ids, the epoch and the keys, and ends the old store", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const epoch = yield* epochOf(from)
      const { differed, rows, tables } = yield* moved(from, to)
      assert.strictEqual(differed, 0)
      assert.strictEqual(rows, yield* assertSame(db, to))
      assert.strictEqual(tables, tablesOf(db).length)

      const ended = yield* Effect.flip(open(from))
      assert.strictEqual(ended._tag, "StoreMoved")
      assert.match(ended.message, /^It was moved to PostgreSQL by headwater migrate-store, and is used no more/)
      // Nor does a command write that has opened the file before.
      assert.throws(() => db.exec("update account set name = name"), /was moved to PostgreSQL/)

      yield* open(to)
      assert.strictEqual(yield* epochOf(to), epoch)
      const fresh = yield* newDatabase
      yield* open(fresh)
      assert.deepStrictEqual(yield* Released.schemaOf(to), yield* Released.schemaOf(fresh))
      const [format] = yield* Effect.gen(function* () {
        const { query } = yield* Database
        yield* query((db) =>
          db.insertInto("reorganisation").values({ chain: 1, at: 1, fork_height: 1, depth: 1, old_hash: Buffer.of(1) })
        )
        return yield* query((db) => db.selectFrom("store_format").selectAll())
      }).pipe(Effect.provide(Database.layer(to)))
      assert.notMatch(format!.oldest_migration, /store_/)
      assert.match(
        (yield* Effect.flip(moved(from, to))).message,
        /moved already: start the daemon with the new settings/
      )
    }).pipe(Effect.scoped)
  )

  it.live("brings as much of a script as a new store keeps: PostgreSQL has no room for more in an index", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const script = randomBytes(10_000)
      for (const table of ["unspent_output", "spent_output"]) {
        db.prepare(`update ${table} set script = ? where height = (select max(height) from ${table})`).run(script)
      }
      assert.strictEqual((yield* moved(from, to)).differed, 0)
      const client = yield* connected(to)
      for (const table of ["unspent_output", "spent_output"]) {
        const { rows } = yield* Effect.promise(() =>
          client.query(`select script from ${table} where length(script) > 100`)
        )
        assert.deepStrictEqual(rows, [{ script: script.subarray(0, 1_000) }])
      }
    }).pipe(Effect.scoped)
  )

  it.live("goes on where it was, however often it is killed while the store changes", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const seed = Math.floor(Math.random() * 2 ** 31)
      const write = writer(db, seed)
      let [pieces, kills] = [0, 0]
      let result: Effect.Success<ReturnType<typeof moved>> | undefined
      // Killed at a later piece each time, before and after what the piece has written.
      for (let last = 1; result === undefined; last = Math.ceil(last * 1.5)) {
        let left = last
        const at = () => {
          pieces++
          if (left-- === 0) throw new Killed()
          write()
        }
        result = yield* moved(from, to, at).pipe(
          Effect.catchDefect((defect) => {
            if (!(defect instanceof Killed)) return Effect.die(defect)
            kills++
            return Effect.undefined
          })
        )
        if (result === undefined) {
          const refused = yield* Effect.flip(open(to))
          assert.strictEqual(refused._tag, "StoreMoved")
          assert.match(refused.message, /^Another store is being moved to it/)
          yield* open(from)
        }
      }
      yield* Effect.logInfo(`seed ${seed}: ${kills} kills at ${pieces} pieces`)
      assert.isAbove(kills, 5)
      assert.strictEqual(result.differed, 0)
      yield* assertSame(db, to)
    }).pipe(Effect.scoped)
  )

  it.live(
    "is ended by the next call where it was killed between the end of the old store and the new one's beginning",
    () =>
      Effect.gen(function* () {
        const [{ db, from }, to] = [yield* filled, yield* newDatabase]
        yield* Effect.gen(function* () {
          const move = yield* StoreMove.open(from, to)
          yield* move.copy(() => Effect.void)
          yield* move.compare(() => Effect.void)
          yield* Released.execute(
            to,
            `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'killed here'; end $$;
           create trigger refusing before update on store_format execute function refuse()`
          )
          assert.match((yield* Effect.flip(move.finish(false))).message, /killed here/)
        }).pipe(Effect.scoped)
        for (const location of [from, to]) assert.strictEqual((yield* Effect.flip(open(location)))._tag, "StoreMoved")
        yield* Released.execute(to, "drop trigger refusing on store_format; drop function refuse")
        yield* moved(from, to)
        yield* assertSame(db, to)
        yield* open(to)
      }).pipe(Effect.scoped)
  )

  it.live("finds rows that differ although no change was noted, and copies them again", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const differed = yield* Effect.gen(function* () {
        const move = yield* StoreMove.open(from, to)
        yield* move.copy(() => Effect.void)
        yield* Released.execute(
          to,
          `update credit_balance set balance = balance + 1;
           update callback set body = body || ' ' where id % 1000 = 0;
           delete from unspent_output where height % 1024 = 0;
           insert into market_task values ('zz', 1); delete from missed_blocks where chain % 2 = 0`
        )
        const differed = yield* move.compare(() => Effect.void)
        yield* move.carryOver
        // After the comparison: the small tables are compared at the end once more, the others counted, or compared on demand.
        yield* Released.execute(
          to,
          "delete from credit_balance where account = (select max(account) from credit_balance)"
        )
        assert.match(
          (yield* Effect.flip(move.finish(false))).message,
          /^Rows of credit_balance differ \(1\), the first with the key/
        )
        yield* Released.execute(
          to,
          "delete from unspent_output where height = (select max(height) from unspent_output)"
        )
        assert.strictEqual(yield* move.compare(() => Effect.void), 1)
        const error = yield* Effect.flip(move.finish(true))
        assert.match(error.message, /^Rows of unspent_output differ \(1\), the first with the key/)
        return differed
      }).pipe(Effect.scoped)
      assert.isAbove(differed, 40)
      yield* open(from)
      assert.strictEqual((yield* moved(from, to)).differed, 1)
      yield* assertSame(db, to)
    }).pipe(Effect.scoped)
  )

  it.live("carries changes over beside a daemon that writes without a pause", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      yield* Effect.gen(function* () {
        const move = yield* StoreMove.open(from, to)
        yield* move.copy(() => Effect.void)
        db.exec("update credit_balance set balance = balance + 1")
        db.exec("begin immediate")
        const carried = yield* move.carryOver
        db.exec("rollback")
        assert.isAbove(carried, 0)
        assert.strictEqual(yield* move.carryOver, 0)
      }).pipe(Effect.scoped)
      yield* moved(from, to)
      yield* assertSame(db, to)
    }).pipe(Effect.scoped)
  )

  it.live("is refused where the target holds anything else, the store is in use at the end, or a key is missing", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const refused = (source: Location, target: Location) =>
        Effect.map(Effect.flip(Effect.scoped(StoreMove.open(source, target))), ({ message }) => message)
      assert.match(yield* refused(to, to), /^The store is PostgreSQL already/)
      assert.match(yield* refused(from, from), /must name a database in store\.postgres/)
      assert.match(
        yield* refused({ ...from, file: join(dirname(from.file), "none.db") }, to),
        /There is no store .*none\.db yet/
      )

      const store = yield* newDatabase
      yield* open(store)
      assert.match(yield* refused(from, store), /is a store of its own, .* name an empty database$/)
      const others = yield* newDatabase
      yield* Released.execute(others, "create table account (id bigint)")
      assert.match(yield* refused(from, others), /give the store a new file, or an empty database$/)
      const otherKey = Redacted.make(Buffer.alloc(32, 9).toString("base64"))
      assert.match(
        yield* refused(from, { ...to, secretKeys: otherKey }),
        /^Callback secrets .* the key [0-9a-f]{12}, which is in the setting .* and not in .* of the new settings: put it there too$/
      )

      yield* Effect.gen(function* () {
        const move = yield* StoreMove.open(from, to)
        assert.match(yield* refused(from, to), /Another headwater migrate-store is at work on the database/)
        assert.match((yield* Effect.flip(move.finish(false))).message, /Not everything was copied and compared/)
        yield* move.copy(() => Effect.void)
        yield* move.compare(() => Effect.void)
        yield* Effect.gen(function* () {
          yield* StoreLock.acquire(from)
          assert.strictEqual((yield* Effect.flip(move.finish(false)))._tag, "StoreInUse")
        }).pipe(Effect.scoped)
      }).pipe(Effect.scoped)
      yield* open(from)

      // Another store, a copy of this one, and another database while the move is under way.
      const other = yield* newFile
      yield* open(other)
      assert.match(yield* refused(other, to), /holds a part of another store/)
      const copy = { ...from, file: join(dirname(from.file), "copy.db") }
      yield* Backup.copy(from.file, copy.file, () => Effect.void)
      assert.match(yield* refused(copy, to), /holds a part of another store, or of a copy of this one/)
      assert.match(yield* refused(from, yield* newDatabase), /is being moved to another database, or was/)
      yield* Effect.gen(function* () {
        db.exec("update account set name = name || '!'")
        yield* (yield* StoreMove.open(from, to)).carryOver
      }).pipe(Effect.scoped)
      db.exec("update store_move_change set id = 1 where id = (select max(id) from store_move_change)")
      assert.match(yield* refused(from, to), /The store was put back from a copy since the move began/)
      db.exec("drop trigger store_move_update_callback")
      assert.match(yield* refused(from, to), /The schema of the store was changed since the move began/)
    }).pipe(Effect.scoped)
  )

  it.live("can be cancelled: the file is a store as before, after the end with another epoch", () =>
    Effect.gen(function* () {
      const [{ db, from }, to] = [yield* filled, yield* newDatabase]
      const [schema, epoch] = [yield* Released.schemaOf(from), yield* epochOf(from)]
      assert.deepStrictEqual(yield* StoreMove.cancel(from), { isBegun: false, isMoved: false })
      const isUnderWay = Effect.provide(StoreMove.isUnderWay(from), Database.layer(from))
      assert.isFalse(yield* isUnderWay)
      yield* Effect.scoped(StoreMove.open(from, to))
      assert.isTrue(yield* isUnderWay)
      assert.isFalse(yield* Effect.provide(StoreMove.isUnderWay(to), Database.layer(from)))
      assert.notDeepEqual(yield* Released.schemaOf(from), schema)
      assert.deepStrictEqual(yield* StoreMove.cancel(from), { isBegun: true, isMoved: false })
      assert.deepStrictEqual(yield* Released.schemaOf(from), schema)
      assert.strictEqual(yield* epochOf(from), epoch)

      yield* moved(from, yield* newDatabase)
      assert.deepStrictEqual(yield* StoreMove.cancel(from), { isBegun: true, isMoved: true })
      assert.deepStrictEqual(yield* Released.schemaOf(from), schema)
      yield* open(from)
      db.exec("update account set name = name")
      assert.notStrictEqual(yield* epochOf(from), epoch)
    }).pipe(Effect.scoped)
  )
})
