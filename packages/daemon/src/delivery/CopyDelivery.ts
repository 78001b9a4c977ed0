/**
 * Sends copies of callbacks to other URLs: some copies at a time, of each one callback after another. A failed attempt is
 * repeated by the operator's profile; when the attempts have run out, the copy stops, and nothing else does.
 */
import type { CopyFailure, LeasedCopy } from "@headwater/indexer/store/subscriptions/CallbackCopies"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import { CallbackTarget } from "./CallbackTarget.ts"
import * as CallbackHeaders from "./internal/CallbackHeaders.ts"
import * as SaidOnce from "./internal/SaidOnce.ts"
import type { OwnFailures } from "./OwnFailures.ts"
import { isAcceptance, type NoReply, ReceiverClient } from "./ReceiverClient.ts"
import * as RetryDecision from "./RetryDecision.ts"
import type { RetryProfile } from "./RetryProfile.ts"

interface Options {
  readonly profile: RetryProfile
  readonly own: OwnFailures
  /** Copies that are sent at the same time. */
  readonly atOnce: number
  readonly leaseMillis: number
  /** What an attempt takes at most, until its outcome is written. */
  readonly attemptMillis: number
  /** How often copies are looked for; how long nothing is sent after an own failure, or one of the store's. */
  readonly lookMillis: number
  readonly stopping: () => boolean
}

/** Until nothing is to be sent at this moment; in the surrounding scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { atOnce, attemptMillis, leaseMillis, lookMillis, own, profile, stopping } = options
  const outbox = yield* Outbox
  const client = yield* ReceiverClient
  const target = yield* CallbackTarget
  const wakeup = yield* Latch.make()
  const headersOf = CallbackHeaders.make()
  const fibers = yield* FiberSet.make<void>()

  const failed = Effect.fnUntraced(function* (
    attempts: number,
    error: string,
    answer: { readonly status: number | undefined; readonly retryAfter: number | undefined }
  ) {
    const decision = yield* RetryDecision.decide(profile, { attempts, ...answer })
    const now = yield* Clock.currentTimeMillis
    return { error, attempts, due: decision.kind === "retry" ? now + decision.delayMillis : undefined }
  })

  /** A callback that is posted: its failure, or undefined where it was accepted. */
  const post = Effect.fnUntraced(function* ({ lease }: LeasedCopy, index: number, url: URL, attempts: number) {
    const callback = lease.callbacks[index]!
    const at = yield* Clock.currentTimeMillis
    const headers = headersOf(lease)(callback, at)
    const request = client.request({ method: "POST", url, headers, body: callback.body })
    return yield* Effect.matchEffect(own.during(lease, url, at, request), {
      onFailure: Effect.fnUntraced(function* (failure: NoReply) {
        const verdict = yield* own.judge(lease, url, at, failure)
        if (verdict === "receiver") {
          return yield* failed(attempts + 1, failure.reason, { status: undefined, retryAfter: undefined })
        }
        // An attempt that our own failure ended is none.
        return { error: failure.reason, attempts, due: (yield* Clock.currentTimeMillis) + lookMillis }
      }),
      onSuccess: Effect.fnUntraced(function* ({ retryAfter, status }) {
        yield* own.heard(lease, url, yield* Clock.currentTimeMillis)
        if (isAcceptance(status)) return undefined
        return yield* failed(attempts + 1, `answered ${status}`, { status, retryAfter })
      })
    })
  })

  /** Sends what is leased until an attempt fails, or the lease is almost over. */
  const send = Effect.fnUntraced(function* (copy: LeasedCopy) {
    const { callbacks, leasedUntil } = copy.lease
    let accepted = 0
    const all = Effect.gen(function* () {
      const url = yield* target.parse(copy.lease.url)
      while (accepted < callbacks.length) {
        if (stopping() || (yield* Clock.currentTimeMillis) + attemptMillis > leasedUntil) return undefined
        const failure = yield* post(copy, accepted, url, accepted === 0 ? copy.attempts : 0)
        if (failure !== undefined) return failure
        accepted++
      }
      return undefined
    })
    const failure = yield* Effect.catchTag(all, "InvalidCallbackUrl", ({ message }) =>
      Effect.succeed<CopyFailure>({ error: message, attempts: copy.attempts + 1, due: undefined })
    )
    // Not noted, everything would be sent again.
    yield* Effect.retry(outbox.advanceCopy(copy, { accepted, failure }), {
      schedule: Schedule.spaced("1 second"),
      while: () => Effect.map(Clock.currentTimeMillis, (now) => now < leasedUntil)
    })
  })

  let running = 0
  const run = (copy: LeasedCopy) =>
    send(copy).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Copies of callbacks could not be sent", cause)),
      Effect.ensuring(
        Effect.suspend(() => {
          running--
          return wakeup.open
        })
      )
    )

  const lease = Effect.gen(function* () {
    while (running < atOnce && !stopping()) {
      const copy = yield* outbox.leaseCopy(leaseMillis)
      if (copy === undefined) return
      if (copy === "later") continue
      running++
      yield* FiberSet.run(fibers, run(copy))
    }
  })

  const looked = SaidOnce.orElse(lease, "Copies of callbacks could not be leased", undefined)

  return {
    /** Looks for copies, again and again. Never returns. */
    run: Effect.gen(function* () {
      yield* wakeup.close
      yield* looked
      yield* Effect.timeoutOption(wakeup.await, lookMillis)
    }).pipe(Effect.forever),
    /** Waits until nothing is on its way. */
    ended: FiberSet.awaitEmpty(fibers)
  }
})
