/** Everything that `headwater serve` runs, put together from the settings. */

import * as Chain from "@headwater/core/chains/Chain"
import * as Operations from "@headwater/http/operations/families"
import * as StoredMarketData from "@headwater/http/operations/StoredMarketData"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { AccountRate, RequestsAtOnce } from "@headwater/http/server/RateLimit"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Routes from "@headwater/http/server/Routes"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { CreditRules, Credits } from "@headwater/indexer/store/accounts/Credits"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import { Database, type StoreTooNew, WaitForServer, whenAvailable } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as StoreMove from "@headwater/indexer/store/database/StoreMove"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as Domains from "@headwater/indexer/store/subscriptions/Domains"
import { CallbackCharging, Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { commandName } from "./CommandName.ts"
import * as Console from "./console/Console.ts"
import * as CallbackTarget from "./delivery/CallbackTarget.ts"
import * as Delivery from "./delivery/Delivery.ts"
import * as DomainVerification from "./delivery/DomainVerification.ts"
import * as MachineDns from "./delivery/MachineDns.ts"
import { ReceiverClient, ReceiverClientOptions } from "./delivery/ReceiverClient.ts"
import * as RetryProfile from "./delivery/RetryProfile.ts"
import * as Health from "./Health.ts"
import * as Listening from "./Listening.ts"
import * as Metrics from "./Metrics.ts"
import * as ConfiguredProviders from "./market/ConfiguredProviders.ts"
import * as MarketData from "./market/MarketData.ts"
import * as Store from "./Store.ts"
import * as SyncLine from "./SyncLine.ts"
import * as Settings from "./settings/Settings.ts"
import * as ChainObserver from "./supervision/ChainObserver.ts"
import * as ChainSupervisor from "./supervision/ChainSupervisor.ts"
import { OwnOutages } from "./supervision/OwnOutages.ts"
import { Placement } from "./supervision/Placement.ts"
import * as StoreWatch from "./supervision/StoreWatch.ts"
import * as Traces from "./Traces.ts"

/** How long requests in flight may take once the server stops. */
const stopMillis = 5_000

const allowedHosts = Effect.map(Settings.Settings, ({ callbacks }) => new Set(callbacks.allowHosts))

/** Hosts that the operator allows need no verification of their domain. */
const hostPermission = Layer.unwrap(Effect.map(allowedHosts, Domains.hostPermission))

const creditRules = Layer.effect(
  CreditRules,
  Effect.map(Settings.Settings, ({ credits }) => credits)
)

/** Callbacks have a price where credits are counted. */
const callbackCharging = Layer.unwrap(
  Effect.map(Settings.Settings, ({ credits }) =>
    credits.enabled
      ? Layer.effect(
          CallbackCharging,
          Effect.map(Credits, ({ chargeCallbacks }) => chargeCallbacks)
        ).pipe(Layer.provide(Credits.layer))
      : Layer.empty
  )
)

/** The store's services, the chains' status and their nodes. */
export const services = Layer.mergeAll(
  Accounts.layer,
  Assets.layer,
  Callbacks.layer,
  ChainStatus.layer,
  ConnectedNodes.layer,
  Credits.layer,
  RecurringTasks.layer,
  OwnOutages.layer,
  Wallets.layer
).pipe(
  Layer.provideMerge(Outbox.layer.pipe(Layer.provide(callbackCharging))),
  Layer.provideMerge(Subscriptions.layer),
  Layer.provideMerge(hostPermission),
  Layer.provideMerge(Domains.Domains.layer),
  Layer.provideMerge(creditRules),
  Layer.provideMerge(Store.layer.pipe(Layer.provide(Layer.succeed(WaitForServer, true))))
)

/** The configured chains, each with what endpoints answer of it. */
const configuredChains = Layer.effect(
  ConfiguredChains,
  Effect.gen(function* () {
    const chains = Settings.chains(yield* Settings.Settings)
    const entries = yield* Effect.forEach(chains, ({ chain, settings }) =>
      Effect.map(Operations.configure(chain, settings), (entry) => [Chain.nameOf(chain), entry] as const)
    )
    return new Map(entries)
  })
)

/** Which hosts may be called, at the creation of a subscription and again when something is sent. */
const callbackTarget = CallbackTarget.CallbackTarget.layer.pipe(
  Layer.provide(Layer.effect(CallbackTarget.AllowedHosts, allowedHosts))
)

const deliveryOptions = Layer.effect(
  Delivery.DeliveryOptions,
  Effect.gen(function* () {
    const { concurrency, perHost, retry } = (yield* Settings.Settings).callbacks
    const profile = (yield* RetryProfile.Profiles)[retry]
    return { ...(yield* Delivery.DeliveryOptions), concurrency, perHost, profile }
  })
)

const receiverOptions = Layer.effect(
  ReceiverClientOptions,
  Effect.map(Settings.Settings, ({ callbacks: { extraCa, perHost, timeoutMillis } }) => ({
    timeoutMillis,
    connections: perHost,
    extraCa
  }))
)

const receiverClient = ReceiverClient.layer.pipe(Layer.provide(receiverOptions))

const outcomesLost = Layer.effect(
  Delivery.OutcomesLost,
  Effect.map(Database, ({ replaced }) => replaced)
)

const delivery = Delivery.layer.pipe(Layer.provide([receiverClient, deliveryOptions, outcomesLost]))

const domainVerification = DomainVerification.layer.pipe(Layer.provide(receiverClient))

const charging = Layer.unwrap(
  Effect.map(Settings.Settings, ({ credits: { burst, enabled, perSecond }, http: { requestsAtOnce } }) =>
    Layer.mergeAll(
      Layer.succeed(RequestsAtOnce, requestsAtOnce),
      Layer.succeed(CreditsEnabled, enabled),
      Layer.succeed(AccountRate, { creditsPerSecond: perSecond, burst: burst ?? 10 * perSecond })
    )
  )
)

/** Takes what is owed for the days that are over, where credits are counted. */
const dailyCharges = Layer.unwrap(
  Effect.map(Settings.Settings, ({ credits }) => (credits.enabled ? Credits.daily : Layer.empty))
)

const marketData = MarketData.layer.pipe(Layer.provide(ConfiguredProviders.layer))

/** What every daemon answers, whatever its roles: probes and metrics. */
const probes = Layer.merge(Health.layer, Metrics.layer)

const httpOf = <R>(routes: Layer.Layer<never, never, R>) =>
  Layer.unwrap(
    Effect.map(Settings.Settings, ({ http: { allowedOrigins, host, maxBodyBytes, port } }) =>
      Listening.layer("http", routes, { host, port, maxBodyBytes, allowedOrigins, stopTimeoutMillis: stopMillis })
    )
  )

/** The interface. */
const api = httpOf(Layer.merge(Routes.layer, probes)).pipe(
  Layer.provide([
    configuredChains,
    CallbackTarget.callbackUrlPolicy,
    domainVerification,
    charging,
    StoredMarketData.layer
  ])
)

/** The operator's page, where the settings have a password for it. */
const console_ = Layer.unwrap(
  Effect.map(Settings.Settings, ({ console: settings }) => {
    if (settings === undefined) return Layer.empty
    const { host, port } = settings
    return Listening.layer("console", Console.routes(settings), { host, port, stopTimeoutMillis: stopMillis })
  })
).pipe(Layer.provide([CallbackTarget.callbackUrlPolicy, domainVerification]))

/** Threads that read blocks long past. */
const readerThreads = Layer.unwrap(
  Effect.map(Settings.Settings, (settings) => ReaderThreads.layer({ threads: Settings.threads(settings) }))
)

/** What each role runs, and what runs in its place in a daemon without the role. */
const parts = Layer.unwrap(
  Effect.map(Settings.Settings, ({ roles }) => {
    const has = (role: Settings.Role) => roles.includes(role)
    return Layer.mergeAll(
      has("follow")
        ? ChainSupervisor.layer.pipe(Layer.provide(readerThreads))
        : has("api")
          ? ChainObserver.layer
          : Layer.empty,
      has("deliver") ? Layer.merge(delivery, dailyCharges) : Layer.empty,
      has("api") ? Layer.merge(api, console_) : httpOf(probes),
      has("market") ? marketData : Layer.empty
    )
  })
)

/** What runs as long as the layer lives; closing it answers the requests and ends the deliveries that are under way. */
export const running = Layer.mergeAll(parts, StoreWatch.layer, SyncLine.layer, BackgroundMigrations.layer).pipe(
  Layer.provide([callbackTarget, Placement.layer])
)

/**
 * Two daemons on one SQLite file would undo one another's work; taken once the store could be opened at all. Then the keys
 * of callback secrets are read: without them nothing could be sent.
 */
const storeLock = Layer.effectDiscard(
  Effect.gen(function* () {
    const { secrets } = yield* Database
    const location = Settings.storeLocation(yield* Settings.Settings)
    yield* StoreLock.acquire(location)
    if (yield* StoreMove.isUnderWay(location)) {
      yield* Effect.logWarning(
        `The store is being moved to PostgreSQL: every change is noted. If the move was given up, ${commandName} migrate-store --cancel`
      )
    }
    yield* Effect.catchTag(
      secrets.prepare,
      "SecretKeysUnusable",
      ({ message }) =>
        new Store.StoreUnavailable({ message, code: "secret_key_missing", advice: Store.secretKeyAdvice })
    )
    // A standby that was promoted gets its epoch while it is known what the standby has.
    yield* StoreEpoch.current
  })
)

/** With a resolver of names. */
export const resolving = running.pipe(Layer.provide(storeLock), Layer.provide(services), Layer.provide(Traces.layer))

const layer = resolving.pipe(Layer.provide(MachineDns.layer))

/**
 * Runs until it is interrupted, or a newer daemon has made the store one that this one may not run on. Where another
 * PostgreSQL server takes the place of the store's, everything ends and begins anew on that one: nothing is remembered then
 * that the other server may lack. A server that ends connections while everything begins is waited for.
 */
export const run = Effect.gen(function* () {
  const isOnServer = Settings.storeLocation(yield* Settings.Settings).kind === "postgres"
  const tooNew = yield* Deferred.make<never, Store.StoreUnavailable>()
  const onTooNew = ({ message }: StoreTooNew) =>
    Effect.asVoid(
      Deferred.fail(
        tooNew,
        new Store.StoreUnavailable({
          message: `The daemon stops: ${message}`,
          code: "store_too_new",
          advice: "follow the message, and start the daemon again"
        })
      )
    )
  const untilReplaced = Effect.gen(function* () {
    const context = yield* Layer.build(Layer.merge(layer, services))
    const why = yield* Context.get(context, Database).replaced
    yield* Effect.logWarning(`The store is on another PostgreSQL server now: ${why}. Everything begins anew there`)
  }).pipe(Effect.scoped, whenAvailable, Effect.provideService(WaitForServer, isOnServer))
  return yield* Effect.raceFirst(Effect.forever(untilReplaced), Deferred.await(tooNew)).pipe(
    Effect.provideService(StoreWatch.OnTooNew, onTooNew)
  )
})
