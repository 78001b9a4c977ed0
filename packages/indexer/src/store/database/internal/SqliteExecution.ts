/** Statements on the writing connection of a SQLite file, as the thread is sent them. */
import type Database from "better-sqlite3"
import type { QueryResult } from "kysely"
import * as MessageBytes from "./MessageBytes.ts"
import type { ExecuteMany, Statement } from "./SqliteStatement.ts"

/** Statements that are run one after another, up to the first that fails; the answer is that of the last one. */
export interface Request {
  readonly id: number
  readonly packed: MessageBytes.Packed
}

export type Reply = { readonly id: number } & (
  | { readonly result: QueryResult<never>; readonly error?: undefined }
  | { readonly error: { readonly message: string; readonly code: string | undefined } }
)

/** The function that answers requests on a connection, which no other one writes through. */
export const make = (db: Database.Database): ((request: Request) => Reply) => {
  const statements = new Map<string, Database.Statement>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = db.prepare(sql)
      if (statements.size >= 200) statements.clear()
      statements.set(sql, statement)
    }
    return statement
  }

  /** All statements in one transaction, and the answer to each row; nothing is done where a row was to give one and did not. */
  const executeBatch = (batch: ReadonlyArray<ExecuteMany>): Array<ReadonlyArray<unknown>> => {
    prepare("begin immediate").run()
    try {
      const results = batch.map(({ rows, sql }) => {
        const statement = prepare(sql)
        return rows.map((row) => (statement.reader ? statement.get(row) : statement.run(row)))
      })
      const done = results.every((rows) => !rows.includes(undefined))
      prepare(done ? "commit" : "rollback").run()
      return done ? results : []
    } catch (error) {
      prepare("rollback").run()
      throw error
    }
  }

  /** Whether a transaction was begun that nobody has ended yet. */
  let isBegun = false

  /** Differs where another connection has committed since. */
  const version = db.prepare("pragma data_version").pluck()
  /** As the last transaction began; none before the first, which therefore counts as changed meanwhile. */
  let seen: unknown

  const begun = ({ ifUnchanged }: { readonly ifUnchanged?: true }) => {
    isBegun = true
    const before = seen
    seen = version.get()
    if (ifUnchanged !== true || seen === before) return
    // What follows of the transaction is refused.
    prepare("rollback").run()
    throw Object.assign(new Error("Another process has changed the store meanwhile"), { code: "ECHANGED" })
  }

  const execute = (request: Statement): QueryResult<never> => {
    if ("batch" in request) return { rows: executeBatch(request.batch) as Array<never> }
    if (request.sql === "rollback") {
      isBegun = false
      // Where `begin` or `commit` has failed there may be nothing to roll back.
      if (!db.inTransaction) return { rows: [] }
    } else if (isBegun && !db.inTransaction) {
      // After some errors, as of a full disk: who passes over one must not write the rest without a transaction.
      throw new Error("SQLite has rolled the transaction back after an earlier error")
    }
    const statement = prepare(request.sql)
    const { rows } = request
    if (rows !== undefined) {
      if (statement.reader) return { rows: rows.flatMap((row) => statement.all(row)) as Array<never> }
      let changes = 0
      const run = () => {
        for (const row of rows) changes += statement.run(row).changes
      }
      // All or none of them, and one commit for all.
      if (db.inTransaction) run()
      else db.transaction(run).immediate()
      return { rows: [], numAffectedRows: BigInt(changes) }
    }
    if (statement.reader) return { rows: statement.all(request.parameters) as Array<never> }
    const { changes, lastInsertRowid } = statement.run(request.parameters)
    if (request.sql === "begin immediate") begun(request)
    else if (request.sql === "commit") isBegun = false
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  return ({ id, packed }) => {
    try {
      let result: QueryResult<never> = { rows: [] }
      for (const statement of MessageBytes.unpack(packed)) result = execute(statement)
      return { id, result }
    } catch (error) {
      const { message, name, code = name === "Error" ? undefined : name } = error as Error & { code?: string }
      return { id, error: { message, code } }
    }
  }
}
