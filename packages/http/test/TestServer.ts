/** A server on an ephemeral port over a fresh store, whose insides a test can make fail. */
import * as Chain from "@headwater/core/chains/Chain"
import type { Caller, ChainOperations, CursorRequest, OffsetRequest } from "@headwater/http/operations/Operations"
import { MarketData } from "@headwater/http/operations/Operations"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { AccountRate, type Rate, RequestsAtOnce } from "@headwater/http/server/RateLimit"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Server from "@headwater/http/server/Server"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { DomainNotVerified, Domains, DomainVerifier } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type { LogLevel } from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type { stores } from "../../../test/Stores.ts"
import { exampleOf, operations } from "./Contract.ts"

/** Every chain on every network but Zcash, which nobody has configured. Dash has no events here. */
const chains = Chain.all
  .filter(({ blockchain }) => blockchain !== "zcash")
  .map((chain) => (chain.blockchain === "dash" ? { ...chain, events: new Set<never>() } : chain))

/** What a test decides of the insides. */
export interface Insides {
  /** The error of every operation on a chain's or the market's data; undefined for an answer. */
  // biome-ignore lint/suspicious/noExplicitAny: the test gives each operation one of its own errors
  failure: any
  /** The error of a broadcast after it was paid for: the nodes refuse it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  refusal?: any
  /** Whether there is a defect in what answers. */
  broken: boolean
  /** Whether the store is out of order. */
  storeFails: boolean
  /** What an operation on a chain's data does before its answer. */
  work: Effect.Effect<void>
}

const storeFailure = new DatabaseError({
  cause: Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" })
})

const asset = {
  contracts: [],
  latestRate: { amount: "1", unit: "USD" },
  logo: { encoding: "base64", imageData: "", mimeType: "image/png" },
  name: "Bitcoin",
  originalSymbol: "BTC",
  referenceId: "1",
  symbol: "BTC",
  type: "crypto" as const,
  specificData: {
    "1HourPriceChangeInPercentage": "0",
    "1WeekPriceChangeInPercentage": "0",
    "24HoursPriceChangeInPercentage": "0",
    "24HoursTradingVolume": "0",
    circulatingSupply: "0",
    marketCapInUSD: "0",
    maxSupply: "0",
    type: "COIN"
  }
}

const exchangeRate = {
  ...{ calculationTimestamp: 1_764_158_400, fromAssetId: "1", fromAssetSymbol: "BTC", rate: "64250.12" },
  ...{ toAssetId: "2", toAssetSymbol: "USD" }
}

const listedAsset = {
  assetType: "crypto",
  ...{ type: "COIN", name: "Bitcoin", originalSymbol: "BTC", slug: "bitcoin", symbol: "BTC" },
  latestRate: asset.latestRate
} as const

/** As many items as make several pages. */
export const listLength = 120

/** An answer, or the failure that the server is in. */
const answering =
  (insides: Insides) =>
  <A>(value: A): Effect.Effect<A> =>
    Effect.suspend(() =>
      insides.broken
        ? Effect.die(new Error("out of order"))
        : insides.storeFails
          ? Effect.die(storeFailure)
          : insides.failure === undefined
            ? Effect.as(insides.work, value)
            : Effect.fail(insides.failure as never)
    )

/** The operations on a chain, over the examples of the document: lists have `listLength` items. */
const operationsOf = (insides: Insides): ChainOperations => {
  const answer = answering(insides)
  type Make = (i: number) => unknown
  const byOffset = (make: Make) => (request: OffsetRequest) => {
    const all = Array.from({ length: listLength }, (_, i) => make(i))
    return answer({ items: all.slice(request.offset, request.offset + request.limit), total: listLength })
  }
  const byCursor = (make: Make) => (request: CursorRequest) => {
    const order = request.sortingOrder === "ASCENDING" ? 1 : -1
    const from = request.after === undefined ? (order === 1 ? 0 : listLength - 1) : request.after[0]! + order
    const wanted = Array.from({ length: request.limit }, (_, i) => from + i * order)
    const found = wanted.filter((i) => i >= 0 && i < listLength)
    const last = found.at(-1)
    const more = last !== undefined && last + order >= 0 && last + order < listLength
    return answer({ items: found.map(make), next: more ? [last, 0, 0] : undefined })
  }
  const paid =
    (make: Make) =>
    ({ paying }: Caller) =>
      paying(answer({ items: Array.from({ length: 100 }, (_, i) => make(i)) }), ({ items }) => items.length)

  const groups = new Set([
    ...["addresses", "blocks", "broadcasts", "fees", "hdWallets", "nextNonce", "rawTransactions", "tokenPreparation"],
    ...[
      "transactions",
      "simulation",
      "xrpPreparation",
      "balances",
      "hdWalletDetails",
      "hdWalletLists",
      "addressHistory"
    ]
  ])
  const made = operations.flatMap((operation): ReadonlyArray<readonly [string, unknown]> => {
    const [group, name] = operation.operationId.split(".") as [string, string]
    if (!groups.has(group)) return []
    const { item, items } = exampleOf(operation)
    if (name === "broadcast") {
      const refusal = Effect.suspend(() => (insides.refusal === undefined ? Effect.void : Effect.fail(insides.refusal)))
      return [
        [
          name,
          ({ paying }: Caller) =>
            Effect.tap(
              paying(answer(item), () => 1),
              refusal
            )
        ]
      ]
    }
    if (items === undefined) return [[name, () => answer(item)]]
    const make: Make = (i) => ({ ...items[0], ...("operationId" in items[0]! ? { operationId: `call_${i}` } : {}) })
    const query = new Set(operation.parameters.map(({ name }) => name))
    return [[name, query.has("startingAfter") ? byCursor(make) : query.has("offset") ? byOffset(make) : paid(make)]]
  })
  return Object.fromEntries(made) as unknown as ChainOperations
}

