/**
 * Which chains this daemon follows: all of its own where it is alone on its store, else those that it has by what the
 * daemons of the store have agreed on (`Placements`). A chain that comes here from another daemon is fenced first, so that
 * this service decides only where the work is done, and never what may be written.
 */
import { hostname } from "node:os"
import * as Chain from "@headwater/core/chains/Chain"
import { Database, type DatabaseError } from "@headwater/indexer/store/database/Database"
import type { FollowedElsewhere } from "@headwater/indexer/store/database/Fence"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Wakeup from "@headwater/indexer/Wakeup"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import * as Settings from "../settings/Settings.ts"
import { version } from "../Version.ts"

export interface Work<E, R> {
  /** Follows the chain until interrupted. */
  readonly follow: Effect.Effect<never, E | FollowedElsewhere, R>
  /** Looks at the chain that another daemon follows. */
  readonly observe: Effect.Effect<never, E, R>
}

export class Placement extends Context.Service<
  Placement,
  {
    /**
     * Follows the chain while it is placed here, and observes it meanwhile; a chain that goes elsewhere is handed over once
     * `follow` has ended.
     */
    readonly run: <E, R>(chain: Chain.Chain, work: Work<E, R>) => Effect.Effect<never, E, R>
  }
>()("@headwater/daemon/supervision/Placement") {
  /** Every chain is this daemon's. */
  static readonly layerLocal = Layer.succeed(Placement, {
    run: (_, { follow }) =>
      follow.pipe(
        Effect.catchIf(isElsewhere, ({ message }) =>
          Effect.andThen(Effect.logWarning(message), Effect.sleep(anewMillis))
        ),
        Effect.forever
      )
  })

  /** The chains are shared with the other daemons of the store, which this daemon meets there. */
  static readonly layerCluster = Layer.effect(
    Placement,
    Effect.suspend(() => make)
  )

  /** By the settings: a SQLite file has one daemon. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const { kind } = Settings.storeLocation(yield* Settings.Settings)
      return kind === "sqlite" || (yield* Alone) ? Placement.layerLocal : Placement.layerCluster
    })
  )
}

/** Whether a PostgreSQL store is this daemon's alone, so that it need not look for others. */
export const Alone = Context.Reference("@headwater/daemon/supervision/Placement/Alone", { defaultValue: () => false })

const isElsewhere = <E>(error: E | FollowedElsewhere): error is FollowedElsewhere =>
  (error as { readonly _tag?: string })._tag === "FollowedElsewhere"

/** How long a daemon that is alone waits until it follows a chain again that a command has changed, in milliseconds. */
const anewMillis = 1_000

/**
 * How often a daemon says that it runs, and looks where the chains are, in milliseconds; between two such looks a signal
 * tells of changes.
 */
const beatMillis = 1_000

/**
 * How long after a daemon has gone its locks are looked for, in milliseconds: PostgreSQL itself ends what has been silent for
 * longer (`TransactionSilence`).
 */
const freeingMillis = 30_000

/** How long a follower that was refused waits before looking whether the chain is still its own, in milliseconds. */
const refusedMillis = 250

/** How long a daemon that ends waits for the store, which would find out by the daemon's silence as well. */
const goodbye = "2 seconds"

/** What other daemons call this one. */
export const nameOf = ({ http, name }: Settings.Settings["Service"]): string =>
  name ?? `${hostname()}:${http.port === 0 ? `pid-${process.pid}` : http.port}`

const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const database = yield* Database
  const stored = Effect.provideService(Database, database)
  const changed = Wakeup.make()
  const registration: Placements.Registration = {
    ...{ name: nameOf(settings), version, roles: settings.roles },
    chains: settings.roles.includes("follow") ? Settings.chains(settings).map(({ chain }) => Chain.nameOf(chain)) : []
  }
  const enter = (restarted: boolean) => stored(Placements.register(registration, { restarted }))

  /** Until when locks of daemons that are gone are looked for. */
  let freeingUntil = (yield* Clock.currentTimeMillis) + freeingMillis
  // Apart from what else this daemon does, which may wait for these locks.
  yield* Effect.gen(function* () {
    yield* Effect.sleep(beatMillis)
    if ((yield* Clock.currentTimeMillis) < freeingUntil) yield* Effect.ignoreCause(stored(Placements.freeLocks))
  }).pipe(Effect.forever, Effect.forkScoped)

  let id = yield* enter(true)
  /** The daemons of the last look. */
  let known: ReadonlyArray<number> = []
  /** The chains that are to be followed here. */
  let own: ReadonlySet<string> = new Set()
  /** Those that are being followed here, which for a moment may be others; a chain that has stopped is not among them. */
  const followed = new Set<string>()
  let isLeaving = false

  const look = Effect.gen(function* () {
    const found = yield* stored(Placements.read)
    const present = found.daemons.map(({ id }) => id)
    if (known.some((one) => !present.includes(one))) {
      freeingUntil = (yield* Clock.currentTimeMillis) + freeingMillis
    }
    known = present
    const mine = found.placed.filter(({ daemon, successor }) => daemon === id && successor === null)
    own = new Set(mine.map(({ chain }) => chain))
    yield* changed.signal
    return found
  })

  const release = (chain: string) => stored(Placements.release(id, [chain], { leaving: false }))

  /** Chains that are followed no more by this daemon, which ends: those that end meanwhile are released together. */
  const ended = new Set<string>()
  const oneAtATime = Semaphore.makeUnsafe(1)
  const leaveChain = (chain: string) =>
    Effect.suspend(() => {
      ended.add(chain)
      const some = Effect.suspend(() => {
        if (!ended.has(chain)) return Effect.void
        const chains = [...ended]
        ended.clear()
        return stored(Placements.release(id, chains, { leaving: true }))
      })
      return oneAtATime.withPermit(some)
    })

  const beat = Effect.gen(function* () {
    if (!(yield* stored(Placements.beat(id)))) {
      yield* Effect.logWarning(
        "The other daemons have taken this one for dead, or another one has its name: it joins them anew, and follows what they leave"
      )
      id = yield* enter(false)
    }
    const found = yield* look
    if (!Placements.isSettled(found)) yield* stored(Placements.settle())
    for (const { chain, daemon, successor } of found.placed) {
      if (daemon === id && successor !== null && !followed.has(chain)) yield* release(chain)
    }
  })

  /** Waits until a chain is, or is not, to be followed here. */
  const until = (chain: string, isOwn: boolean) =>
    Effect.gen(function* () {
      while (true) {
        const next = yield* changed.next
        if (own.has(chain) === isOwn) return
        yield* next
      }
    })

  yield* look
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isLeaving = true
      return stored(Placements.leave(id)).pipe(Effect.timeout(goodbye), Effect.ignore)
    })
  )
  let failing = false
  const keep = (work: Effect.Effect<void, DatabaseError>) =>
    work.pipe(
      Effect.tapDefect((defect) => Effect.logError("Failed", Cause.die(defect))),
      Effect.catchDefect(() => Effect.void),
      Effect.catch(({ message }) => {
        if (failing || isLeaving) return Effect.void
        failing = true
        return Effect.logWarning(`Cannot meet the other daemons in the store: ${message}`)
      }),
      Effect.forever,
      Effect.forkScoped
    )
  yield* keep(
    Effect.gen(function* () {
      yield* Effect.sleep(beatMillis)
      yield* beat
      failing = false
    })
  )
  yield* keep(
    Effect.gen(function* () {
      const changes = yield* database.signals.next("placement")
      yield* Effect.onError(look, () => Effect.sleep(beatMillis))
      yield* changes
    })
  )

  const run: Placement["Service"]["run"] = (chain, { follow, observe }) => {
    const name = Chain.nameOf(chain)
    const round = Effect.gen(function* () {
      if (!own.has(name)) yield* Effect.raceFirst(observe, until(name, true))
      yield* Effect.logInfo("Following the chain")
      const following = follow.pipe(
        Effect.catchIf(isElsewhere, ({ message }) =>
          // Where the chain is still this daemon's by a look after that, an operator has changed how far it is.
          Effect.logWarning(message).pipe(
            Effect.andThen(Effect.sleep(refusedMillis)),
            Effect.andThen(Effect.ignore(look))
          )
        )
      )
      yield* Effect.acquireUseRelease(
        Effect.sync(() => followed.add(name)),
        () => Effect.raceFirst(following, until(name, false)),
        () => Effect.sync(() => followed.delete(name))
      )
      if (own.has(name)) return
      yield* Effect.logInfo("The chain is followed by another daemon")
      yield* Effect.ignore(release(name))
    }).pipe(Effect.annotateLogs({ chain: name }))
    return round.pipe(
      Effect.forever,
      Effect.onInterrupt(() =>
        own.has(name) ? leaveChain(name).pipe(Effect.timeout(goodbye), Effect.ignore) : Effect.void
      )
    )
  }

  return Placement.of({ run })
})
