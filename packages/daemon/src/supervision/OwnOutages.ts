/**
 * What this machine or its store lacks at the moment, as opposed to failures of nodes and receivers. An outage is said
 * once in the log when it begins and once when it ends; `/ready`, the metrics and the console show it meanwhile.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What is lacking, and what follows from that. */
const lacks = {
  network: "no receiver can be reached: callbacks wait, and no attempt is counted",
  resolver: "no receiver's name can be resolved: callbacks wait, and no attempt is counted",
  descriptors:
    "no file descriptor is left: fewer callbacks are sent at a time, and no failed attempt is counted (raise LimitNOFILE or ulimit -n)",
  memory: "no memory is left for connections: fewer callbacks are sent at a time, and no failed attempt is counted",
  clock:
    "certificates of receivers are not valid by this machine's clock, which the newest block speaks against: their callbacks wait, and no such attempt is counted (set the clock by NTP)",
  store: "the store cannot be written: nothing is recorded, and no callback is sent",
  leases:
    "the store, which can be written otherwise, gives out no callbacks, or does not take what came of them: no callback is sent"
} as const

export type Lack = keyof typeof lacks

export const all = Object.keys(lacks) as ReadonlyArray<Lack>

export interface OwnOutage {
  readonly lack: Lack
  /** What is lacking, and what follows. */
  readonly message: string
  /** The error that showed it, which may name a receiver or a file. */
  readonly error: string
  /** When it was noticed, in milliseconds since the Unix epoch. */
  readonly since: number
}

export class OwnOutages extends Context.Service<
  OwnOutages,
  {
    /** Says that something is lacking, with the error that shows it; nothing where that is known. */
    readonly begin: (lack: Lack, error: string) => Effect.Effect<void>
    /** Says that something is no longer lacking; nothing where it was not. */
    readonly end: (lack: Lack) => Effect.Effect<void>
    /** Those that last. */
    readonly lasting: Effect.Effect<ReadonlyArray<OwnOutage>>
  }
>()("@headwater/daemon/supervision/OwnOutages") {
  static readonly layer = Layer.sync(OwnOutages, () => {
    const outages = new Map<Lack, OwnOutage>()
    return OwnOutages.of({
      begin: Effect.fnUntraced(function* (lack, error) {
        if (outages.has(lack)) return
        const message = `${lack}: ${lacks[lack]}`
        outages.set(lack, { lack, message, error, since: yield* Clock.currentTimeMillis })
        yield* Effect.logError(`An outage of this machine's own has begun: ${message}: ${error}`)
      }),
      end: Effect.fnUntraced(function* (lack) {
        const outage = outages.get(lack)
        if (outage === undefined) return
        outages.delete(lack)
        const seconds = Math.round(((yield* Clock.currentTimeMillis) - outage.since) / 1000)
        yield* Effect.logWarning(`An outage of this machine's own is over after ${seconds} s: ${lack}`)
      }),
      lasting: Effect.sync(() => [...outages.values()])
    })
  })
}
