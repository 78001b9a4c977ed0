/**
 * A Kysely dialect over a better-sqlite3 connection of the caller's own thread, for statements that only read. Each of
 * them is done when it returns, so nobody has to wait for the connection, and is prepared once.
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
  SqliteIntrospector,
  SqliteQueryCompiler
} from "kysely"

/** Prepared statements that are kept; texts that lists were written into make them without end. */
const maxStatements = 500

class ReadConnection implements DatabaseConnection {
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

  async executeQuery<R>({ parameters, sql }: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: this.#prepare(sql).all(parameters) as Array<R> }
  }

  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("A SQLite reader does not stream")
  }
}

class ReadDriver implements Driver {
  readonly #database: Sqlite.Database
  readonly #connection: ReadConnection

  constructor(database: Sqlite.Database) {
    this.#database = database
    this.#connection = new ReadConnection(database)
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
  async destroy() {
    this.#database.close()
  }
}

export class SqliteReaderDialect implements Dialect {
  readonly #database: Sqlite.Database
  constructor(database: Sqlite.Database) {
    this.#database = database
  }
  createDriver = () => new ReadDriver(this.#database)
  createQueryCompiler = () => new SqliteQueryCompiler()
  createAdapter = () => new SqliteAdapter()
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature
  createIntrospector = (db: Kysely<any>) => new SqliteIntrospector(db)
}
