/**
 * The connections to a PostgreSQL server, which may not be up yet, and may end each of them at any moment. Of several
 * servers, a primary and its standbys, the one is looked for that takes writes. A store that is open stays with one server
 * and one timeline of it: once a standby was promoted, the store has to be opened again.
 */
import { Socket } from "node:net"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { PostgresDialect } from "kysely"
import type { ClientBase, ClientConfig, PoolClient, QueryConfig } from "pg"
import * as Wakeup from "../../../Wakeup.ts"
import { DatabaseError } from "../DatabaseError.ts"
import * as PostgresUrl from "../PostgresUrl.ts"
import * as Connection from "./Connection.ts"

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

/** Makes the socket of a connection to the server: the machine's own; another one in simulations. */
export const ServerSockets = Context.Reference("@headwater/indexer/store/database/ServerSockets", {
  defaultValue: () => (): Socket => new Socket()
})

/** The error of a server that has vanished. Its code is of those that count as an unavailable server. */
const silent = (millis: number) =>
  Object.assign(new Error(`PostgreSQL has not answered for ${millis / 1000} s`), { code: "ETIMEDOUT" })

/** What a server says of itself. */
interface Answer {
  readonly standby: boolean
  readonly readOnly: boolean
  /** Counted up each time a standby is promoted; undefined where a service in PostgreSQL's place does not tell. */
  readonly timeline: number | undefined
  /** The same for a primary and its standbys. */
  readonly cluster: string | undefined
  /** Whether commits wait for a standby. */
  readonly synchronous: boolean
}

/** A server as it was when it answered. */
export interface PostgresServer extends Answer {
  readonly url: Redacted.Redacted
  /** Host and port. */
  readonly name: string
  /** The newest timeline before this one of which this process knows that this one has all of its commits. */
  readonly wholeSince: number | undefined
}

type Seen = Pick<PostgresServer, "timeline" | "synchronous" | "wholeSince">

/** The newest timeline of each cluster that this process has seen: an older one is not gone back to. */
export const SeenTimelines = Context.Reference("@headwater/indexer/store/database/SeenTimelines", {
  defaultValue: () => new Map<string, Seen>()
})

/** A WAL file's name begins with the timeline. A standby has no place to write at. */
const question = `
  select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly",
    case when not pg_is_in_recovery()
      then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
    (select system_identifier::text from pg_control_system()) as cluster,
    current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') in ('on', 'remote_write', 'remote_apply') as synchronous`
const smallQuestion = `
  select false as standby, current_setting('transaction_read_only') = 'on' as "readOnly", false as synchronous`

/** PostgreSQL lacks neither the functions nor the settings. */
const notPostgres = /^(0A|42)/

const codeOf = (error: unknown) => (error as { readonly code?: string }).code

/** Asks the server of a new connection about itself. */
const ask = async (client: Pick<ClientBase, "query">): Promise<Answer> => {
  const query = async (text: string) => {
    const { rows } = await client.query<Answer>({ text, query_timeout: connectMillis } as QueryConfig)
    return { ...rows[0]!, timeline: rows[0]!.timeline ?? undefined, cluster: rows[0]!.cluster ?? undefined }
  }
  return query(question).catch((error) => {
    if (notPostgres.test(codeOf(error) ?? "")) return query(smallQuestion)
    throw error
  })
}

/** Takes note of what was seen of a cluster, and says what is known of it now. */
const note = (seen: Map<string, Seen>, { cluster, synchronous, timeline }: Answer): Seen | undefined => {
  if (cluster === undefined) return undefined
  const known = seen.get(cluster)
  if (timeline === undefined || (known?.timeline ?? 0) > timeline) return known
  // A standby that commits have waited for has them all. Two promotions that were not seen apart prove nothing.
  const isNext = known?.timeline === timeline - 1
  const wholeSince =
    known?.timeline === timeline ? known.wholeSince : isNext && known.synchronous ? known.timeline : undefined
  const now = { timeline, synchronous, wholeSince }
  seen.set(cluster, now)
  return now
}

const clientOptions = (socket: typeof ServerSockets.Service) => ({
  ...{ connectionTimeoutMillis: connectMillis, stream: socket },
  ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
})

/** Connects to the server and asks. */
const look = (url: string) =>
  Effect.flatMap(ServerSockets, (socket) =>
    Effect.acquireUseRelease(
      Effect.promise(async () => {
        const { default: pg } = await import("pg")
        const client = new pg.Client({ connectionString: url, ...clientOptions(socket) })
        client.on("error", () => {})
        return client
      }),
      (client) => Connection.attempt(() => client.connect().then(() => ask(client))),
      (client, exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) client.end(() => {})
          else (client as unknown as WithStream).connection.stream.destroy()
        })
    )
  )

