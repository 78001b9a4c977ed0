/** The connections to a PostgreSQL server, which may not be up yet, and may end each of them at any moment. */
import { EventEmitter } from "node:events"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { PostgresDialect } from "kysely"
import type { PoolClient } from "pg"
import type { DatabaseError } from "../DatabaseError.ts"
import * as Connection from "./Connection.ts"
import { markSession } from "./PostgresAdapter.ts"
import type { PostgresHold } from "./PostgresHold.ts"
import * as PostgresPipeline from "./PostgresPipeline.ts"
import { ask, clientOptions, ServerSockets, streamOf, WaitForServer } from "./PostgresPrimary.ts"

export { primary, ServerSockets, WaitForServer } from "./PostgresPrimary.ts"

const int8 = 20

/** How long a statement may wait for one of the pool's connections. */
const turnMillis = 60_000

/**
 * How long a connection in use may bring nothing, in milliseconds: a server may vanish without a word, and TCP waits a
 * quarter of an hour.
 */
export const ServerSilence = Context.Reference<number>("@headwater/indexer/store/database/Database/ServerSilence", {
  defaultValue: () => 30_000
})

/**
 * How long the server keeps the transaction, and its locks, of a process that asks nothing more, in milliseconds; not as long
 * where another daemon has taken the process for dead, and somebody waits for the locks (`endSilentHolders`).
 */
export const TransactionSilence = Context.Reference<number>(
  "@headwater/indexer/store/database/Database/TransactionSilence",
  { defaultValue: () => 30_000 }
)

/**
 * What a role or a database may set otherwise for all sessions. The store's statements take as long as they need, as a
 * migration's do, and read what has been committed when they lock. `pg_dump` sets the same timeouts to 0.
 */
const ownSession = `
  select set_config(name, case when name = 'default_transaction_isolation' then 'read committed' else '0' end, false)
  from pg_settings where name in ('default_transaction_isolation', 'statement_timeout', 'lock_timeout',
    'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`

/** The error of a server that has vanished. Its code is of those that count as an unavailable server. */
const silent = (millis: number) =>
  Object.assign(new Error(`PostgreSQL has not answered for ${millis / 1000} s`), { code: "ETIMEDOUT" })

/** Where a client hears of errors before the statement does. */
const connectionOf = (client: PoolClient) =>
  (
    client as unknown as {
      readonly connection: {
        on(event: "errorMessage", heard: (error: { readonly code?: string | undefined }) => void): void
      }
    }
  ).connection

/** The server has come to take no writes, or ends: what else is asked on the connection would fail as well. */
const demoted = /^(25006|57P0[123])$/

/**
 * In place of a client that could not be made, as where a file of the URL is away (`sslrootcert`): fails to connect. A pool
 * makes clients also where another one has ended, and an error would end the process.
 */
