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

/** The functions take milliseconds. Every series is there from the start: an increase from nothing is none to Prometheus. */
export const make = Effect.map(Effect.context<never>(), (context) => {
  for (const series of [accepted, toRetry, givenUp, uncounted]) series.updateUnsafe(0, context)
  return {
    delivered: (millis: number) => {
      accepted.updateUnsafe(1, context)
      latency.updateUnsafe(millis / 1000, context)
    },
    failed: () => toRetry.updateUnsafe(1, context),
    notCounted: () => uncounted.updateUnsafe(1, context),
    refused: () => givenUp.updateUnsafe(1, context)
  }
})
