/** The database that a store is moved to. A table `store_move` of it says how far the move is, and is gone at the end. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Kysely, type RawBuilder, sql } from "kysely"
import type { Location } from "../Location.ts"
import type { Tables } from "../Tables.ts"
import * as Connection from "./Connection.ts"
import * as Migrations from "./Migrations.ts"
import { type Column, keyColumns, type MovedTable, toJson, type Value, type Values } from "./MovedTable.ts"
import * as PostgresAdapter from "./PostgresAdapter.ts"
import * as PostgresHold from "./PostgresHold.ts"
import * as PostgresPrimary from "./PostgresPrimary.ts"
import * as PostgresServer from "./PostgresServer.ts"

type PostgresLocation = Extract<Location, { kind: "postgres" }>

const names = (columns: ReadonlyArray<Column>, table?: string) =>
  sql.join(columns.map(({ name }) => (table === undefined ? sql.ref(name) : sql.ref(`${table}.${name}`))))

/** Rows in JSON as a table. */
const recordset = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Values>, name: string) => {
  const typed = columns.map((column) => sql`${sql.ref(column.name)} ${sql.raw(column.type)}`)
  return sql`json_to_recordset(${toJson(columns, rows)}::json) as ${sql.ref(name)} (${sql.join(typed)})`
}

/** Bytes, whatever the database's own order: the order of SQLite. */
const ordered = ({ name, type }: Column) => (type === "text" ? sql`${sql.ref(name)} collate "C"` : sql.ref(name))

const bound = (columns: ReadonlyArray<Column>, key: Values) =>
  sql.join(
    columns.map(({ type }, place) => {
      const value = key[place]!
      return sql`${value instanceof Uint8Array ? Buffer.from(value) : value}::${sql.raw(type)}`
    })
  )

const matches = (columns: ReadonlyArray<Column>, one: string, other: string) =>
  sql.join(
    columns.map(({ name }) => sql`${sql.ref(`${one}.${name}`)} = ${sql.ref(`${other}.${name}`)}`),
    sql` and `
  )