class UnmadeClient extends EventEmitter {
  readonly #error: unknown
  constructor(error: unknown) {
    super()
    this.#error = error
  }
  connect(answer: (error: unknown) => void) {
    process.nextTick(answer, this.#error)
  }
}

const pooled = async (
  socket: typeof ServerSockets.Service,
  held: PostgresHold,
  connections: number,
  {
    silenceMillis,
    transactionMillis
  }: { readonly silenceMillis?: number | undefined; readonly transactionMillis?: number } = {}
) => {
  // Most stores are SQLite files: their programs start without it.
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({
    connectionString: Redacted.value(held.server.url),
    max: connections,
    connectionTimeoutMillis: turnMillis,
    Client: new Proxy(pg.Client, {
      construct: (Client, [config]) => {
        const made = Result.try(() => new Client({ ...config, ...clientOptions(socket) }))
        return Result.getOrElse(made, (error) => new UnmadeClient(error))
      }
    }),
    onConnect: async (client) => {
      const error = held.check(await ask(client))
      if (error !== undefined) throw error
      await client.query(ownSession)
      if (silenceMillis !== undefined)
        await client.query(`set idle_in_transaction_session_timeout = ${transactionMillis}; ${markSession}`)
    },
    types: {
      // No integer column holds more than 2^53: amounts are text.
      getTypeParser: ((oid: number, format?: "text" | "binary") =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
    }
  })
  const clients = new Set<PoolClient>()
  const spoilt = new WeakSet<PoolClient>()
  // An error without a listener ends the process: the pool tells of connections that nobody uses, the others themselves.
  pool.on("error", () => {})
  pool.on("connect", (client) => {
    client.on("error", () => {})
    clients.add(client)
    connectionOf(client).on("errorMessage", ({ code }) => {
      if (!demoted.test(code ?? "")) return
      spoilt.add(client)
      Effect.runSync(held.doubts.signal)
    })
    if (silenceMillis === undefined) return
    const stream = streamOf(client)
    // Every statement that waits for this connection fails with the connection, the end of a transaction too.
    stream.setTimeout(silenceMillis, () => stream.destroy(silent(silenceMillis)))
  })
  pool.on("remove", (client) => clients.delete(client))
  // Of a connection that the server ends, the failed statement's answer comes before the end: until then it looks sound.
  pool.on("release", (_, client) => {
    if (spoilt.has(client) || (client as { readonly readyForQuery?: boolean }).readyForQuery === false) {
      client.end(() => {})
    }
  })
  held.onGivenUp((error) => {
    for (const client of clients) streamOf(client).destroy(error)
  })
  const connect = async () => {
    const error = held.error()
    if (error !== undefined) throw error
    return pool.connect().catch((error) => {
      Effect.runSync(held.doubts.signal)
      throw error
    })
  }
  return { options: pool.options, connect, end: () => pool.end(), Query: pg.Query }
}

/** Connections to a server. Without `silenceMillis` statements may take any time, as those that make an index do. */
export const dialect = (held: PostgresHold, connections: number, silenceMillis?: number) =>
  Effect.gen(function* () {
    const socket = yield* ServerSockets
    const transactionMillis = yield* TransactionSilence
    const pool = yield* Effect.promise(() => pooled(socket, held, connections, { transactionMillis, silenceMillis }))
    const connect = async () => PostgresPipeline.make(await pool.connect(), pool.Query)
    return new PostgresDialect({ pool: { ...pool, connect } })
  })

/** A connection that hears of notifications. */
interface ListeningConnection {
  query(statement: string): Promise<unknown>
  on(event: "notification", heard: (notification: { readonly payload?: string | undefined }) => void): unknown
  on(event: "end", heard: () => void): unknown
}

/** A connection apart from those of the store's statements, until the scope ends. */
export const connection = Effect.fnUntraced(function* (
  held: PostgresHold
): Effect.fn.Return<ListeningConnection, DatabaseError, Scope.Scope> {
  const socket = yield* ServerSockets
  const pool = yield* Effect.acquireRelease(
    Effect.promise(() => pooled(socket, held, 1)),
    (pool) => Effect.promise(() => pool.end())
  )
  // A server that has vanished does not answer the end of the connection either.
  return yield* Effect.acquireRelease(
    Connection.attempt(() => pool.connect()),
    (client) => Effect.sync(() => client.release(true))
  )
})

/** Waits between attempts to reach the server: doubling from half a second, at most ten seconds. */
const reconnects = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("10 seconds")])
/** Of the failed attempts, the first has a line in the log, and then one in so many. */
const loggedAttempts = 30

const isUnavailable = (error: unknown): error is DatabaseError =>
  (error as { readonly _tag?: unknown })._tag === "DatabaseError" && (error as DatabaseError).unavailable

/**
 * Where the server is waited for, tries until the server is there. An error that waiting does not mend, as of a wrong
 * password, fails at once.
 */
export const whenAvailable = Effect.fnUntraced(function* <A, E extends { readonly message: string }, R>(
  self: Effect.Effect<A, E, R>
) {
  if (!(yield* WaitForServer)) return yield* self
  let attempts = 0
  return yield* self.pipe(
    Effect.tapError((error) =>
      isUnavailable(error) && attempts++ % loggedAttempts === 0
        ? Effect.logWarning(`Waiting for PostgreSQL (store.postgres): ${error.message}`)
        : Effect.void
    ),
    Effect.retry({ schedule: reconnects, while: isUnavailable })
  )
})
