/**
 * Signals between the processes on a PostgreSQL store, by `NOTIFY` and `LISTEN`.
 *
 * A process tells the others behind the commit, not within: the commit of a transaction with a `NOTIFY` takes a lock of
 * the whole server until the transaction is on the disk, and on a synchronous standby, so that all such commits would
 * follow one another. A notification of its own holds the lock for no longer than it takes to queue. What a process that
 * is killed between the two has not told is found by those who look.
 *
 * Notifications that come up while one is on its way go together in the next one. A process listens on one connection of
 * its own, from the first time that somebody waits on, and connects again for as long as the store is open.
 */
import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { sql } from "kysely"
import type { DatabaseError } from "../DatabaseError.ts"
import * as Signals from "../Signals.ts"
import * as Connection from "./Connection.ts"
import type { PostgresHold } from "./PostgresHold.ts"
import * as PostgresServer from "./PostgresServer.ts"

const channel = "headwater"

/** How long after the end of the listening connection another one is made. */
const pause = "1 second"
/** How long the last notification of a process that ends may take. */
const lastMillis = 1_000

const isSignal = (name: string): name is Signals.Signal => (Signals.all as ReadonlyArray<string>).includes(name)

const unheard =
  "Signals do not come back from PostgreSQL: a pool by transaction (PgBouncer) stands between, which is not supported. " +
  "Name the server itself, or a pool by session, in store.postgres"

/**
 * Listens until the connection ends, which it does in silence as well; `heard` runs for each signal of another process, and
 * `tell` sends one of this process on another connection.
 */
const listen = Effect.fnUntraced(function* (
  held: PostgresHold,
  own: string,
  tell: Effect.Effect<unknown, DatabaseError>,
  heard: (signal: Signals.Signal) => Effect.Effect<void>
) {
  const client = yield* PostgresServer.connection(held)
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const silenceMillis = yield* PostgresServer.ServerSilence
  const ask = (statement: string) =>
    Connection.attempt(() => client.query(statement)).pipe(Effect.timeout(silenceMillis))
  const echoed = yield* Latch.make()
  client.on("notification", ({ payload = "" }) => {
    const [sender, ...names] = payload.split(" ")
    if (sender === own) echoed.openUnsafe()
    else run(Effect.forEach(names.filter(isSignal), heard, { discard: true }))
  })
  yield* ask(`listen ${channel}`)
  // Whatever was told while nobody listened.
  yield* Effect.forEach(Signals.all, heard, { discard: true })
  // A pool by transaction gives the server that listens to other clients, and says nothing of that.
  const echo = Effect.timeoutOrElse(echoed.await, {
    duration: silenceMillis,
    orElse: () => Effect.logWarning(unheard)
  })
  // For one of the store's connections, which may all be busy, this waits as long as any statement.
  yield* Effect.forkScoped(Effect.ignore(Effect.andThen(tell, echo)))
  const ended = Effect.callback<void>((resume) => {
    client.on("end", () => resume(Effect.void))
  })
  yield* Effect.raceFirst(ended, Effect.forever(Effect.andThen(Effect.sleep(silenceMillis), ask("select 1"))))
}, Effect.scoped)

/** The signals of this process and of all others, for as long as the scope is open. */
export const make = Effect.fnUntraced(function* ({ afterCommit, query }: Connection.Connection, held: PostgresHold) {
  if (!(yield* Signals.SignalsShared)) return Signals.make(afterCommit) satisfies Signals.Signals
  const own = randomUUID()
  let unsent = new Set<Signals.Signal>()
  const some = yield* Latch.make()
  const { arrive, ...signals } = Signals.make(afterCommit, (signal) => {
    unsent.add(signal)
    some.openUnsafe()
  })
  const wanted = yield* Latch.make()

  const tell = (names: Iterable<Signals.Signal>) =>
    query(Connection.rows(sql`select pg_notify(${channel}, ${[own, ...names].join(" ")})`))
  const notify = Effect.suspend(() => {
    const names = unsent
    unsent = new Set()
    some.closeUnsafe()
    // A store that is away is found to be so by those who have work for the store.
    return Effect.ignore(tell(names))
  })
  yield* Effect.addFinalizer(() => (unsent.size === 0 ? Effect.void : Effect.timeoutOption(notify, lastMillis)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(some.await, notify)))
  yield* wanted.await.pipe(
    Effect.andThen(listen(held, own, tell([]), arrive)),
    Effect.catchCause((cause) => Effect.logDebug("Signals of other daemons are not heard", cause)),
    Effect.andThen(Effect.sleep(pause)),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    ...signals,
    next: (signal) => Effect.andThen(wanted.open, signals.next(signal)),
    count: (signal) => {
      wanted.openUnsafe()
      return signals.count(signal)
    }
  } satisfies Signals.Signals
})
