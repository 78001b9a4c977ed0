/** Metrics of the interface: requests by operation, never by path, since a path may hold an extended public key. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const requests = Metric.counter("headwater_http_requests_total", {
  description: "Requests answered, by operation, method and status",
  incremental: true
})

const seconds = Metric.histogram("headwater_http_request_seconds", {
  description: "Seconds that answering a request took, by operation",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
})

const credits = Metric.counter("headwater_credits_consumed_total", {
  description: "Credits that requests have consumed, by operation",
  incremental: true
})

/** Counts an answered request. `consumed`: credits, 0 where credits are not counted. */
export const answered = (request: {
  readonly operation: string
  readonly method: string
  readonly status: number
  readonly millis: number
  readonly consumed: number
}) =>
  Effect.gen(function* () {
    const { consumed, method, millis, operation, status } = request
    yield* Metric.update(Metric.withAttributes(requests, { operation, method, status: String(status) }), 1)
    yield* Metric.update(Metric.withAttributes(seconds, { operation }), millis / 1000)
    if (consumed > 0) yield* Metric.update(Metric.withAttributes(credits, { operation }), consumed)
  })
