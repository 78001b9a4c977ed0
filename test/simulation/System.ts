/**
 * The program in the simulated world: what `headwater serve` runs, above simulated connections, name servers, disk and
 * time. It may be stopped, killed and started again on what it has left.
 */
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { Network } from "@headwater/daemon/delivery/ReceiverClient"
import * as RetryProfile from "@headwater/daemon/delivery/RetryProfile"
import * as Serve from "@headwater/daemon/Serve"
import * as Settings from "@headwater/daemon/settings/Settings"
import * as Placement from "@headwater/daemon/supervision/Placement"
import { StoreWatchOptions } from "@headwater/daemon/supervision/StoreWatch"
import { Listener } from "@headwater/http/server/Server"
import { Connections } from "@headwater/indexer/families/node/NodeHttp"
import * as WatchedAddresses from "@headwater/indexer/store/chain/WatchedAddresses"
import { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import * as CallbackPartitions from "@headwater/indexer/store/subscriptions/internal/CallbackPartitions"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Chance } from "./Chance.ts"
import type { Nodes } from "./Nodes.ts"
import type { Attempted, Receivers } from "./Receivers.ts"
import * as SimulatedReaders from "./SimulatedReaders.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers
  readonly body: any
}

export interface Call {
  readonly method?: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly key?: string | undefined
  /** `data.item` of the request's body. */
  readonly item?: unknown
}

/** What commands work with. */
export type Services = Layer.Success<typeof Serve.services> | Settings.Settings

/** One life of the program. */
export interface Life {
  /** Answers an API request; undefined where the program dies before. */
  readonly call: (call: Call) => Promise<Answer | undefined>
  /** Runs what an operator's command would, in the program. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<Exit.Exit<A, E>>
  /** Ends as on SIGTERM. */
  readonly stop: () => Promise<void>
  /** Cuts the program off from the world; what is left of it ends unheard. */
  readonly kill: () => void
}

export interface World {
  readonly chance: Chance
  readonly machine: SimulatedStore
  readonly nodes: Nodes
  readonly receivers: Receivers
  /** How much is written at once; undefined for what the program does by itself. */
  readonly bounds?: typeof FanOut.Bounds.Service | undefined
  /** How the sets of watched addresses are filled; undefined for what the program does by itself. */
  readonly filling?: typeof WatchedAddresses.Filling.Service | undefined
  /** Takes note of a callback that the program begins to send. */
  readonly attempted: (attempt: Attempted) => void
  /** A line of the program's log; `isDefect` where it tells of what nobody has foreseen. */
  readonly logged: (line: string, isDefect: boolean) => void
}

/** As the file of settings would have them. */
export type Written = (typeof Settings.schema)["Encoded"]

/** Waits that are short enough to see each of them in a few minutes. */
const profile: RetryProfile.RetryProfile = { delays: [2_000, 4_000, 8_000, 16_000], jitter: 0.2 }

const secretKey = Buffer.alloc(32, 7).toString("base64")

/** How often what is idle looks whether there is anything to do. */
const idleMillis = 2_000
/** How long a host is left alone at most. */
const maxPauseMillis = 6_000

/** How often, and how long behind their end, callbacks become past where the store has partitions for them. */
const sweepMillis = 3_000
const restMillis = 1_000

const address = NetAddress.inetAddressFromStringUnsafe("127.0.0.1:8080")

/** Whether something died for another reason than its store's. */
const isUnforeseen = (reason: Cause.Reason<unknown>) =>
  Cause.isDieReason(reason) && !(reason.defect instanceof DatabaseError)

/** All that the program has from outside. `isAlive`: whether the world hears of it. */
const outside = (
  { attempted, bounds, chance, filling, logged, machine, nodes, receivers }: World,
  written: Written,
  isAlive: () => boolean
) => {
  const store = machine.settings()
  const isPartitioned = store !== undefined && "postgres" in store
  const settings = Schema.decodeSync(Settings.schema)({ ...written, store: { ...store, secretKey } })
  // Libraries draw from `Math.random` what they keep for the process: the program's own draws are apart from theirs.
  const random = {
    nextIntUnsafe: () => chance.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    nextDoubleUnsafe: chance.next
  }
  const logger = Logger.make(({ cause, logLevel, message }) => {
    if (!isAlive()) return
    const words = (Array.isArray(message) ? message : [message]).map(String).join(" ")
    const why = cause.reasons.length === 0 ? "" : `: ${Cause.pretty(cause).slice(0, 600)}`
    const isError = logLevel === "Error" || logLevel === "Fatal"
    logged(`${logLevel}: ${words}${why}`, isError && cause.reasons.some(isUnforeseen))
  })
  return Layer.mergeAll(
    Layer.succeed(Settings.Settings, settings),
    Layer.succeed(Dns.Dns, receivers.dns),
    Layer.succeed(Random.Random, random),
    FileSystem.layerNoop({}),
    machine.layer(isAlive),
    Layer.succeed(Connections, nodes.connections(isAlive)),
    SimulatedReaders.layer(chance, nodes.connections(isAlive), random),
    Layer.succeed(Network, receivers.network(isAlive, attempted)),
    Layer.succeed(RetryProfile.Profiles, { hosted: profile, "standard-webhooks": profile }),
    // Of the simulated time other daemons would ask the store each second.
    Layer.succeed(Placement.Alone, true),
    Layer.succeed(StoreWatchOptions, { everyMillis: 20_000, answerMillis: 4_000 }),
    Layer.effect(
      Delivery.DeliveryOptions,
      Effect.map(Delivery.DeliveryOptions, (options) => ({
        ...{ ...options, idleMillis, maxPauseMillis },
        ...(isPartitioned ? { sweepMillis } : {})
      }))
    ),
    isPartitioned ? Layer.succeed(CallbackPartitions.RestMillis, restMillis) : Layer.empty,
    bounds === undefined ? Layer.empty : Layer.succeed(FanOut.Bounds, bounds),
    filling === undefined ? Layer.empty : Layer.succeed(WatchedAddresses.Filling, filling),
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "Info" as const)
  )
}

