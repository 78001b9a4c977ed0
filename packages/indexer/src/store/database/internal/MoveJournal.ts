/**
 * The journal of a SQLite file that is moved: triggers note the key of each row that changes, so that a row which was copied and
 * has changed since is found without a look at the others.
 */
import type BetterSqlite from "better-sqlite3"
import { keyColumns, type MovedTable, textOf, type Value, type Values } from "./MovedTable.ts"

/** Keys in one piece of what has changed. */
const pieceKeys = 2_000
/** Notes deleted at a time: the daemon waits to write meanwhile. */
const forgottenAtOnce = 5_000

/** How a move is under way, as the file says. */
export interface Begun {
  /** A random word that the database has too. */
  readonly token: string
  /** Columns of the journal for keys. */
  readonly width: number
}

/** Rows whose keys were noted, of one table. */
export interface Changed {
  readonly table: MovedTable
  readonly keys: ReadonlyArray<Values>
}

/** A name in a statement. */
export const quote = (name: string) => `"${name}"`
const keyNames = (width: number) => Array.from({ length: width }, (_, i) => `k${i + 1}`)

/** Statements that make the triggers of a table: a key that changes is noted as before and as after. */
const triggersOf = (table: MovedTable, width: number) => {
  const columns = keyColumns(table)
  const into = `insert into store_move_change (${["table_name", ...keyNames(width)].join(", ")})`
  const noted = (row: "old" | "new") =>
    [
      `'${table.name}'`,
      ...keyNames(width).map((_, i) => (i < columns.length ? `${row}.${quote(columns[i]!.name)}` : "null"))
    ].join(", ")
  const moved = columns.map(({ name }) => `new.${quote(name)} is not old.${quote(name)}`).join(" or ")
  const note = { insert: "new", update: "old", delete: "old" } as const
  return Object.entries(note).map(
    ([event, row]) =>
      `create trigger ${quote(`store_move_${event}_${table.name}`)} after ${event} on ${quote(table.name)} begin ` +
      `${into} values (${noted(row)});` +
      (event === "update" && moved !== "" ? `${into} select ${noted("new")} where ${moved};` : "") +
      " end"
  )
}

const allTriggers = (tables: ReadonlyArray<MovedTable>, width: number) =>
  tables.flatMap((table) => triggersOf(table, width))

/** Whether the file has a table. */
export const hasTable = (db: BetterSqlite.Database, name: string) =>
  db.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined

/** A statement by its text, made once; its rows are lists of values. */
export type Statements = (text: string) => BetterSqlite.Statement

/** The statements of a connection, which prepares each text once. */
export const statementsOf = (db: BetterSqlite.Database): Statements => {
  const statements = new Map<string, BetterSqlite.Statement>()
  return (text: string) => {
    let statement = statements.get(text)
    if (statement === undefined) {
      statement = db.prepare(text)
      if (statement.reader) statement.raw(true)
      statements.set(text, statement)
    }
    return statement
  }
}

/** The journal of the tables; `raw` runs its statements. */
export const make = (db: BetterSqlite.Database, tables: ReadonlyArray<MovedTable>, raw: Statements) => {
  const begun = (): Begun | undefined => {
    if (!hasTable(db, "store_move")) return undefined
    const [token, width] = raw("select token, width from store_move").get() as [string, number]
    return { token, width }
  }

  /** Begins a move. */
  const begin = (token: string): Begun => {
    const width = Math.max(1, ...tables.map(({ key }) => key.length))
    db.transaction(() => {
      db.exec(
        `create table store_move (token text not null, width integer not null, oldest_migration text, oldest_program text)`
      )
      db.exec(`insert into store_move select '${token}', ${width}, oldest_migration, oldest_program from store_format`)
      // Keys as they are, of whichever type.
      db.exec(
        `create table store_move_change (id integer primary key, table_name text not null, ${keyNames(width).join(", ")})`
      )
      // The last note stays, so that no number is given twice.
      db.exec("insert into store_move_change (table_name) values ('')")
      for (const statement of allTriggers(tables, width)) db.exec(statement)
    }).immediate()
    return { token, width }
  }

  /** Whether every change is noted: a table that was made anew since has no triggers. */
  const isNoted = ({ width }: Begun) => {
    const there = new Set(db.prepare("select sql from sqlite_master where type = 'trigger'").pluck().all())
    return allTriggers(tables, width).every((statement) =>
      there.has(statement.replace(/^create trigger/, "CREATE TRIGGER"))
    )
  }

  const lastChange = () => (raw("select coalesce(max(id), 0) from store_move_change").get() as [number])[0]

  /** Sorts out what was noted after one note, up to another: each key once. Within a transaction. */
  const gather = (width: number, after: number, upTo: number) => {
    const names = ["table_name", ...keyNames(width)].join(", ")
    db.exec("drop table if exists temp.changed")
    db.prepare(
      `create temp table changed as select distinct ${names} from main.store_move_change
       where id > ${Number(after)} and id <= ${Number(upTo)} and table_name <> '' order by table_name`
    ).run()
    return db.prepare("select count(*) from temp.changed").pluck().get() as number
  }

  /** What was sorted out, a piece of one table at a time. */
  const gathered = function* (): Generator<Changed> {
    const next = db.prepare("select rowid, * from temp.changed where rowid > ? order by rowid limit ?").raw(true)
    let last = 0
    while (true) {
      const rows = next.all(last, pieceKeys) as ReadonlyArray<[number, string, ...Array<Value>]>
      if (rows.length === 0) return
      last = rows.at(-1)![0]
      for (const [name, some] of Map.groupBy(rows, ([, name]) => name)) {
        const table = tables.find((table) => table.name === name)
        if (table === undefined) throw new Error(`A change of the table ${name} was noted, which is not there`)
        yield { table, keys: some.map((row) => row.slice(2, 2 + table.key.length) as Array<Value>) }
      }
    }
  }

  /** The keys of a table that were noted after a note. */
  const changedSince = (table: MovedTable, width: number, after: number): ReadonlySet<string> => {
    const names = keyNames(width).slice(0, table.key.length)
    const select = `select ${["''", ...names].join(", ")} from store_move_change where id > ? and table_name = ?`
    return new Set((raw(select).all(after, table.name) as ReadonlyArray<Values>).map((row) => textOf(row.slice(1))))
  }

  /** Notes rows as changed, so that they are carried over again. */
  const note = (table: MovedTable, width: number, keys: ReadonlyArray<Values>) => {
    const names = keyNames(width)
    const insert = raw(
      `insert into store_move_change (table_name, ${names.join(", ")}) values (?, ${names.map(() => "?").join(", ")})`
    )
    db.transaction(() => {
      for (const key of keys) insert.run(table.name, ...names.map((_, i) => key[i] ?? null))
    }).immediate()
  }

  /** Forgets the notes before this one. */
  const forget = (before: number) => {
    while (true) {
      const { changes } = raw(
        `delete from store_move_change where id < ? and id in (select id from store_move_change order by id limit ${forgottenAtOnce})`
      ).run(before)
      if (changes < forgottenAtOnce) return
    }
  }

  return { begun, begin, isNoted, lastChange, gather, gathered, changedSince, note, forget }
}
