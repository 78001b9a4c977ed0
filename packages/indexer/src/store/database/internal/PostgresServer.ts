/** The connections to a PostgreSQL server, which may not be up yet, and may end each of them at any moment. */
import { Socket } from "node:net"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { PostgresDialect } from "kysely"
import type { ClientConfig } from "pg"
import type { DatabaseError } from "../DatabaseError.ts"

/** Whether a PostgreSQL server that is not up yet is waited for when the store is opened: by the daemon alone. */
export const WaitForServer = Context.Reference<boolean>("@headwater/indexer/store/database/Database/WaitForServer", {
  defaultValue: () => false
})

const int8 = 20

/** How long the server may take to accept a connection, and a statement may wait for one of the pool's. */
const [connectMillis, turnMillis] = [10_000, 60_000]
/**
 * How long a connection in use may bring nothing, in milliseconds: a server may vanish without a word, and TCP waits a
 * quarter of an hour.
 */
export const ServerSilence = Context.Reference<number>("@headwater/indexer/store/database/Database/ServerSilence", {
  defaultValue: () => 30_000
})

/**
 * How long the server keeps the transaction, and its locks, of a process that asks nothing more, in milliseconds: a process
 * that is held up would keep a chain from who follows the chain since.
 */
export const TransactionSilence = Context.Reference<number>(
  "@headwater/indexer/store/database/Database/TransactionSilence",
  { defaultValue: () => 30_000 }
)

/** Makes the socket of a connection to the server: the machine's own; another one in simulations. */
export const ServerSockets = Context.Reference("@headwater/indexer/store/database/ServerSockets", {
  defaultValue: () => (): Socket => new Socket()
})

/** The error of a server that has vanished. Its code is of those that count as an unavailable server. */
const silent = (millis: number) =>
  Object.assign(new Error(`PostgreSQL has not answered for ${millis / 1000} s`), { code: "ETIMEDOUT" })

const pooled = async (
  socket: typeof ServerSockets.Service,
  url: Redacted.Redacted,
  connections: number,
  transactionMillis: number,
  silenceMillis?: number
) => {
  // Most stores are SQLite files: their programs start without it.
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({
    connectionString: Redacted.value(url),
    max: connections,
    connectionTimeoutMillis: turnMillis,
    Client: class extends pg.Client {
      constructor(config?: ClientConfig) {
        super({ ...config, connectionTimeoutMillis: connectMillis, stream: socket })
      }
    },
    onConnect: async (client) => {
      if (silenceMillis !== undefined)
        await client.query(`set idle_in_transaction_session_timeout = ${transactionMillis}`)
    },
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      // No integer column holds more than 2^53: amounts are text.
      getTypeParser: ((oid: number, format?: "text" | "binary") =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
    }
  })
  // An error without a listener ends the process: the pool tells of connections that nobody uses, the others themselves.
  pool.on("error", () => {})
  pool.on("connect", (client) => {
    client.on("error", () => {})
    if (silenceMillis === undefined) return
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    // Every statement that waits for this connection fails with the connection, the end of a transaction too.
    stream.setTimeout(silenceMillis, () => stream.destroy(silent(silenceMillis)))
  })
  // Of a connection that the server ends, the failed statement's answer comes before the end: until then it looks sound.
  pool.on("release", (_, client) => {
    if ((client as { readonly readyForQuery?: boolean }).readyForQuery === false) client.end(() => {})
  })
  return new PostgresDialect({ pool })
}

/** Without `silenceMillis` statements may take any time, as those that make an index do. */
export const dialect = (url: Redacted.Redacted, connections: number, silenceMillis?: number) =>
  Effect.gen(function* () {
    const socket = yield* ServerSockets
    const transactionMillis = yield* TransactionSilence
    return yield* Effect.promise(() => pooled(socket, url, connections, transactionMillis, silenceMillis))
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