const read = ({ body, headers, status }: HttpServerResponse.HttpServerResponse): Answer => {
  const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  return { status, headers, body: text === "" ? undefined : JSON.parse(text) }
}

type Handle = (
  request: HttpServerRequest.HttpServerRequest
) => Promise<HttpServerResponse.HttpServerResponse | undefined>

/** The API without sockets: `serving` is told how it answers a request. */
const listener = (serving: (handle: Handle) => void, isAlive: () => boolean) => {
  const server = HttpServer.make({
    address,
    serve: Effect.fnUntraced(function* (effect, middleware) {
      const context = yield* Effect.context<never>()
      const inFlight = new Set<Promise<unknown>>()
      let isStopping = false
      // A server that is stopped answers what it has begun with, and is not connected to any more.
      yield* Effect.addFinalizer(() => {
        isStopping = true
        return isAlive() ? Effect.promise(() => Promise.all(inFlight)) : Effect.void
      })
      serving((request) => {
        if (isStopping) return Promise.resolve(undefined)
        const answering = (async () => {
          let answer: HttpServerResponse.HttpServerResponse | undefined
          const answered = (_: unknown, response: HttpServerResponse.HttpServerResponse) =>
            Effect.sync(() => {
              answer = response
            })
          const handled = HttpEffect.toHandled(effect, answered, middleware)
          const given = Effect.provideService(handled, HttpServerRequest.HttpServerRequest, request)
          await Effect.runPromiseExit(Effect.provideContext(given, context))
          return answer
        })()
        inFlight.add(answering)
        return answering.finally(() => inFlight.delete(answering))
      })
    })
  })
  return Layer.succeed(Listener, () => ({
    listening: Layer.succeed(HttpServer.HttpServer, server),
    ending: Layer.empty
  }))
}

/** Starts the program; undefined where it cannot start, as without a disk to write to, or is killed by `death` meanwhile. */
export const start = async (world: World, written: Written, death?: AbortSignal): Promise<Life | undefined> => {
  let alive = true
  death?.addEventListener("abort", () => {
    alive = false
  })
  let handle: Handle | undefined
  const serving = listener(
    (given) => {
      handle = given
    },
    () => alive
  )
  const scope = Scope.makeUnsafe()
  const program = Layer.merge(Serve.resolving, Serve.services).pipe(
    Layer.provideMerge(
      Layer.merge(
        serving,
        outside(world, written, () => alive)
      )
    )
  )
  const built = await Effect.runPromiseExit(Layer.buildWithScope(program, scope), { signal: death })
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  if (Exit.isFailure(built)) {
    const why = `The program did not start: ${Cause.pretty(built.cause).slice(0, 300)}`
    if (alive) world.logged(why, built.cause.reasons.some(isUnforeseen))
    await close()
    return undefined
  }
  return {
    call: async ({ item, key, method = "GET", path }) => {
      if (handle === undefined || !alive) return undefined
      const sent = new Request(`http://headwater.test${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { "x-api-key": key }),
          ...(item === undefined ? {} : { "content-type": "application/json" })
        },
        ...(item === undefined ? {} : { body: JSON.stringify({ data: { item } }) })
      })
      const response = await handle(HttpServerRequest.fromWeb(sent))
      return alive && response !== undefined ? read(response) : undefined
    },
    run: (effect) => Effect.runPromiseExit(Effect.provideContext(effect, built.value)),
    stop: async () => {
      await close()
      alive = false
    },
    kill: () => {
      alive = false
      void close()
    }
  }
}

/** Runs what a command of an operator does while no daemon runs. */
export const command = async <A, E>(world: World, written: Written, effect: Effect.Effect<A, E, Services>) => {
  const given = Layer.provideMerge(
    Serve.services,
    outside(world, written, () => true)
  )
  return Effect.runPromiseExit(Effect.scoped(Effect.provide(effect, given)))
}
