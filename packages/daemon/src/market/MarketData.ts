/**
 * Keeps the catalogue and its rates current: every task of every provider on its own schedule and in a fiber of its own,
 * so that the failure of one provider stops no other. A task that fails leaves the last good values, with their times.
 */

import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as RetryForever from "@headwater/indexer/sync/RetryForever"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Catalogue from "./Catalogue.ts"
import * as MarketMetrics from "./MarketMetrics.ts"
import {
  nothing,
  type Provider,
  type ProviderError,
  Providers,
  plus,
  type Summary,
  type Task,
  type Work
} from "./Provider.ts"

/** Does the work, and shows its progress. */
type Watch = (title: string, work: Work) => Effect.Effect<Summary, ProviderError | DatabaseError>

const unwatched: Watch = (_, { run }) => run(() => Effect.void)

/** Does a task once. */
const once = Effect.fn("MarketData.once")(function* (provider: Provider, task: Task, watch: Watch) {
  const start = yield* Clock.currentTimeMillis
  const work = Effect.flatMap(task.work, (work) => watch(`${provider.name} ${task.name}`, work))
  const done = yield* Effect.result(work)
  yield* MarketMetrics.ran(provider.name, task.name, Result.isSuccess(done))
  if (Result.isSuccess(done)) {
    const { added, disbelieved, quotes, refused, updated } = done.success
    if (added + updated + refused + quotes + disbelieved > 0) {
      const seconds = ((yield* Clock.currentTimeMillis) - start) / 1000
      yield* Effect.logInfo(
        `Market data of ${provider.name} (${task.name}): ${added} assets added, ${updated} changed, ${refused} refused; ${quotes} rates kept, ${disbelieved} not believed; ${seconds.toFixed(1)} s`
      )
    }
  }
  return yield* Effect.fromResult(done)
})

const keyOf = (provider: Provider, task: Task) => `${provider.name}/${task.name}`

/** How long after a failure of the store, or a defect, a task is tried again. */
const failureMillis = 30_000

/** Does a task whenever the task is due, until interrupted. */
const repeat = Effect.fnUntraced(function* (provider: Provider, task: Task) {
  const tasks = yield* RecurringTasks
  const key = keyOf(provider, task)
  const run = Effect.gen(function* () {
    const wait = yield* tasks.claim(key, task.everyMillis)
    if (wait > 0) return yield* Effect.sleep(wait)
    yield* Effect.catchTag(once(provider, task, unwatched), "ProviderError", ({ message, retryAfter }) =>
      Effect.andThen(
        Effect.logWarning(`Market data of ${provider.name} (${task.name}): ${message}. The last good values stay`),
        retryAfter === undefined ? Effect.void : tasks.postpone(key, Math.min(retryAfter, task.everyMillis))
      )
    )
  })
  return yield* run.pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError(`Market data of ${provider.name} (${task.name}) failed`, cause),
        Effect.sleep(failureMillis)
      )
    ),
    Effect.forever
  )
})

const thinMillis = 3_600_000

const thinning = Effect.gen(function* () {
  const assets = yield* Assets
  const tasks = yield* RecurringTasks
  const run = Effect.gen(function* () {
    const wait = yield* tasks.claim("thin", thinMillis)
    yield* wait > 0 ? Effect.sleep(wait) : assets.thin
  })
  return yield* run.pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logWarning("Old rates could not be thinned", cause), Effect.sleep(failureMillis))
    ),
    Effect.forever
  )
})

const run = Effect.gen(function* () {
  yield* RetryForever.untilDone("Listing the assets that ship", Catalogue.seed)
  const providers = yield* Providers
  const tasks = providers.flatMap((provider) => provider.tasks.map((task) => repeat(provider, task)))
  yield* Effect.all([...tasks, thinning], { concurrency: "unbounded", discard: true })
})

/** Lists the assets that ship, and then runs every task, as long as the layer lives. A store that takes nothing holds up nobody else. */
export const layer: Layer.Layer<never, never, Assets | RecurringTasks | Providers> = Layer.effectDiscard(
  Effect.forkScoped(run)
)

/** No provider is configured, or none of this name. */
export class NoProvider extends Schema.TaggedError<NoProvider>()("NoProvider", { message: Schema.String }) {}

/**
 * Does every task of one provider, or of all, once and now; the sum, and the failures. The schedules count from now.
 */
export const refresh = Effect.fn("MarketData.refresh")(function* (name: string | undefined, watch: Watch) {
  const tasks = yield* RecurringTasks
  const all = yield* Providers
  const providers = all.filter((provider) => name === undefined || provider.name === name)
  if (providers.length === 0) {
    const names = all.map(({ name }) => name).join(", ")
    return yield* new NoProvider({
      message:
        names === ""
          ? "No provider of market data is configured: set marketData.coingecko or marketData.file"
          : `No provider "${name}" is configured, only ${names}`
    })
  }
  yield* Catalogue.seed
  let summary = nothing
  const failures: Array<ProviderError> = []
  for (const provider of providers) {
    for (const task of provider.tasks) {
      yield* tasks.postpone(keyOf(provider, task), task.everyMillis)
      const done = yield* once(provider, task, watch).pipe(
        Effect.catchTag("ProviderError", (error) =>
          Effect.sync(() => {
            failures.push(error)
            return nothing
          })
        )
      )
      summary = plus(summary, done)
    }
  }
  return { summary, failures }
})
