/**
 * Which failed attempts are not the receiver's: those that this machine's own lack of network, resolver, descriptors or
 * memory, or its wrong clock, has caused. Such an attempt is not counted, and its callback stays due.
 *
 * - A lack of descriptors or memory is ours at once: the error says so. Less is sent at a time from then on.
 * - A certificate that is not valid at this time is the clock's fault where the newest block shows that the clock is as wrong. Blocks
 *   that are old show it only where no other host has a valid certificate: a chain may be far behind, or stand still.
 * - Where a host fell silent, or nothing at all was heard of it or of its name, the failure may be either's. It is the
 *   receiver's if another host was heard of as the attempt ended. Where none was, some that should be there are knocked at: hosts
 *   that were heard of before, and hosts of other accounts' subscriptions. If one is heard of, the failure is the
 *   receiver's; if none is, it is ours, and an outage has begun. So no account can make an outage as long as any other
 *   account has a host that lives. Where there is no other host to ask, a name server is: if it does not answer, or
 *   there is no route, the failure is ours.
 * - An attempt that has waited for three seconds, while nothing was heard of any host, is looked at so before it ends: an
 *   outage is told soon, however long receivers may take.
 * - In an outage a few callbacks are still tried, and a few hosts are knocked at every two seconds. The first host that is
 *   heard of ends the outage, and everything goes on.
 *
 * Hosts that the operator allows by name are judged apart from the others: they may be on this network, and be heard of
 * while nothing else is.
 */
import { closeSync, openSync } from "node:fs"
import * as ProvenTime from "@headwater/indexer/store/chain/ProvenTime"
import type { Lease } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Lack, OwnOutages } from "../supervision/OwnOutages.ts"
import { CallbackTarget } from "./CallbackTarget.ts"
import { reachMillis } from "./internal/Knock.ts"
import * as OtherHosts from "./internal/OtherHosts.ts"
import { NoReply, ReceiverClient } from "./ReceiverClient.ts"

/** Whose a failed attempt is: `own` in an outage, `scarce` for a lack of descriptors or memory. */
type Verdict = "receiver" | "own" | "scarce"

