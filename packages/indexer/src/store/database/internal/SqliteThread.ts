/**
 * A Kysely dialect that runs better-sqlite3 on a thread of its own, so that long writes never hold up the event loop
 * that asked for them. The one connection is lent to one caller at a time.
 */
import * as Result from "effect/Result"
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
import * as MessageBytes from "./MessageBytes.ts"
import type { Request } from "./SqliteExecution.ts"
import type { Thread } from "./SqliteMachine.ts"
import type { Statement } from "./SqliteStatement.ts"

/** As the only parameter of a query: the statement that is run in place of the query's own. */
export class ThreadStatement {
  readonly statement: Statement
  constructor(statement: Statement) {
    this.statement = statement
  }
}

const begin: Statement = { sql: "begin immediate", parameters: [] }
const beginUnchanged: Statement = { ...begin, ifUnchanged: true }

const begins = (statement: Statement | undefined) => statement === begin || statement === beginUnchanged

const onlyReads = (statement: Statement) =>
  begins(statement) || (!("batch" in statement) && /^\s*select\b/i.test(statement.sql))

class ThreadConnection implements DatabaseConnection {
  readonly #thread: Thread
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the type of its own rows
  readonly #pending = new Map<number, PromiseWithResolvers<QueryResult<any>>>()
  #nextId = 0
  #failure: Error | undefined
  #closing = false
  /** These go before the next statement. */
  #deferred: Array<Statement> = []
  /** The message that begins the open transaction, as long as the transaction changes nothing. */
  #beginning: number | undefined
  #isUnchanged = false

