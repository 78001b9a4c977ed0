/** One attempt to deliver a callback, and what follows from it. */
import type { Attempt, Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as DeliveryMetrics from "../DeliveryMetrics.ts"
import type { DeliveryTrace } from "../DeliveryTrace.ts"
import type { OutcomeWriter } from "../OutcomeWriter.ts"
import { ReceiverClient } from "../ReceiverClient.ts"
import type { ReceiverHosts } from "../ReceiverHosts.ts"
import * as RetryDecision from "../RetryDecision.ts"
import type { RetryProfile } from "../RetryProfile.ts"

interface Dependencies {
  readonly profile: RetryProfile
  readonly hosts: ReceiverHosts
  readonly outcomes: OutcomeWriter
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

export const make = Effect.fnUntraced(function* ({ hosts, metrics, outcomes, profile, traced }: Dependencies) {
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
    attempt: Attempt,
    retryAfter: number | undefined
  ) {
    const named = Effect.annotateLogs("callback", callback.idempotencyKey)
    yield* named(Effect.logDebug(`A callback to ${lease.host} was not accepted: ${attempt.error}`))
    const attempts = callback.attempts + 1
    const decision = yield* RetryDecision.decide(profile, { attempts, status: attempt.status, retryAfter })
    if (decision.kind === "retry") {
      outcomes.add({ kind: "retry", callback, attempt, due: attempt.at + attempt.duration + decision.delayMillis })
      metrics.failed()
      return true
    }
    const { reason } = decision
    yield* named(Effect.logWarning(`A subscription to ${lease.host} is deactivated: ${reason}`))
    outcomes.add({ kind: "refused", callback, attempt, subscription: lease.subscription, reason })
    metrics.refused()
    return false
  })

  /** Notes at the host that an attempt has ended; when it began and how long it took. */
  const ended = (host: string, at: number, answered: boolean) => {
    const now = clock.currentTimeMillisUnsafe()
    hosts.attempted(host, { answered, at, now })
    return { at, duration: now - at }
  }

  // Run for every callback: a generator would cost as much as the rest of it.
  const attempt: DeliveryAttempt = (lease, callback, { at, headers, url }) =>
    Effect.matchEffect(traced(lease, callback, client.request({ method: "POST", url, headers, body: callback.body })), {
      onFailure: ({ reason }) =>
        notAccepted(lease, callback, { ...ended(lease.host, at, false), error: reason }, undefined),
      onSuccess: ({ retryAfter, status }) => {
        const answered = { ...ended(lease.host, at, true), status }
        return status >= 200 && status < 300
          ? accepted(callback, answered)
          : notAccepted(lease, callback, { ...answered, error: `answered ${status}` }, retryAfter)
      }
    })

  return attempt
})
