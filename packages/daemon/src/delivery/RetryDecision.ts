/**
 * What follows from an attempt that the receiver did not accept: another attempt, and when, or the deactivation of the
 * subscription, and why. The times are those of the operator's {@link RetryProfile}.
 */
import * as Effect from "effect/Effect"
import * as RetryProfile from "./RetryProfile.ts"

/** Reasons of deactivation, as the account reads them. */
export const reasons = {
  exhausted: "maximum_retry_attempts_reached",
  gone: "receiver_gone",
  /** The URL broke a rule of the operator's that was made after the subscription. */
  forbidden: "callback_url_not_allowed"
} as const

export type RetryDecision =
  /** `retriesLeft`: said once, when half of the retries have failed. */
  | { readonly kind: "retry"; readonly delayMillis: number; readonly retriesLeft: number | undefined }
  | { readonly kind: "refuse"; readonly reason: string }

/** How an attempt failed. */
interface FailedAttempt {
  /** Attempts so far, with this one. */
  readonly attempts: number
  /** Status of the answer, if there was one. */
  readonly status: number | undefined
  /** Milliseconds of the pause that the answer asks for. */
  readonly retryAfter: number | undefined
}

/** The receiver wants no more callbacks. */
const gone = 410
/** The receiver, or what stands before it, has too much to do: the pause that it asks for is heeded. */
const throttled: ReadonlySet<number | undefined> = new Set([429, 503])

const retriesLeft = ({ delays }: RetryProfile.RetryProfile, attempts: number) => {
  const half = Math.floor(delays.length / 2)
  return attempts === half + 1 ? delays.length - half : undefined
}

/**
 * Decides by the operator's profile and by what is known of the attempt.
 *
 * @example
 * ```ts
 * import * as RetryDecision from "@headwater/daemon/delivery/RetryDecision"
 * import * as Effect from "effect/Effect"
 *
 * const profile = { delays: [1000, 60_000], jitter: 0 }
 * const failed = { status: 500, retryAfter: undefined }
 *
 * Effect.runSync(RetryDecision.decide(profile, { ...failed, attempts: 2 })) // => { kind: "retry", delayMillis: 60_000, retriesLeft: 1 }
 * Effect.runSync(RetryDecision.decide(profile, { ...failed, attempts: 3 })).kind // => "refuse"
 * ```
 */
export const decide = Effect.fnUntraced(function* (
  profile: RetryProfile.RetryProfile,
  { attempts, retryAfter, status }: FailedAttempt
) {
  if (status === gone) return { kind: "refuse", reason: reasons.gone } satisfies RetryDecision
  const pause = throttled.has(status) ? retryAfter : undefined
  const delayMillis = yield* RetryProfile.delay(profile, attempts, pause)
  return delayMillis === undefined
    ? ({ kind: "refuse", reason: reasons.exhausted } satisfies RetryDecision)
    : ({ kind: "retry", delayMillis, retriesLeft: retriesLeft(profile, attempts) } satisfies RetryDecision)
})
