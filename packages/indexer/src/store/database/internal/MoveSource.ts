/** The SQLite store that is moved, read beside the daemon that writes it. */
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { longestScript } from "../LongestScript.ts"
import * as Migrations from "./Migrations.ts"
import * as MoveJournal from "./MoveJournal.ts"
import {
  type Column,
  type ColumnType,
  keyColumns,
  keyOf,
  type MovedTable,
  textOf,
  type Value,
  type Values
} from "./MovedTable.ts"
import { attempt, make as makeFile } from "./SqliteFile.ts"

/** Rows and bytes in one piece; a piece has one row at least. */
const [pieceRows, pieceBytes] = [2_000, 4 * 2 ** 20]

const { hasTable, quote } = MoveJournal

const listOf = (columns: ReadonlyArray<Column>) => columns.map(({ name }) => quote(name)).join(", ")
/** Rows as PostgreSQL keeps them: a store that an older release has filled may have longer scripts. */
const selectFrom = ({ columns, name }: MovedTable) =>
  `select ${columns.map(({ name }) => (name === "script" ? `substr(script, 1, ${longestScript})` : quote(name))).join(", ")} from ${quote(name)}`

const types: Readonly<Record<string, ColumnType>> = {
  integer: "bigint",
  bigint: "bigint",
  text: "text",
  blob: "bytea",
  "double precision": "double precision"
}

/** Tables whose rows are not moved: what is noted of migrations and of the move, and what each store has of its own. */
const ownTables = [
  "kysely_migration",
  "kysely_migration_lock",
  "store_format",
  "store_epoch",
  "store_move",
  "store_move_change"
]

const tableOf = (db: BetterSqlite.Database, name: string, text: string): MovedTable => {
  const found = db.pragma(`table_info(${quote(name)})`) as ReadonlyArray<{ name: string; type: string; pk: number }>
  const columns = found.map((column) => {
    const type = types[column.type.toLowerCase()]
    if (type === undefined) throw new Error(`${name}.${column.name} has the type ${column.type}, which is not moved`)
    return { name: column.name, type }
  })
  const key = found
    .flatMap(({ pk }, place) => (pk > 0 ? [{ pk, place }] : []))
    .sort((a, b) => a.pk - b.pk)
    .map(({ place }) => place)
  return { name, columns, key, isSerial: /autoincrement/i.test(text) }
}

const isValueOf = (type: ColumnType, value: Value) => {
  if (value === null) return true
  if (type === "text") return typeof value === "string" && !value.includes("\0")
  if (type === "bytea") return value instanceof Uint8Array
  return type === "bigint" ? Number.isSafeInteger(value) : typeof value === "number"
}

/** The row, if each value is one that PostgreSQL keeps in the column: SQLite would keep any. */
const checked = (table: MovedTable, row: Values) => {
  const place = table.columns.findIndex(({ type }, i) => !isValueOf(type, row[i]!))
  if (place === -1) return row
  const { name, type } = table.columns[place]!
  const isText = type === "text" && typeof row[place] === "string"
  throw new Error(
    `The row ${textOf(keyOf(table, row))} of ${table.name} has ` +
      (isText ? `a NUL in ${name}, which PostgreSQL cannot keep` : `a value in ${name} that is no ${type}`)
  )
}

const bytesOf = (row: Values) =>
  row.reduce<number>(
    (sum, value) => sum + (value instanceof Uint8Array || typeof value === "string" ? value.length : 8),
    0
  )

/** Takes what a move under way has put into a file from a copy of the file; a file that was moved stays moved. */
export const forgetIn = (db: BetterSqlite.Database) => {
  if (hasTable(db, "store_move") && !isMoved(db)) clear(db)
}

const isMoved = (db: BetterSqlite.Database) =>
  db.prepare("select 1 from kysely_migration where name = ?").get(Migrations.moved) !== undefined

/** Takes everything of a move from the file, which is a store then as any other. */
const clear = (db: BetterSqlite.Database) =>
  db
    .transaction(() => {
      const triggers = db.prepare(
        "select name from sqlite_master where type = 'trigger' and name like 'store\\_move\\_%' escape '\\'"
      )
      for (const name of triggers.pluck().all() as ReadonlyArray<string>) db.exec(`drop trigger ${quote(name)}`)
      db.exec("drop table if exists store_move_change")
      if (!hasTable(db, "store_move")) return
      db.prepare("delete from kysely_migration where name = ?").run(Migrations.moved)
      db.exec(
        `update store_format set oldest_migration = m.oldest_migration, oldest_program = m.oldest_program from store_move m`
      )
      db.exec("drop table store_move")
    })
    .immediate()

