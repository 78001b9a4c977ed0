/** The store in a SQLite file: one writer on a thread of its own, which takes many statements in one message. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { CompiledQuery, type ControlledTransaction, sql } from "kysely"
import { chunksOf } from "../../../Chunks.ts"
import type { DatabaseError } from "../DatabaseError.ts"
import type { Tables } from "../Tables.ts"
import type { Adapter } from "./Adapter.ts"
import type { ColumnTypes } from "./ColumnTypes.ts"
import { inChunks, rowsAtOnce } from "../Statements.ts"
import { type Connection, Current } from "./Connection.ts"
import { placeholder } from "./SqliteCompiler.ts"
import { type SqliteThreadDialect, ThreadStatement } from "./SqliteThread.ts"
import type { Statement } from "./SqliteStatement.ts"

export const columnTypes: ColumnTypes = {
  blob: "blob",
  serial: "integer primary key autoincrement",
  clustered: "without rowid",
  partitioned: false,
  first: []
}

/** A statement that only the SQLite thread knows how to run. */
const onThread = <A>(statement: Statement): CompiledQuery<A> => CompiledQuery.raw("", [new ThreadStatement(statement)])

const namedParameter = /:(\w+)/g

/** A statement with `:name` for its parameters, as the thread runs it for each row of them. */
const positional = (statement: string, parameters: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
  const names = Array.from(statement.matchAll(namedParameter), ([, name]) => name!)
  return {
    sql: statement.replace(namedParameter, placeholder),
    rows: parameters.map((row) => names.map((name) => row[name]))
  }
}

/** Answers `busy`, and no length of the log where another connection copies it just then. */
const truncation: Statement = { sql: "pragma wal_checkpoint(truncate)", parameters: [] }

const list = (values: ReadonlyArray<number | string>) => sql`(select value from json_each(${JSON.stringify(values)}))`

/** There is one writer at a time: no row needs a lock. */
const nothing = sql.raw("")

/** So many selects are made without a message to the thread, where nothing was changed yet: a message costs what some dozens do. */
const fewSelects = 16

/** The writer's dialect has the rest. */
export const make = (
  { attempt, query, read, writer }: Connection,
  { defer, isUnchanged }: Pick<SqliteThreadDialect, "defer" | "isUnchanged">
): Adapter => {
  const executeMany = <A>(statement: Statement): Effect.Effect<ReadonlyArray<A>, DatabaseError> =>
    query((db) => ({ execute: async () => (await db.executeQuery<A>(onThread(statement))).rows }))

  /** Runs a statement with the next one of the transaction; outside a transaction at once. */
  const deferred = (
    statement: (db: ControlledTransaction<Tables>) => Statement,
    now: Effect.Effect<unknown, DatabaseError>
  ) =>
    Effect.flatMap(Current, (transaction) => {
      if (transaction === undefined) return Effect.asVoid(now)
      // It would join whichever transaction comes next.
      if (transaction.isCommitted || transaction.isRolledBack) return Effect.die(new Error("The transaction has ended"))
      return Effect.sync(() => defer(statement(transaction)))
    })

  /** Runs a statement for each row: in a transaction those of all messages but the last one are answered at once. */
  const deferMany = Effect.fnUntraced(function* (
    sql: string,
    columns: ReadonlyArray<string>,
    rows: ReadonlyArray<object>
  ): Effect.fn.Return<void, DatabaseError> {
    const valuesOf = (row: object) =>
      columns.map((column) => (row as Readonly<Record<string, unknown>>)[column] ?? null)
    const statementOf = (some: ReadonlyArray<object>) => ({ sql, rows: some.map(valuesOf) })
    if (rows.length === 0) return
    if (rows.length > rowsAtOnce && (yield* Current) === undefined) {
      yield* executeMany(statementOf(rows))
      return
    }
    const messages = chunksOf(rows, rowsAtOnce)
    for (const some of messages.slice(0, -1)) yield* executeMany(statementOf(some))
    const last = statementOf(messages.at(-1)!)
    yield* deferred(() => last, executeMany(last))
  })

  /** The results of a statement, one for each row of its parameters. */
  const forEach = <A>(statement: string, parameters: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
    inChunks(parameters, (some) => executeMany<A>(positional(statement, some)), rowsAtOnce)

  /** As {@link forEach}, of a select, without a message. */
  const readEach = <A>(select: string, parameters: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
    const { rows, sql } = positional(select, parameters)
    const found = Effect.forEach(rows, (row) => {
      const one: CompiledQuery<A> = CompiledQuery.raw(sql, row)
      return read((db) => ({ compile: () => one, execute: async () => (await db.executeQuery(one)).rows }))
    })
    return Effect.map(found, (rows): ReadonlyArray<A> => rows.flat())
  }

  return {
    exclusive: true,
    partitioned: columnTypes.partitioned,
    defer: (build) =>
      deferred((db) => {
        const { parameters, sql } = build(db).compile()
        return { sql, parameters }
      }, query(build)),
    insertMany: (table, rows, conflict = "") => {
      const columns = Object.keys(rows[0] ?? {})
      const names = columns.map((column) => `"${column}"`).join(", ")
      const marks = columns.map(() => "?").join(", ")
      return deferMany(`insert into "${table}" (${names}) values (${marks}) ${conflict}`, columns, rows)
    },
    updateEach: (table, values, same = [], condition = "true") => {
      const columns = Object.keys(values[0] ?? {}).filter((column) => column !== "id")
      const set = [...columns.map((column) => `"${column}" = ?`), ...same].join(", ")
      const statement = `update "${table}" set ${set} where id = ? and ${condition}`
      return deferMany(statement, [...columns, "id"], values)
    },
    selectEach: (_types, parameters, select) =>
      Effect.suspend(() =>
        parameters.length <= fewSelects && isUnchanged() ? readEach(select, parameters) : forEach(select, parameters)
      ),
    takeEach: (table, types, keys, returning) => {
      const where = Object.keys(types).map((column) => `${column} = :${column}`)
      const statement = `delete from ${table} where ${where.join(" and ")} returning ${returning.join(", ")}`
      return forEach(statement, keys)
    },
    deleteEach: (table, types, keys) => {
      const columns = Object.keys(types)
      const where = columns.map((column) => `${column} = ?`).join(" and ")
      return deferMany(`delete from ${table} where ${where}`, columns, keys)
    },
    batch: (batch) =>
      Effect.map(
        attempt(() => writer.executeQuery(onThread<ReadonlyArray<unknown>>({ batch }))),
        ({ rows }) => rows
      ),
    // The same value again: a row would not be written where nothing in the row changes, the file's header is.
    proveWrite: Effect.asVoid(executeMany({ sql: "pragma user_version = 0", parameters: [] })),
    endSilentHolders: () => Effect.succeed(0),
    // SQLite waits for readers itself, while everybody waits for the writer: once. It does not wait for `SqliteCheckpoints`.
    emptyLog: executeMany<{ readonly busy: number; readonly log: number }>(truncation).pipe(
      Effect.repeat({
        while: ([done]) => done!.busy === 1 && done!.log < 0,
        ...{ times: 100, schedule: Schedule.spaced("100 millis") }
      }),
      Effect.asVoid
    ),
    lockRows: () => Effect.void,
    now: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    // A copy by `Backup` has no epoch, and another copy of the file cannot be told from the file.
    identity: sql`''`,
    formerIdentities: [],
    forUpdate: nothing,
    forUpdateSkipLocked: nothing,
    numbers: list,
    texts: list
  }
}