const make = (connection: Connection.Connection, server: PostgresPrimary.PostgresServer) => {
  const { query, transaction } = connection
  const { identity } = PostgresAdapter.make(connection, server)
  const run = (statement: RawBuilder<unknown>) => Effect.asVoid(query(Connection.rows(statement)))
  const rowsOf = ({ columns }: MovedTable, statement: RawBuilder<unknown>) =>
    Effect.map(query(Connection.rows(statement as RawBuilder<Record<string, Value>>)), (rows) =>
      rows.map((row): Values => columns.map(({ name }) => row[name]!))
    )

  const state = Effect.map(
    query(Connection.rows(sql<{ name: string; value: string }>`select name, value from store_move`)),
    (rows) => new Map(rows.map(({ name, value }) => [name, value]))
  )
  const setState = (name: string, value: string) =>
    run(sql`
      insert into store_move (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`)

  return {
    transaction,
    state,
    setState,
    /** Whether nobody else moves a store to the database, until the connection ends. */
    claim: Effect.map(
      query(
        Connection.rows(
          sql<{ claimed: boolean }>`select pg_try_advisory_lock('store_move'::regclass::oid::bigint) as claimed`
        )
      ),
      ([row]) => row!.claimed
    ),
    /** The columns of each table. */
    columns: Effect.map(
      query(
        Connection.rows(sql<{ table: string; column: string }>`
          select table_name as "table", column_name as "column" from information_schema.columns
          where table_schema = current_schema()`)
      ),
      (rows) => Map.groupBy(rows, ({ table }) => table)
    ),
    /** Statements of the transaction go from keys to rows by the index of the key, whatever the statistics say. */
    byKeys: Effect.forEach(
      ["enable_hashjoin", "enable_mergejoin", "enable_seqscan"],
      (name) => run(sql.raw(`set local ${name} = off`)),
      { discard: true }
    ),
    /** Rows that break a rule of uniqueness are passed over: one of two rows that do has changed between their readings. */
    insert: (table: MovedTable, rows: ReadonlyArray<Values>) =>
      rows.length === 0
        ? Effect.void
        : run(sql`
            insert into ${sql.table(table.name)} (${names(table.columns)})
            select * from ${recordset(table.columns, rows, "row")} on conflict do nothing`),
    remove: (table: MovedTable, keys: ReadonlyArray<Values>) =>
      run(sql`
        delete from ${sql.table(table.name)} using ${recordset(keyColumns(table), keys, "key")}
        where ${matches(keyColumns(table), table.name, "key")}`),
    empty: (table: MovedTable) => run(sql`delete from ${sql.table(table.name)}`),
    all: (table: MovedTable) => rowsOf(table, sql`select ${names(table.columns)} from ${sql.table(table.name)}`),
    withKeys: (table: MovedTable, keys: ReadonlyArray<Values>) =>
      rowsOf(
        table,
        sql`
          select ${names(table.columns, table.name)} from ${recordset(keyColumns(table), keys, "key")}
          join ${sql.table(table.name)} on ${matches(keyColumns(table), table.name, "key")}`
      ),
    /** The rows between two keys in the order of the key: behind the first, up to the last. */
    between: (table: MovedTable, after: Values | undefined, upTo: Values | undefined, limit: number) => {
      const columns = keyColumns(table)
      const key = sql.join(columns.map(ordered))
      const bounds = [
        ...(after === undefined ? [] : [sql`(${key}) > (${bound(columns, after)})`]),
        ...(upTo === undefined ? [] : [sql`(${key}) <= (${bound(columns, upTo)})`])
      ]
      const where = bounds.length === 0 ? sql`` : sql`where ${sql.join(bounds, sql` and `)}`
      return rowsOf(
        table,
        sql`
          select ${names(table.columns)} from ${sql.table(table.name)} ${where}
          order by ${key} limit ${sql.lit(limit)}`
      )
    },
    count: (table: MovedTable) =>
      Effect.map(
        query(Connection.rows(sql<{ rows: number }>`select count(*) as rows from ${sql.table(table.name)}`)),
        ([row]) => Number(row!.rows)
      ),
    analyze: run(sql`analyze`),
    /** Gives ids from behind this one on. */
    setLastId: (table: MovedTable, id: number) =>
      id === 0 ? Effect.void : run(sql`select setval(pg_get_serial_sequence(${table.name}, 'id'), ${id})`),
    /** Lets the database be a store, with the epoch of the one that was moved. */
    open: (epoch: string | undefined) =>
      transaction(
        Effect.gen(function* () {
          const { oldest_migration, oldest_program } = Object.fromEntries(yield* state)
          yield* run(sql`
            update store_format set oldest_migration = ${oldest_migration!}, oldest_program = ${oldest_program!}`)
          yield* run(sql`delete from store_epoch`)
          if (epoch !== undefined) {
            yield* run(sql`insert into store_epoch (id, epoch, identity) values (1, ${epoch}, ${identity})`)
          }
          // As where a store gets partitions that has callbacks already.
          yield* run(sql`update past_callback_start set id = (select coalesce(max(id), 0) from callback)`)
          yield* run(sql`delete from kysely_migration where name = ${Migrations.beingFilled}`)
          yield* run(sql`drop table store_move`)
        })
      )
  }
}

export type MoveTarget = ReturnType<typeof make>

/** The epoch of a store; undefined where there is none, as in one of an older version. */
const epochOf = Effect.fnUntraced(function* (db: Kysely<Tables>) {
  const found = yield* Effect.option(Connection.attempt(() => db.selectFrom("store_epoch").select("epoch").execute()))
  return Option.getOrUndefined(found)?.[0]?.epoch
})

/** The names of the migrations of the database, before it is opened; one that has none is made fillable. */
export const open = Effect.fnUntraced(function* (location: PostgresLocation) {
  const held = yield* PostgresHold.make(yield* PostgresPrimary.primary(location.url))
  // One connection, which has the claim.
  const db = yield* Connection.open(yield* PostgresServer.dialect(held, 1))
  const applied = yield* Migrations.applied(db)
  if (applied.length === 0) yield* Migrations.makeFillable(db, PostgresAdapter.columnTypes)
  const names = yield* Migrations.applied(db)
  const isFillable = names.includes(Migrations.beingFilled)
  return {
    isFillable,
    /** Of a database that is a store. */
    epoch: isFillable ? undefined : yield* epochOf(db),
    names,
    target: make(Connection.make(db, { db }), held.server)
  }
})