export class TestServer extends Context.Service<
  TestServer,
  {
    readonly url: string
    /** Keys of two accounts with credits, and of one without. */
    readonly alice: string
    readonly bob: string
    readonly poor: string
    /** A key of Alice's that may call nothing that there is. */
    readonly useless: string
    /** A key of Alice's that only reads, and one for `callbacks.*` and `subscriptions.list`. */
    readonly reading: string
    readonly few: string
    /** The id of the account without credits. */
    readonly poorId: number
    readonly insides: Insides
  }
>()("test/TestServer") {}

export interface Options extends Partial<Server.Options> {
  readonly rate?: Rate
  readonly requestsAtOnce?: number
  /** What Alice and Bob have to begin with. */
  readonly credits?: number
  readonly verifier?: boolean
  /** From which level on is logged; nothing by default, since answers of 500 are wanted and every request is logged. */
  readonly logLevel?: LogLevel
}

const start = (insides: Insides, granted: number) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const accounts = yield* Accounts
    const credits = yield* Credits
    const accountOf = Effect.fnUntraced(function* (name: string, amount: number) {
      const { id } = yield* accounts.create(name)
      if (amount > 0) yield* credits.grant({ account: id, amount, detail: "test" })
      return { id, key: Redacted.value((yield* accounts.createKey(id, { name })).key) }
    })
    const alice = yield* accountOf("alice", granted)
    const poor = yield* accountOf("poor", 0)
    const endpoints = ["callbacks.*", "subscriptions.list"]
    const useless = yield* accounts.createKey(alice.id, { name: "useless", endpoints: ["nothing"] })
    return TestServer.of({
      url: `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`,
      alice: alice.key,
      poorId: poor.id,
      bob: (yield* accountOf("bob", granted)).key,
      poor: poor.key,
      useless: Redacted.value(useless.key),
      reading: Redacted.value((yield* accounts.createKey(alice.id, { name: "reading", readOnly: true })).key),
      few: Redacted.value((yield* accounts.createKey(alice.id, { name: "few", endpoints })).key),
      insides
    })
  })

/** Finds the token of every domain but those of example.net. */
const verifier = Layer.effect(
  DomainVerifier,
  Effect.map(Domains, (domains) => ({
    verify: (account: number, name: string) =>
      name.endsWith("example.net")
        ? Effect.andThen(
            domains.get(account, name),
            Effect.fail(new DomainNotVerified({ name, dns: "nothing", file: "nothing" }))
          )
        : domains.setVerified(account, name)
  }))
)

const breakable = (insides: Insides) =>
  Layer.effect(
    Database,
    Effect.map(Database, (database) => {
      const broken =
        (run: Database["Service"]["query"]): Database["Service"]["query"] =>
        (build) =>
          Effect.suspend(() =>
            insides.broken ? Effect.die(new Error("out of order")) : insides.storeFails ? storeFailure : run(build)
          )
      return { ...database, query: broken(database.query), read: broken(database.read) }
    })
  )

export const testServer = (store: (typeof stores)[number], options: Options = {}) => {
  const insides: Insides = { failure: undefined, broken: false, storeFails: false, work: Effect.void }
  const operations = operationsOf(insides)
  const configured = new Map(
    chains.map((chain) => [
      Chain.nameOf(chain),
      // On networks for tests nothing is provided.
      ["testnet", "sepolia"].includes(chain.network) ? { chain } : { chain, operations }
    ])
  )
  const answer = answering(insides)
  const market = Layer.succeed(MarketData, {
    assetById: () => answer(asset),
    assetBySymbol: () => answer(asset),
    assetBySlug: () => answer(asset),
    assets: ({ limit, offset }) => {
      const all = Array.from({ length: listLength }, (_, i) => ({ ...listedAsset, referenceId: `${i}` }))
      return answer({ items: all.slice(offset, offset + limit), total: listLength })
    },
    supportedAssets: ({ limit, offset }) => {
      const { name, originalSymbol, symbol, type } = asset
      const all = Array.from({ length: listLength }, (_, i) => ({
        name,
        originalSymbol,
        symbol,
        type,
        referenceId: `${i}`
      }))
      return answer({ items: all.slice(offset, offset + limit), total: listLength })
    },
    rateById: () => answer(exchangeRate),
    rateBySymbol: () => answer(exchangeRate)
  })
  return Layer.effect(TestServer, start(insides, options.credits ?? 1_000_000_000)).pipe(
    Layer.provideMerge(Server.layer({ host: "127.0.0.1", port: 0, ...options })),
    Layer.provide([market, ...(options.verifier === false ? [] : [verifier])] as const),
    Layer.provideMerge(Layer.mergeAll(Accounts.layer, Callbacks.layer, Credits.layer, Domains.layer)),
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provide(Layer.succeed(ConfiguredChains, configured)),
    Layer.provide(Layer.succeed(CreditsEnabled, true)),
    Layer.provide(Layer.succeed(AccountRate, options.rate)),
    Layer.provide(Layer.succeed(RequestsAtOnce, options.requestsAtOnce ?? 256)),
    Layer.provideMerge(breakable(insides)),
    Layer.provide(store.layer),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, options.logLevel ?? "None"))
  )
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  readonly body: any
}

/** Sends one request; a body that is no string goes as JSON. */
export const send = (
  url: string,
  request: {
    readonly method?: string
    readonly path: string
    readonly key?: string | undefined
    readonly body?: unknown
    readonly headers?: Record<string, string>
  }
): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const { body, headers, key, method = "GET", path } = request
    const sent = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body)
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(sent === undefined ? {} : { body: sent })
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text)
    }
  })
