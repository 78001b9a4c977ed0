/**
 * Which server of a PostgreSQL store takes writes: of a primary and its standbys the one that was promoted last. Each promotion
 * begins a timeline of its own.
 */
import { Socket } from "node:net"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { DatabaseError } from "../DatabaseError.ts"
import * as PostgresUrl from "../PostgresUrl.ts"
import * as Connection from "./Connection.ts"

/** Whether a PostgreSQL server that is not up yet is waited for when the store is opened: by the daemon alone. */
export const WaitForServer = Context.Reference<boolean>("@headwater/indexer/store/database/Database/WaitForServer", {
  defaultValue: () => false
})

/** How long a server may take to accept a connection, and to say what it is. */
const connectMillis = 10_000

/** Makes the socket of a connection to the server: the machine's own; another one in simulations. */
export const ServerSockets = Context.Reference("@headwater/indexer/store/database/ServerSockets", {
  defaultValue: () => (): Socket => new Socket()
})

/** What a server says of itself. */
export interface Answer {
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

export type Seen = Pick<PostgresServer, "timeline" | "synchronous" | "wholeSince">

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
/** For a service in PostgreSQL's place that lacks these functions, and for a role that may not use them. */
const smallQuestion = `
  select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly",
    false as synchronous`

const notAnswered = /^(0A|42)/

/** What `pg` says of a server that took the connection: a pool by session does so also where no connection of its own is free. */
const late = /^Query read timeout/
const poolIsSmall =
  "the server took the connection and does not answer. A pool (PgBouncer) before the server needs more connections than " +
  "`store.connections` of all daemons: one more for each daemon, and for commands"

const codeOf = (error: unknown) => (error as { readonly code?: string }).code

/** What is used of a connection of pg's, whose own types an importer of this package need not have. */
interface Connected {
  query(asked: { readonly text: string; readonly query_timeout: number }): Promise<{ readonly rows: Array<Answer> }>
}

/** Asks the server of a new connection about itself. */
export const ask = async (client: Connected): Promise<Answer> => {
  const query = async (text: string) => {
    const { rows } = await client.query({ text, query_timeout: connectMillis })
    return { ...rows[0]!, timeline: rows[0]!.timeline ?? undefined, cluster: rows[0]!.cluster ?? undefined }
  }
  return query(question).catch((error: Error) => {
    if (notAnswered.test(codeOf(error) ?? "")) return query(smallQuestion)
    throw late.test(error.message) ? new Error(`${error.message}: ${poolIsSmall}`) : error
  })
}

/** Takes note of what was seen of a cluster, and says what is known of it now. */
export const note = (seen: Map<string, Seen>, { cluster, synchronous, timeline }: Answer): Seen | undefined => {
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

/** What every connection has. In `pg_stat_activity` its name is the URL's `application_name`, where there is one. */
export const clientOptions = (socket: typeof ServerSockets.Service) => ({
  application_name: "headwater",
  ...{ connectionTimeoutMillis: connectMillis, stream: socket },
  ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
})

/** The socket below a connection of pg's. */
export const streamOf = (client: object): Socket =>
  (client as { readonly connection: { readonly stream: Socket } }).connection.stream

/** Connects to the server and asks. */
const look = (url: string) =>
  Effect.flatMap(ServerSockets, (socket) =>
    Effect.acquireUseRelease(
      // The URL may name files, as `sslrootcert` does, which are read here.
      Connection.attempt(async () => {
        const { default: pg } = await import("pg")
        const client = new pg.Client({ connectionString: url, ...clientOptions(socket) })
        client.on("error", () => {})
        return client
      }),
      (client) => Connection.attempt(() => client.connect().then(() => ask(client))),
      (client, exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) client.end(() => {})
          else streamOf(client).destroy()
        })
    )
  )

/** How long other servers may take to answer once one takes writes: an old primary may answer sooner than the new one. */
const graceMillis = 1_000

/** What the servers of the URLs say of themselves, or why they do not; the slow are left out once one takes writes. */
export const lookAtAll = Effect.fnUntraced(function* (urls: ReadonlyArray<string>) {
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

/** What a server is that was promoted before another one. */
export const old = (timeline: number | undefined, { timeline: newest }: Seen) =>
  `is a former primary (timeline ${timeline}): another server was promoted since (timeline ${newest}), and has what was written since`

/** No server may be used, of which all are unavailable: their turn may come. */
export const noPrimary = (message: string) => Object.assign(new Error(message), { code: "ENOPRIMARY" })

/**
 * The server that takes writes: of several the one that was promoted last, and none that is older than what this process has
 * seen. One server alone is taken as it is, unless it may be waited for.
 */
export const primary = Effect.fn("PostgresPrimary.primary")(function* (
  url: Redacted.Redacted
): Effect.fn.Return<PostgresServer, DatabaseError> {
  const urls = PostgresUrl.each(Redacted.value(url))
  const seen = yield* SeenTimelines
  const answers = yield* lookAtAll(urls)
  const isAlone = urls.length === 1 && !(yield* WaitForServer)
  const usable: Array<PostgresServer> = []
  const problems: Array<string> = []
  /** What waiting does not mend, as a wrong password. */
  let refusal: DatabaseError | undefined
  for (const one of urls) {
    const name = PostgresUrl.nameOf(one)
    const answer = answers.get(one)
    if (answer === undefined) continue
    if (Result.isFailure(answer)) {
      if (urls.length === 1) return yield* answer.failure
      if (!answer.failure.unavailable) refusal ??= answer.failure
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
    const message = `No server takes writes: ${problems.join("; ")}`
    return yield* new DatabaseError({ cause: refusal === undefined ? noPrimary(message) : new Error(message) })
  }
  const stranger = others.find(({ cluster }) => cluster !== first.cluster)
  if (stranger === undefined) return first
  const message = `${first.name} and ${stranger.name} both take writes, and neither is a copy of the other: name a primary and its standbys`
  return yield* new DatabaseError({ cause: new Error(message) })
})
