/**
 * The hold of an open store on one server. Once another one was promoted, the store has to be opened again, on that one.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Wakeup from "../../../Wakeup.ts"
import * as PostgresUrl from "../PostgresUrl.ts"
import { type Answer, lookAtAll, noPrimary, note, old, type PostgresServer, SeenTimelines } from "./PostgresPrimary.ts"

/**
 * The hold on one server, as it is: connections are made to this server alone, and to no other that has taken the place of
 * it. Once that has happened each statement fails, so that nothing which was remembered of the former store is written to
 * the other one, which may lack the last commits.
 */
export interface PostgresHold {
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

const promoted = (now: Pick<Answer, "timeline">, before: Pick<Answer, "timeline">) =>
  `was promoted (timeline ${now.timeline}, before ${before.timeline})`

/** Holds a server. */
export const make = Effect.fnUntraced(function* (server: PostgresServer) {
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
  } satisfies PostgresHold as PostgresHold
})

/** Milliseconds between two looks at all servers, and the fewest between two where statements fail. */
const [looksMillis, doubtMillis] = [5_000, 500]

/**
 * Looks for a primary that was promoted after the one that is held, at every server of the URL, as long as the scope lives.
 */
export const watch = Effect.fn("PostgresHold.watch")(function* (
  url: Redacted.Redacted,
  { doubts, giveUp, server }: PostgresHold
) {
  const { cluster, name, timeline } = server
  if (timeline === undefined) {
    yield* Effect.logWarning(
      `${name} does not tell its timeline (pg_current_wal_lsn, pg_walfile_name, pg_control_system): a promoted standby is not noticed`
    )
    return
  }
  const urls = PostgresUrl.each(Redacted.value(url))
  const seen = yield* SeenTimelines
  const look = Effect.gen(function* () {
    for (const [one, answer] of yield* lookAtAll(urls)) {
      if (Result.isFailure(answer) || answer.success.cluster !== cluster) continue
      note(seen, answer.success)
      const isNewer = (answer.success.timeline ?? 0) > timeline && !answer.success.readOnly
      if (isNewer) giveUp(`${PostgresUrl.nameOf(one)} ${promoted(answer.success, server)}`)
    }
  })
  yield* Effect.gen(function* () {
    const doubt = yield* doubts.next
    yield* Effect.sleep(doubtMillis)
    yield* Effect.timeoutOption(doubt, looksMillis - doubtMillis)
    yield* look
  }).pipe(Effect.forever, Effect.forkScoped)
})