const make = (db: BetterSqlite.Database) => {
  const raw = MoveJournal.statementsOf(db)
  const found = db.prepare("select name, sql from sqlite_master where type = 'table' order by name").all()
  const tables = (found as ReadonlyArray<{ name: string; sql: string }>)
    .filter(({ name }) => !name.startsWith("sqlite_") && !ownTables.includes(name))
    .map(({ name, sql }) => tableOf(db, name, sql))
  const migrations = () =>
    db.prepare("select name from kysely_migration order by name").pluck().all() as ReadonlyArray<string>

  /** The next rows of a table in the order of its key, and whether none were behind them; all rows where it has no key. */
  const piece = (
    table: MovedTable,
    after: Values | undefined
  ): { readonly rows: ReadonlyArray<Values>; readonly isLast: boolean } => {
    const columns = keyColumns(table)
    const names = listOf(columns)
    const from = selectFrom(table)
    if (columns.length === 0) {
      const rows = raw(from).all() as ReadonlyArray<Values>
      return { rows: rows.map((row) => checked(table, row)), isLast: true }
    }
    const behind = after === undefined ? "" : `where (${names}) > (${columns.map(() => "?").join(", ")})`
    const rows: Array<Values> = []
    let bytes = 0
    for (const row of raw(`${from} ${behind} order by ${names}`).iterate(...(after ?? []))) {
      rows.push(checked(table, row as Values))
      bytes += bytesOf(row as Values)
      if (rows.length >= pieceRows || bytes >= pieceBytes) return { rows, isLast: false }
    }
    return { rows, isLast: true }
  }

  /** The rows with these keys, as far as they are there. */
  const rowsOf = (table: MovedTable, keys: ReadonlyArray<Values>): ReadonlyArray<Values> => {
    const where = keyColumns(table)
      .map(({ name }) => `${quote(name)} = ?`)
      .join(" and ")
    const statement = raw(`${selectFrom(table)} where ${where}`)
    return (keys.flatMap((key) => statement.all(...key)) as ReadonlyArray<Values>).map((row) => checked(table, row))
  }

  /** The last id that a table has given; 0 where it has given none. */
  const lastId = (table: MovedTable) =>
    Number(db.prepare("select seq from sqlite_sequence where name = ?").pluck().get(table.name) ?? 0)

  return {
    tables,
    migrations,
    /** Which rows have changed since the move began. */
    journal: MoveJournal.make(db, tables, raw),
    piece,
    rowsOf,
    lastId,
    count: (table: MovedTable) => (raw(`select count(*) from ${quote(table.name)}`).get() as [number])[0],
    epoch: () => db.prepare("select epoch from store_epoch where id = 1").pluck().get() as string | undefined,
    secretKeys: () => db.prepare("select id from secret_key order by id").pluck().all() as ReadonlyArray<string>,
    isMoved: () => isMoved(db),
    /** Marks the store as moved, in the open transaction. A command that waits for its turn meanwhile changes nothing later. */
    mark: () => {
      for (const { name } of tables) {
        for (const event of ["insert", "update", "delete"]) {
          db.exec(
            `create trigger ${quote(`store_move_end_${event}_${name}`)} before ${event} on ${quote(name)} begin ` +
              "select raise(abort, 'The store was moved to PostgreSQL'); end"
          )
        }
      }
      db.prepare("insert into kysely_migration (name, timestamp) values (?, ?)").run(
        Migrations.moved,
        new Date(0).toISOString()
      )
      db.prepare("update store_format set oldest_migration = ?, oldest_program = ?").run(
        Migrations.moved,
        Migrations.movingProgram
      )
    },
    start: (kind: "deferred" | "immediate") => void db.exec(`begin ${kind}`),
    commit: () => void db.exec("commit"),
    rollback: () => {
      if (db.inTransaction) db.exec("rollback")
    }
  }
}

export type MoveSource = ReturnType<typeof make>

const opened = Effect.fnUntraced(function* (file: string) {
  yield* makeFile(file)
  return yield* Effect.acquireRelease(
    attempt(() => {
      const db = new BetterSqlite(file, { fileMustExist: true, timeout: 10_000 })
      db.pragma("synchronous = full")
      return db
    }),
    (db) => Effect.sync(() => db.close())
  )
})

/** Opens the file, which stays as it is. */
export const open = (file: string) => Effect.flatMap(opened(file), (db) => attempt(() => make(db)))

/** Takes everything of a move from the file; whether there was one, and whether it had ended. */
export const cancel = Effect.fnUntraced(function* (file: string) {
  const db = yield* opened(file)
  return yield* attempt(() => {
    const isBegun = hasTable(db, "store_move")
    const wasMoved = isMoved(db)
    clear(db)
    // What the database has given out since is not in the file.
    if (wasMoved) db.exec("delete from store_epoch")
    return { isBegun, isMoved: wasMoved }
  })
}, Effect.scoped)

/** Runs `self` while the file stays as it is for the reader, or for everybody. */
export const during = <A, E>(source: MoveSource, kind: "deferred" | "immediate", self: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    attempt(() => source.start(kind)),
    () => self,
    (_, exit) => attempt(() => (Exit.isSuccess(exit) ? source.commit() : source.rollback()))
  )
