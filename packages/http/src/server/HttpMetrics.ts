/** Metrics of the interface: requests by operation, never by path, since a path may hold an extended public key. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

// Attributes are a metric's own: those that are given to it in a context make a context of each update.
type Attributes = Readonly<Record<string, string>>

const requests = (attributes: Attributes) =>
  Metric.counter("headwater_http_requests_total", {
    description: "Requests answered, by operation, method and status",
    incremental: true,
    attributes
  })

const seconds = (attributes: Attributes) =>
  Metric.histogram("headwater_http_request_seconds", {
    description: "Seconds that answering a request took, by operation",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    attributes
  })

const credits = (attributes: Attributes) =>
  Metric.counter("headwater_credits_consumed_total", {
    description: "Credits that requests have consumed, by operation",
    incremental: true,
    attributes
  })

/** The metrics of one operation. */
interface OfOperation {
  readonly seconds: Metric.Histogram<number>
  readonly credits: Metric.Counter<number>
  /** By method and status. */
  readonly requests: Map<string, Metric.Counter<number>>
}

/** A metric with attributes is made once: to make one costs more than to count a request. */
const operations = new Map<string, OfOperation>()

const ofOperation = (operation: string): OfOperation => {
  const known = operations.get(operation)
  if (known !== undefined) return known
  const made = {
    seconds: seconds({ operation }),
    credits: credits({ operation }),
    requests: new Map()
  }
  operations.set(operation, made)
  return made
}

const requestsOf = ({ requests: known }: OfOperation, operation: string, method: string, status: number) => {
  const key = `${method} ${status}`
  const made = known.get(key) ?? requests({ operation, method, status: String(status) })
  known.set(key, made)
  return made
}

/** Counts an answered request. `consumed`: credits, 0 where credits are not counted. */
export const answered = (request: {
  readonly operation: string
  readonly method: string
  readonly status: number
  readonly millis: number
  readonly consumed: number
}) =>
  Effect.contextWith((context: Context.Context<never>) => {
    const { consumed, method, millis, operation, status } = request
    const metrics = ofOperation(operation)
    requestsOf(metrics, operation, method, status).updateUnsafe(1, context)
    metrics.seconds.updateUnsafe(millis / 1000, context)
    if (consumed > 0) metrics.credits.updateUnsafe(consumed, context)
    return Effect.void
  })
