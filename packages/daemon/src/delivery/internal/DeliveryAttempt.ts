/** One attempt to deliver a callback, and what follows from it. */
import type { Attempt, Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as DeliveryMetrics from "../DeliveryMetrics.ts"
import type { DeliveryTrace } from "../DeliveryTrace.ts"
import type { OutcomeWriter } from "../OutcomeWriter.ts"
import type { OwnFailures } from "../OwnFailures.ts"
import { isAcceptance, type NoReply, ReceiverClient } from "../ReceiverClient.ts"
import type { ReceiverHosts } from "../ReceiverHosts.ts"
import * as RetryDecision from "../RetryDecision.ts"
import type { RetryProfile } from "../RetryProfile.ts"

interface Dependencies {
  readonly profile: RetryProfile
  readonly hosts: ReceiverHosts
  readonly outcomes: OutcomeWriter
  readonly own: OwnFailures
  readonly metrics: Effect.Success<typeof DeliveryMetrics.make>
  readonly traced: DeliveryTrace
}

/** Where and how a callback is posted. */
export interface Posting {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** The present, in milliseconds since the Unix epoch. */
  readonly at: number
}

/** Whether the subscription's next callback may be sent. */
export type DeliveryAttempt = (lease: Lease, callback: OutboxMessage, posting: Posting) => Effect.Effect<boolean>

export const make = Effect.fnUntraced(function* ({ hosts, metrics, outcomes, own, profile, traced }: Dependencies) {
  const client = yield* ReceiverClient
  const clock = yield* Clock.Clock

  const accepted = (callback: OutboxMessage, attempt: Attempt) => {
    outcomes.add({ kind: "delivered", callback, attempt })
    metrics.delivered(attempt.at + attempt.duration - callback.created)
    return Effect.succeed(true)
  }

  const notAccepted = Effect.fnUntraced(function* (
    lease: Lease,
    callback: OutboxMessage,
    { pausedUntil, ...attempt }: Attempt & { readonly pausedUntil: number },
    retryAfter: number | undefined
  ) {
    const named = Effect.annotateLogs("callback", callback.idempotencyKey)
    yield* named(Effect.logDebug(`A callback to ${lease.host} was not accepted: ${attempt.error}`))
    const attempts = callback.attempts + 1
    const decision = yield* RetryDecision.decide(profile, { attempts, status: attempt.status, retryAfter })
    if (decision.kind === "retry") {
      const due = attempt.at + attempt.duration + decision.delayMillis
      outcomes.add({ kind: "retry", callback, attempt, due, pausedUntil, retriesLeft: decision.retriesLeft })
      metrics.failed()
      return true
    }
    const { reason } = decision
    yield* named(Effect.logWarning(`A subscription to ${lease.host} is deactivated: ${reason}`))
    outcomes.add({ kind: "refused", callback, attempt, subscription: lease.subscription, reason })
    metrics.refused()
    return false
  })

  /** Notes at the host that an attempt has ended; when it began, how long it took, and until when the host is left alone. */
  const ended = (lease: Lease, at: number, now: number, answered: boolean) => ({
    at,
    duration: now - at,
    pausedUntil: hosts.attempted(lease, { answered, at, now })
  })

  /** An attempt that our own failure ended is none: the callback stays due. */
  const notCounted = (lease: Lease, callback: OutboxMessage, isScarce: boolean) =>
    Effect.sync(() => {
      outcomes.add({ kind: "released", callback })
      hosts.waits(lease.host, isScarce, clock.currentTimeMillisUnsafe())
      metrics.notCounted()
      return false
    })

  const unanswered = (lease: Lease, callback: OutboxMessage, { at, url }: Posting, failure: NoReply) => {
    const now = clock.currentTimeMillisUnsafe()
    return Effect.flatMap(own.judge(lease, url, at, failure), (verdict) =>
      verdict === "receiver"
        ? notAccepted(lease, callback, { ...ended(lease, at, now, false), error: failure.reason }, undefined)
        : notCounted(lease, callback, verdict === "scarce")
    )
  }

  // Run for every callback: a generator would cost as much as the rest of it.
  const attempt: DeliveryAttempt = (lease, callback, posting) => {
    const { at, headers, url } = posting
    return Effect.matchEffect(
      own.during(
        lease,
        url,
        at,
        traced(lease, callback, client.request({ method: "POST", url, headers, body: callback.body }))
      ),
      {
        onFailure: (failure) => unanswered(lease, callback, posting, failure),
        onSuccess: ({ retryAfter, status }) => {
          const now = clock.currentTimeMillisUnsafe()
          const { pausedUntil, ...spent } = ended(lease, at, now, true)
          const answered = { ...spent, status }
          return Effect.andThen(
            own.heard(lease, url, now),
            isAcceptance(status)
              ? accepted(callback, answered)
              : notAccepted(lease, callback, { ...answered, pausedUntil, error: `answered ${status}` }, retryAfter)
          )
        }
      }
    )
  }

  return attempt
})
