/** What every exporter says of its process, under the names that Prometheus recommends. */
import { readdirSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time of the process, user and system",
  incremental: true
})
const memory = Metric.gauge("process_resident_memory_bytes", { description: "Resident memory of the process" })
const started = Metric.gauge("process_start_time_seconds", {
  description: "When the process began, since the Unix epoch"
})
const descriptors = Metric.gauge("process_open_fds", { description: "Open file descriptors" })
const heap = Metric.gauge("nodejs_heap_size_used_bytes", { description: "Used heap of Node.js" })
const lag = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "By how much the event loop was late since the last look, 99th percentile"
})

const lagResolutionMillis = 10

const measureDelay = Effect.acquireRelease(
  Effect.sync(() => {
    const delay = monitorEventLoopDelay({ resolution: lagResolutionMillis })
    delay.enable()
    return delay
  }),
  (delay) => Effect.sync(() => delay.disable())
)

/** An effect that brings the metrics up to date. */
export const make = Effect.map(measureDelay, (delay) => {
  let counted = 0
  return Effect.gen(function* () {
    const { system, user } = process.cpuUsage()
    yield* Metric.update(cpu, (user + system - counted) / 1e6)
    counted = user + system
    yield* Metric.update(memory, process.memoryUsage.rss())
    yield* Metric.update(started, performance.timeOrigin / 1000)
    yield* Metric.update(heap, process.memoryUsage().heapUsed)
    // Linux alone has this folder.
    const open = yield* Effect.option(Effect.try(() => readdirSync("/proc/self/fd").length))
    if (open._tag === "Some") yield* Metric.update(descriptors, open.value)
    const late = delay.percentile(99) / 1e9 - lagResolutionMillis / 1000
    yield* Metric.update(lag, Number.isFinite(late) ? Math.max(0, late) : 0)
    delay.reset()
  })
})
