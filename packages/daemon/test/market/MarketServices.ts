/** The services that market data needs, over a fresh store. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { stores } from "../../../../test/Stores.ts"
import * as CoinGecko from "../../src/market/CoinGecko.ts"
import { httpClient } from "../../src/market/ConfiguredProviders.ts"
import * as MarketSettings from "../../src/market/MarketSettings.ts"
import { nothing, type Provider, plus } from "../../src/market/Provider.ts"

/** Market data is the same on every store, which has tests of its own: here one will do. */
export const layer = Layer.mergeAll(Assets.layer, RecurringTasks.layer).pipe(
  Layer.provideMerge(stores[0]!.layer),
  Layer.provideMerge(httpClient),
  Layer.provideMerge(NodeServices.layer)
)

const decode = Schema.decodeUnknownSync(MarketSettings.schema)

/** The provider against a server, in a hurry. */
export const coingecko = (url: string, settings: Record<string, unknown> = {}, waits: Record<string, number> = {}) =>
  CoinGecko.make(
    decode({ coingecko: { url, top: 0, logos: false, requestsPerMinute: 60_000, ...settings } }).coingecko!,
    { backoffMillis: 5, timeoutMillis: 5_000, ...waits }
  )

/** Does one task of a provider, or all of them. */
export const run = (provider: Provider, name?: string) =>
  Effect.reduce(
    provider.tasks.filter((task) => name === undefined || task.name === name),
    () => nothing,
    (sum, task) =>
      Effect.map(
        Effect.flatMap(task.work, (work) => work.run(() => Effect.void)),
        (summary) => plus(sum, summary)
      )
  )
