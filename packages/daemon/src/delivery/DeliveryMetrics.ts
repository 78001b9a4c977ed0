/** What delivery can be watched by. Updates are synchronous: they are made for every callback. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const attempts = Metric.counter("headwater_callback_attempts_total", {
  description: "Attempts to deliver a callback, by outcome",
  incremental: true
})
const accepted = Metric.withAttributes(attempts, { outcome: "delivered" })
const toRetry = Metric.withAttributes(attempts, { outcome: "retry" })
const givenUp = Metric.withAttributes(attempts, { outcome: "refused" })

const uncounted = Metric.withAttributes(attempts, { outcome: "not_counted" })

const latency = Metric.histogram("headwater_callback_latency_seconds", {
  description: "Seconds from the commit of an event to the acceptance of its callback",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600]
})

const queueAge = Metric.gauge("headwater_callback_queue_age_seconds", {
  description: "Age of the oldest callback that was taken to be sent last"
})

/** The functions take milliseconds. */
export const make = Effect.map(Effect.context<never>(), (context) => ({
  delivered: (millis: number) => {
    accepted.updateUnsafe(1, context)
    latency.updateUnsafe(millis / 1000, context)
  },
  failed: () => toRetry.updateUnsafe(1, context),
  notCounted: () => uncounted.updateUnsafe(1, context),
  refused: () => givenUp.updateUnsafe(1, context),
  waited: (millis: number) => queueAge.updateUnsafe(millis / 1000, context)
}))