  constructor(thread: Thread) {
    this.#thread = thread
    this.#thread.unref()
    this.#thread.on("message", (reply) => {
      const pending = this.#pending.get(reply.id)
      // The end of the thread may come before its last answer, and has failed the statement.
      if (pending === undefined) return
      this.#pending.delete(reply.id)
      if (reply.id === this.#beginning) this.#isUnchanged = true
      // SQLite may have rolled back, and let others write.
      if (reply.error !== undefined) this.#change()
      // A statement that nobody waits for any more may answer while the thread ends, which the process has to wait for.
      if (this.#pending.size === 0 && !this.#closing) this.#thread.unref()
      if (reply.error === undefined) pending.resolve(reply.result)
      else pending.reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }))
    })
    this.#thread.on("error", (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#thread.on("exit", () => this.#fail(new Error("The SQLite thread has stopped")))
  }

  #fail(error: Error) {
    this.#failure ??= error
    // SQLite has rolled back, and lets others write.
    this.#change()
    for (const pending of this.#pending.values()) pending.reject(this.#failure)
    this.#pending.clear()
  }

  #send<R>(statement: Statement): Promise<QueryResult<R>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const id = this.#nextId++
    const pending = Promise.withResolvers<QueryResult<R>>()
    this.#pending.set(id, pending)
    this.#thread.ref()
    const all = [...this.#deferred, statement]
    this.#deferred = []
    if (!all.every(onlyReads)) this.#change()
    else if (begins(all[0])) this.#beginning = id
    const packed = MessageBytes.pack(all)
    const { buffer } = packed
    this.#thread.postMessage({ id, packed } satisfies Request, buffer === undefined ? [] : [buffer])
    return pending.promise
  }

  executeQuery<R>({ parameters, sql }: CompiledQuery): Promise<QueryResult<R>> {
    const [first] = parameters
    return this.#send(first instanceof ThreadStatement ? first.statement : { sql, parameters })
  }

  defer(statement: Statement) {
    this.#change()
    this.#deferred.push(statement)
  }

  #change() {
    this.#beginning = undefined
    this.#isUnchanged = false
  }

  /** As {@link SqliteThreadDialect.isUnchanged}. */
  get isUnchanged() {
    return this.#isUnchanged
  }

  begin() {
    this.#deferred = [begin]
  }

  /** As {@link SqliteThreadDialect.readAhead}. */
  readAhead() {
    this.#deferred = [beginUnchanged]
    this.#isUnchanged = true
  }

  async commit() {
    if (!begins(this.#deferred[0]) || this.#deferred.length > 1) await this.#send({ sql: "commit", parameters: [] })
    else {
      this.#deferred = []
      this.#change()
    }
  }

  async rollback() {
    const begun = !begins(this.#deferred[0])
    this.#deferred = []
    this.#change()
    if (begun) await this.#send({ sql: "rollback", parameters: [] })
  }

  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("A SQLite thread does not stream")
  }

  /** Whether the thread has ended by itself, as without memory; SQLite has rolled back then what was not committed. */
  get hasEnded() {
    return this.#failure !== undefined && !this.#closing
  }

  /** Statements fail with this error from then on, as no other thread takes the place of the one that has ended. */
  notFollowed(error: unknown) {
    this.#failure = error instanceof Error ? error : new Error(String(error))
  }

  close() {
    this.#closing = true
    return this.#thread.terminate()
  }
}

class ThreadDriver implements Driver {
  readonly #open: () => Thread
  #connection: ThreadConnection | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #release: (() => void) | undefined

  constructor(open: () => Thread) {
    this.#open = open
  }
  async init() {
    this.#connection = new ThreadConnection(this.#open())
  }
  async acquireConnection() {
    const previous = this.#tail
    const turn = Promise.withResolvers<void>()
    this.#tail = turn.promise
    await previous
    this.#release = turn.resolve
    if (this.#connection!.hasEnded) this.#renew()
    return this.#connection!
  }
  /** Has another thread take the place of one that has ended; where that cannot begin, statements say why. */
  #renew() {
    const thread = Result.try(this.#open)
    if (Result.isSuccess(thread)) this.#connection = new ThreadConnection(thread.success)
    else this.#connection!.notFollowed(thread.failure)
  }
  async releaseConnection() {
    this.#release?.()
  }
  async beginTransaction() {
    this.#connection!.begin()
  }
  async commitTransaction() {
    await this.#connection!.commit()
  }
  async rollbackTransaction() {
    await this.#connection!.rollback()
  }
  defer(statement: Statement) {
    this.#connection!.defer(statement)
  }
  get isUnchanged() {
    return this.#connection?.isUnchanged === true
  }
  readAhead() {
    this.#connection!.readAhead()
  }
  async destroy() {
    await this.#connection?.close()
  }
}

class ThreadAdapter extends SqliteAdapter {
  /** Kysely knows of drivers that could not; a migration is one transaction only where this says so. */
  override get supportsTransactionalDdl() {
    return true
  }
}

export class SqliteThreadDialect implements Dialect {
  readonly #driver: ThreadDriver
  /** `open`: starts the thread, when the first statement comes, and again after a thread that has ended by itself. */
  constructor(open: () => Thread) {
    this.#driver = new ThreadDriver(open)
  }
  /**
   * Has a statement of the open transaction go to the thread with the next one whose answer is wanted, or with the commit. A
   * message wakes a thread, which costs more than most statements do.
   */
  readonly defer = (statement: Statement): void => this.#driver.defer(statement)
  /**
   * Whether SQLite has begun the open transaction, so that nobody else can write, and the transaction has changed nothing yet:
   * whoever reads the file now finds what the transaction would, without a message.
   */
  readonly isUnchanged = (): boolean => this.#driver.isUnchanged
  /**
   * Has the transaction that was opened just now count as one that SQLite has begun. It is begun with its first statement, which
   * fails as `changedMeanwhile` where another connection has changed the file since the last transaction.
   */
  readonly readAhead = (): void => this.#driver.readAhead()
  createDriver = () => this.#driver
  createQueryCompiler = () => new SqliteCompiler()
  createAdapter = () => new ThreadAdapter()
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature
  createIntrospector = (db: Kysely<any>) => new SqliteIntrospector(db)
}