export interface OwnFailures {
  /** Takes note that a receiver was heard of at `now`. */
  readonly heard: (lease: Lease, url: URL, now: number) => Effect.Effect<void>
  /** Has an attempt that began at `at` looked at while it lasts. */
  readonly during: <A, E>(lease: Lease, url: URL, at: number, attempt: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Whose an attempt is that began at `at` and brought no answer. Takes at most {@link judgeMillis}. */
  readonly judge: (lease: Lease, url: URL, at: number, failure: NoReply) => Effect.Effect<Verdict>
  /** Whether an outage keeps a host from being heard of, as far as is known. */
  readonly isOut: (host: string) => boolean
  /** Looks whether outages are over. Never returns. */
  readonly run: Effect.Effect<never>
}

/** How long it may take to say whose a failure is. */
export const judgeMillis = reachMillis + OtherHosts.storeMillis + 500
/** How often an outage is looked at. */
const lookMillis = 2000
/** How long an attempt may wait for its answer before it is looked at. */
const waitMillis = 3000
/** How long before the end of an attempt another host may have been heard of, to show that the network works. */
const recentMillis = 1000
/** How long descriptors, memory or the clock must have sufficed until their lack is over. */
const scarceMillis = 15_000

/** How far blocks may be ahead of the time: Bitcoin's rule is the widest. */
const blocksAhead = 7_200_000

/** Hosts that are heard of, or not, together. */
interface Reach {
  readonly others: OtherHosts.OtherHosts
  /** When any of them was last heard of, in milliseconds since the Unix epoch. */
  heardAt: number
  /** When the last outage was over. */
  overAt: number
  outage: { readonly lack: Lack; readonly suspect: OtherHosts.Suspect } | undefined
  /** The last round of knocking. */
  round: OtherHosts.Round | undefined
}

/** Whether another descriptor can be had at this moment. */
const hasDescriptor = Effect.try({
  try: () => closeSync(openSync("/dev/null", "r")),
  catch: (error) => String((error as { readonly code?: unknown }).code)
}).pipe(Effect.match({ onFailure: (code) => !/^E[MN]FILE$/.test(code), onSuccess: () => true }))

export const make = Effect.fnUntraced(function* (over: Effect.Effect<void>) {
  const client = yield* ReceiverClient
  const target = yield* CallbackTarget
  const outages = yield* OwnOutages
  const outbox = yield* Outbox
  const clock = yield* Clock.Clock
  const reachOf = (isAllowed: boolean) =>
    Effect.map(
      OtherHosts.make(isAllowed),
      (others): Reach => ({ others, heardAt: -Infinity, overAt: -Infinity, outage: undefined, round: undefined })
    )
  const reaches = { public: yield* reachOf(false), allowed: yield* reachOf(true) }
  const of = (host: string) => (target.isAllowed(host) ? reaches.allowed : reaches.public)
  const scarceAt = new Map<Lack, number>()

  const end = Effect.fnUntraced(function* (reach: Reach) {
    const { outage } = reach
    if (outage === undefined) return
    reach.outage = undefined
    reach.overAt = clock.currentTimeMillisUnsafe()
    const lasts = Object.values(reaches).some((other) => other.outage?.lack === outage.lack)
    if (!lasts) yield* outages.end(outage.lack)
    yield* over
  })

  const heard: OwnFailures["heard"] = (lease, url, now) => {
    const reach = of(lease.host)
    reach.heardAt = now
    reach.others.remember(lease.account, url.origin)
    return reach.outage === undefined ? Effect.void : end(reach)
  }

  /** Of a certificate that is not valid at this time. */
  const judgeDate = Effect.fnUntraced(function* (host: string, { fault, reason }: NoReply) {
    const newest = yield* outbox.newestBlock.pipe(
      Effect.timeout(OtherHosts.storeMillis),
      Effect.orElseSucceed(() => undefined)
    )
    const now = clock.currentTimeMillisUnsafe()
    if (newest === undefined) return "receiver"
    const isOurs =
      fault === "early"
        ? now < newest - blocksAhead
        : now > newest + ProvenTime.longestSilence && !(yield* of(host).others.isAnyCertified(host))
    if (!isOurs) return "receiver"
    scarceAt.set("clock", now)
    yield* outages.begin("clock", `${host}: ${reason}; the newest block is of ${new Date(newest).toISOString()}`)
    return "own" as const
  })

  const scarce = Effect.fnUntraced(function* (lack: "descriptors" | "memory", error: string) {
    scarceAt.set(lack, clock.currentTimeMillisUnsafe())
    yield* outages.begin(lack, error)
    return "scarce" as const
  })

  /** Of a failure that may be either's. */
  const judgeUnheard = Effect.fnUntraced(function* (
    reach: Reach,
    host: string,
    url: URL,
    at: number,
    failure: NoReply
  ) {
    // The resolver says of a machine without descriptors what it says of name servers that are not there.
    if (failure.fault === "unresolved") {
      if (scarceAt.has("descriptors")) return "scarce"
      if (!(yield* hasDescriptor)) return yield* scarce("descriptors", failure.reason)
    }
    const now = clock.currentTimeMillisUnsafe()
    // The clock was put back since: when that was is not known.
    if (reach.heardAt > now) reach.heardAt = -Infinity
    if (reach.overAt > now) reach.overAt = -Infinity
    // What was heard early in a long attempt says nothing of its end.
    const since = Math.max(at, now - recentMillis)
    // An attempt that an outage was part of says nothing of the receiver.
    if (reach.outage !== undefined || reach.overAt >= at) return "own"
    if (reach.heardAt >= since) return "receiver"
    const suspect = {
      host,
      silent: failure.fault === "silent" ? url : undefined,
      route: !/\bENETUNREACH\b/.test(failure.reason)
    }
    // Several failures at a time wait for one round.
    const known = reach.round !== undefined && reach.round.at >= since ? reach.round : undefined
    const round = known ?? {
      at: clock.currentTimeMillisUnsafe(),
      found: yield* Effect.cached(reach.others.knock(suspect))
    }
    reach.round = round
    const reached = yield* round.found
    if (reached || reach.heardAt >= since) return "receiver"
    if (reach.outage === undefined) {
      const lack = failure.fault === "unresolved" ? "resolver" : "network"
      reach.outage = { lack, suspect }
      yield* outages.begin(lack, `${host}: ${failure.reason}`)
    }
    return "own"
  })

  const judge: OwnFailures["judge"] = Effect.fnUntraced(function* (lease, url, at, failure) {
    switch (failure.fault) {
      case "receiver":
        yield* heard(lease, url, clock.currentTimeMillisUnsafe())
        return "receiver"
      case "name":
        return "receiver"
      case "expired":
      case "early":
        yield* heard(lease, url, clock.currentTimeMillisUnsafe())
        return yield* judgeDate(lease.host, failure)
      case "descriptors":
      case "memory":
        return yield* scarce(failure.fault, failure.reason)
      default:
        return yield* judgeUnheard(of(lease.host), lease.host, url, at, failure)
    }
  })

  /** Attempts under way, the oldest first. */
  const underWay = new Set<{ readonly lease: Lease; readonly url: URL; readonly at: number }>()

  const during: OwnFailures["during"] = (lease, url, at, attempt) =>
    Effect.suspend(() => {
      const one = { lease, url, at }
      underWay.add(one)
      // Run for every callback: with `ensuring` it would be three steps more.
      return Effect.onExitPrimitive(attempt, () => {
        underWay.delete(one)
        return undefined
      })
    })

  /** Looks whether the oldest attempt waits because of an outage. */
  const lookAtWaiting = Effect.fnUntraced(function* (reach: Reach) {
    const now = clock.currentTimeMillisUnsafe()
    for (const { at, lease, url } of underWay) {
      if (of(lease.host) !== reach) continue
      if (now - at < waitMillis || reach.heardAt >= at) return
      const fault = client.looksUp(url.hostname) ? "unresolved" : "silent"
      const reason = `no answer for ${now - at} ms`
      yield* judgeUnheard(reach, lease.host, url, at, new NoReply({ reason, fault }))
      return
    }
  })

  const look = Effect.gen(function* () {
    for (const reach of Object.values(reaches)) {
      const { outage } = reach
      if (outage === undefined) yield* lookAtWaiting(reach)
      else if (yield* reach.others.knock(outage.suspect)) yield* end(reach)
    }
    const now = clock.currentTimeMillisUnsafe()
    for (const [lack, at] of scarceAt) {
      // A clock that is put right is put back or forward.
      if (Math.abs(now - at) < scarceMillis) continue
      scarceAt.delete(lack)
      yield* outages.end(lack)
    }
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("An outage could not be looked at", cause)))

  return {
    heard,
    during,
    judge,
    isOut: (host) => of(host).outage !== undefined,
    run: Effect.forever(Effect.andThen(Effect.sleep(lookMillis), look))
  } satisfies OwnFailures
})