/** How long other servers may take to answer once one takes writes: an old primary may answer sooner than the new one. */
const graceMillis = 1_000

/** What every server of the URL says of itself, or why it does not; the last only as long as none that takes writes answers. */
const lookAtAll = Effect.fnUntraced(function* (urls: ReadonlyArray<string>) {
  const answers = new Map<string, Result.Result<Answer, DatabaseError>>()
  const found = yield* Deferred.make<void>()
  const each = Effect.forEach(
    urls,
    (url) =>
      Effect.flatMap(Effect.result(look(url)), (answer) => {
        answers.set(url, answer)
        const takesWrites = Result.isSuccess(answer) && !answer.success.standby && !answer.success.readOnly
        return takesWrites ? Deferred.succeed(found, undefined) : Effect.void
      }),
    { concurrency: "unbounded", discard: true }
  )
  const grace = Effect.andThen(Deferred.await(found), Effect.sleep(graceMillis))
  yield* urls.length === 1 ? each : Effect.raceFirst(each, grace)
  return answers
})

/** No server may be used, of which all are unavailable: their turn may come. */
const noPrimary = (message: string) => Object.assign(new Error(message), { code: "ENOPRIMARY" })

/**
 * The server that takes writes: of several the one that was promoted last, and none that is older than what this process has
 * seen. One server alone is taken as it is, unless it may be waited for.
 */
export const primary = Effect.fn("PostgresServer.primary")(function* (
  url: Redacted.Redacted
): Effect.fn.Return<PostgresServer, DatabaseError> {
  const urls = PostgresUrl.each(Redacted.value(url))
  const seen = yield* SeenTimelines
  const answers = yield* lookAtAll(urls)
  const isAlone = urls.length === 1 && !(yield* WaitForServer)
  const usable: Array<PostgresServer> = []
  const problems: Array<string> = []
  for (const one of urls) {
    const name = PostgresUrl.nameOf(one)
    const answer = answers.get(one)
    if (answer === undefined) continue
    if (Result.isFailure(answer)) {
      if (urls.length === 1 || !answer.failure.unavailable) return yield* answer.failure
      problems.push(`${name}: ${answer.failure.message}`)
      continue
    }
    const { readOnly, standby, timeline } = answer.success
    const known = note(seen, answer.success)
    if (!isAlone && standby) problems.push(`${name} is a standby`)
    else if (!isAlone && readOnly) problems.push(`${name} takes no writes (default_transaction_read_only)`)
    else if (timeline !== undefined && timeline < known!.timeline!) problems.push(`${name} ${old(timeline, known!)}`)
    else usable.push({ ...answer.success, url: Redacted.make(one), name, wholeSince: known?.wholeSince })
  }
  const [first, ...others] = usable.sort((a, b) => (b.timeline ?? 0) - (a.timeline ?? 0))
  if (first === undefined) {
    return yield* new DatabaseError({ cause: noPrimary(`No server takes writes: ${problems.join("; ")}`) })
  }
  const stranger = others.find(({ cluster }) => cluster !== first.cluster)
  if (stranger === undefined) return first
  const message = `${first.name} and ${stranger.name} both take writes, and neither is a copy of the other: name a primary and its standbys`
  return yield* new DatabaseError({ cause: new Error(message) })
})

const old = (timeline: number | undefined, { timeline: newest }: Seen) =>
  `is a former primary (timeline ${timeline}): another server was promoted since (timeline ${newest}), and has what was written since`

/** What a pool gives away. */
interface WithStream {
  readonly connection: { readonly stream: Socket; on(event: "errorMessage", heard: (error: unknown) => void): void }
}

/** The server has come to take no writes, or ends: what else is asked on the connection would fail as well. */
const demoted = /^(25006|57P0[123])$/

/**
 * The hold on one server, as it is: connections are made to this server alone, and to no other that has taken the place of
 * it. Once that has happened each statement fails, so that nothing which was remembered of the former store is written to
 * the other one, which may lack the last commits.
 */
export interface Hold {
  readonly server: PostgresServer
  /** Why the server is given up. */
  readonly replaced: Effect.Effect<string>
  readonly giveUp: (why: string) => void
  /** What has to end with the server. */
  readonly onGivenUp: (end: (error: Error) => void) => void
  /** The error of statements, once the server is given up. */
  readonly error: () => Error | undefined
  /** Whether a connection may be used whose server says this. */
  readonly check: (answer: Answer) => Error | undefined
  /** Wakes who looks for another primary. */
  readonly doubts: Wakeup.Wakeup
}

