/**
 * Statements that only read, over a better-sqlite3 connection of the caller's own thread. Each of them is prepared once,
 * and is done when it returns, so nobody has to wait for the connection or for an answer. The Kysely dialect is for what
 * is asked through Kysely itself all the same.
 */
import type Sqlite from "better-sqlite3"
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector
} from "kysely"
import { SqliteCompiler } from "./SqliteCompiler.ts"

/** Prepared statements that are kept; texts that lists were written into make them without end. */
const maxStatements = 500

/** A connection; whoever has opened the database closes it. */
export class SqliteReader implements DatabaseConnection {
  readonly #database: Sqlite.Database
  readonly #statements = new Map<string, Sqlite.Statement>()

  constructor(database: Sqlite.Database) {
    this.#database = database
  }

  #prepare(sql: string) {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      if (this.#statements.size >= maxStatements) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** What a query finds. */
  rowsOf<R>({ parameters, sql }: CompiledQuery): Array<R> {
    return this.#prepare(sql).all(parameters) as Array<R>
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: this.rowsOf(query) }
  }

  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("A SQLite reader does not stream")
  }
}

class ReadDriver implements Driver {
  readonly #connection: SqliteReader

  constructor(connection: SqliteReader) {
    this.#connection = connection
  }
  async init() {}
  async acquireConnection() {
    return this.#connection
  }
  async releaseConnection() {}
  async beginTransaction() {
    throw new Error("A SQLite reader has no transactions")
  }
  async commitTransaction() {}
  async rollbackTransaction() {}
  async destroy() {}
}

export class SqliteReaderDialect implements Dialect {
  readonly #connection: SqliteReader
  constructor(connection: SqliteReader) {
    this.#connection = connection
  }
  createDriver = () => new ReadDriver(this.#connection)
  createQueryCompiler = () => new SqliteCompiler()
  createAdapter = () => new SqliteAdapter()
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature
  createIntrospector = (db: Kysely<any>) => new SqliteIntrospector(db)
}
