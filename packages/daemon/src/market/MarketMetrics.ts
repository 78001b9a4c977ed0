/** The metrics of market data. */
import type { Disbelief } from "@headwater/core/market/Rate"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const requests = Metric.counter("headwater_market_requests_total", {
  description: "Requests to providers of market data, by outcome",
  incremental: true
})

const quotes = Metric.counter("headwater_market_quotes_total", {
  description: "Quotes of providers of market data: kept, or why they were not believed",
  incremental: true
})

const runs = Metric.counter("headwater_market_runs_total", {
  description: "Runs of the tasks of market data, by outcome",
  incremental: true
})

const lastSuccess = Metric.gauge("headwater_market_last_success_timestamp_seconds", {
  description: "When a task of market data last succeeded, in seconds since the Unix epoch"
})

/** `limited`: a 429; `refused`: the request was wrong or not allowed; `failed`: no answer, or an unreadable one. */
type RequestOutcome = "answered" | "limited" | "refused" | "failed"

export const requested = (provider: string, outcome: RequestOutcome) =>
  Metric.update(Metric.withAttributes(requests, { provider, outcome }), 1)

export const quoted = (provider: string, outcome: "kept" | "unreadable" | Disbelief, count: number) =>
  Metric.update(Metric.withAttributes(quotes, { provider, outcome }), count)

export const ran = Effect.fnUntraced(function* (provider: string, task: string, succeeded: boolean) {
  yield* Metric.update(Metric.withAttributes(runs, { provider, task, outcome: succeeded ? "succeeded" : "failed" }), 1)
  if (!succeeded) return
  const now = yield* Clock.currentTimeMillis
  yield* Metric.update(Metric.withAttributes(lastSuccess, { provider, task }), Math.floor(now / 1000))
})