/** Holds a server. */
export const hold = Effect.fnUntraced(function* (server: PostgresServer) {
  const seen = yield* SeenTimelines
  const replaced = yield* Deferred.make<string>()
  const ends: Array<(error: Error) => void> = []
  let error: Error | undefined
  const giveUp = (why: string) => {
    if (error !== undefined) return
    const message = `The store is on another server now: ${why}. Open the store again`
    error = Object.assign(new Error(message), { code: "EREPLACED" })
    for (const end of ends) end(error)
    Deferred.doneUnsafe(replaced, Effect.succeed(why))
  }
  return {
    ...{ server, replaced: Deferred.await(replaced), giveUp, doubts: Wakeup.make() },
    onGivenUp: (end) => ends.push(end),
    error: () => error,
    check: (answer) => {
      const { name } = server
      // A server that does not tell, or that was a standby when the store was opened, is taken as it is.
      if (server.timeline === undefined) return undefined
      if (answer.cluster !== server.cluster) giveUp(`${name} has another database cluster`)
      else if (answer.standby) return noPrimary(`${name} is a standby now`)
      else if (answer.timeline! > server.timeline) giveUp(`${name} ${promoted(answer, server)}`)
      else if (answer.timeline! < server.timeline) return noPrimary(`${name} ${old(answer.timeline, server)}`)
      else note(seen, answer)
      return error
    }
  } satisfies Hold as Hold
})

const promoted = (now: Pick<Answer, "timeline">, before: Pick<Answer, "timeline">) =>
  `was promoted (timeline ${now.timeline}, before ${before.timeline})`

/** Milliseconds between two looks at all servers, and the fewest between two where statements fail. */
const [looksMillis, doubtMillis] = [5_000, 500]

/** Looks for a primary that was promoted after the one that is held, at every server of the URL; never returns. */
export const watch = Effect.fn("PostgresServer.watch")(function* (url: Redacted.Redacted, held: Hold) {
  const urls = PostgresUrl.each(Redacted.value(url))
  const { cluster, timeline = 0 } = held.server
  const seen = yield* SeenTimelines
  while (true) {
    const doubt = yield* held.doubts.next
    yield* Effect.sleep(doubtMillis)
    yield* Effect.timeoutOption(doubt, looksMillis - doubtMillis)
    for (const [one, answer] of yield* lookAtAll(urls)) {
      if (Result.isFailure(answer) || answer.success.cluster !== cluster) continue
      note(seen, answer.success)
      const isNewer = (answer.success.timeline ?? 0) > timeline && !answer.success.readOnly
      if (isNewer) held.giveUp(`${PostgresUrl.nameOf(one)} ${promoted(answer.success, held.server)}`)
    }
  }
})

const pooled = async (
  socket: typeof ServerSockets.Service,
  held: Hold,
  connections: number,
  silenceMillis?: number
): Promise<PostgresDialect> => {
  // Most stores are SQLite files: their programs start without it.
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({
    connectionString: Redacted.value(held.server.url),
    max: connections,
    connectionTimeoutMillis: turnMillis,
    Client: class extends pg.Client {
      constructor(config?: ClientConfig) {
        super({ ...config, ...clientOptions(socket) })
      }
    },
    onConnect: async (client) => {
      const error = held.check(await ask(client))
      if (error !== undefined) throw error
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
    const { connection } = client as unknown as WithStream
    connection.on("errorMessage", (error) => {
      if (!demoted.test(codeOf(error) ?? "")) return
      spoilt.add(client)
      Effect.runSync(held.doubts.signal)
    })
    if (silenceMillis === undefined) return
    const { stream } = connection
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
    for (const client of clients) (client as unknown as WithStream).connection.stream.destroy(error)
  })
  const connect = async () => {
    const error = held.error()
    if (error !== undefined) throw error
    return pool.connect().catch((error) => {
      Effect.runSync(held.doubts.signal)
      throw error
    })
  }
  return new PostgresDialect({ pool: { options: pool.options, connect, end: () => pool.end() } })
}

/** Connections to a server. Without `silenceMillis` statements may take any time, as those that make an index do. */
export const dialect = (held: Hold, connections: number, silenceMillis?: number) =>
  Effect.flatMap(ServerSockets, (socket) => Effect.promise(() => pooled(socket, held, connections, silenceMillis)))

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
