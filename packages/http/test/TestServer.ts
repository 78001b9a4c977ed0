/** A server on an ephemeral port over a fresh store, whose insides a test can make fail. */
import * as Chain from "@headwater/core/chains/Chain"
import type { ChainOperations } from "@headwater/http/operations/Operations"
import { MarketData } from "@headwater/http/operations/Operations"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { AccountRate, type Rate } from "@headwater/http/server/RateLimit"
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
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type { stores } from "../../../test/Stores.ts"

/** Every chain on every network but Zcash, which nobody has configured. Dash has no events here. */
const chains = Chain.all
  .filter(({ blockchain }) => blockchain !== "zcash")
  .map((chain) => (chain.blockchain === "dash" ? { ...chain, events: new Set<never>() } : chain))

/** What a test decides of the insides. */
export interface Insides {
  /** The error of every operation on a chain's or the market's data; undefined for an answer. */
  // biome-ignore lint/suspicious/noExplicitAny: the test gives each operation one of its own errors
  failure: any
  /** Whether the store is out of order. */
  broken: boolean
}

const utxoBlock = {
  bits: 486604799,
  chainwork: "00",
  difficulty: 1,
  merkleRoot: "ab",
  size: 285,
  version: 1,
  hash: "cd",
  height: 0,
  previousBlockHash: "",
  strippedSize: 285,
  timestamp: 1231006505,
  transactionsCount: 1,
  versionHex: "00000001",
  weight: 1140
}
const amount = { amount: "1", unit: "XRP" }
const xrpTransaction = (positionInBlock: number) => ({
  hash: "EF",
  offer: amount,
  positionInBlock,
  recipient: "r",
  sender: "s",
  status: "tesSUCCESS",
  timestamp: 1,
  type: "Payment",
  fee: amount,
  receive: amount,
  value: amount
})
const minedInBlock = { hash: "0x01", height: 1 }
const tokenTransfer = (transactionHash: string) => ({
  recipient: "r",
  sender: "s",
  timestamp: 1,
  tokenData: { fungibleValues: { amount: "1" }, name: "", symbol: "", contractAddress: "c", standard: "ERC-20" },
  transactionHash,
  minedInBlock
})
const internal = (operationId: string) => ({
  transactionHash: "0x02",
  minedInBlock,
  operationId,
  operationType: "call",
  recipient: "r",
  sender: "s",
  timestamp: 1,
  value: { amount: "1", unit: "ETH" }
})
const prepared = {
  inputData: "0x",
  nonce: 0,
  recipient: "r",
  sender: "s",
  sighash: "0x03",
  value: { amount: "1", unit: "ETH" },
  fee: { gasPrice: 1, maxFeePerGas: 1, maxPriorityFeePerGas: 1, unit: "WEI" },
  gasLimit: 21000,
  type: "gas-fee-market-transaction"
}
const asset = {
  contracts: [],
  latestRate: { amount: "1", unit: "USD" },
  logo: { encoding: "base64", imageData: "", mimeType: "image/png" },
  name: "Bitcoin",
  originalSymbol: "BTC",
  referenceId: "1",
  symbol: "BTC",
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

const listedAsset = {
  assetType: "crypto",
  ...{ type: "COIN", name: "Bitcoin", originalSymbol: "BTC", slug: "bitcoin", symbol: "BTC" },
  latestRate: asset.latestRate
} as const

/** As many items as make several pages. */
export const listLength = 120

/** Operations over made-up lists of `listLength` items. */
const operationsOf = (insides: Insides): ChainOperations => {
  const answer = <A>(value: A): Effect.Effect<A> =>
    Effect.suspend(() =>
      insides.broken
        ? Effect.die(new Error("out of order"))
        : insides.failure === undefined
          ? Effect.succeed(value)
          : Effect.fail(insides.failure as never)
    )
  const byOffset = <A>(
    { limit, offset }: { readonly limit: number; readonly offset: number },
    make: (i: number) => A
  ) => {
    const items = Array.from({ length: listLength }, (_, i) => i)
    return Effect.suspend(() => answer({ items: items.slice(offset, offset + limit).map(make), total: listLength }))
  }
  const byCursor = <A>(request: Parameters<ChainOperations["internalTransactions"]>[0], make: (i: number) => A) => {
    const order = request.sortingOrder === "ASCENDING" ? 1 : -1
    const from = request.after === undefined ? (order === 1 ? 0 : listLength - 1) : request.after[0]! + order
    const wanted = Array.from({ length: request.limit }, (_, i) => from + i * order)
    const found = wanted.filter((i) => i >= 0 && i < listLength)
    const last = found.at(-1)
    const more = last !== undefined && last + order >= 0 && last + order < listLength
    return answer({ items: found.map(make), next: more ? [last, 0, 0] : undefined })
  }
  const balance = () => answer({ confirmedBalance: { amount: "1", unit: "BTC" } })
  const derive: ChainOperations["utxoDerive"] = ({ paying }) =>
    paying(
      answer(
        Array.from({ length: 100 }, (_, index) => ({
          address: `a${index}`,
          format: "P2WPKH",
          index,
          derivationType: "account",
          type: "receiving"
        }))
      ),
      (addresses) => addresses.length
    )
  return {
    utxoLatest: () => answer(utxoBlock),
    xrpTransactions: (request) => byOffset(request, xrpTransaction),
    internalTransactions: (request) => byCursor(request, (i) => internal(`call_${i}`)),
    tokensTransfers: (request) => byCursor(request, (i) => tokenTransfer(`0x${i}`)),
    evmAssets: () =>
      answer({
        confirmedBalance: "1",
        fungibleTokens: [],
        nonFungibleTokens: [],
        totalReceived: "1",
        totalSpent: "0",
        unit: "ETH"
      }),
    utxoStatus: () => answer({ status: "synced", completeFrom: { height: 1, unspentOutputs: true } }),
    utxoAssets: balance,
    xrpAssets: balance,
    utxoDerive: derive,
    xrpDerive: derive,
    logs: (request) => byOffset(request, (i) => ({ address: `0x${i}`, data: "0x", isRemoved: false, topics: [] })),
    prepare: () => answer(prepared)
  }
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
    /** The id of the account without credits. */
    readonly poorId: number
    readonly insides: Insides
  }
>()("test/TestServer") {}

export interface Options extends Partial<Server.Options> {
  readonly rate?: Rate
  /** What Alice and Bob have to begin with. */
  readonly credits?: number
  readonly verifier?: boolean
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
    const useless = yield* accounts.createKey(alice.id, { name: "useless", endpoints: ["nothing"] })
    return TestServer.of({
      url: `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`,
      alice: alice.key,
      poorId: poor.id,
      bob: (yield* accountOf("bob", granted)).key,
      poor: poor.key,
      useless: Redacted.value(useless.key),
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
      const outOfOrder = Effect.fail(new DatabaseError({ cause: new Error("out of order") }))
      const broken =
        (run: Database["Service"]["query"]): Database["Service"]["query"] =>
        (build) =>
          Effect.suspend(() => (insides.broken ? outOfOrder : run(build)))
      return { ...database, query: broken(database.query), read: broken(database.read) }
    })
  )

export const testServer = (store: (typeof stores)[number], options: Options = {}) => {
  const insides: Insides = { failure: undefined, broken: false }
  const operations = operationsOf(insides)
  const configured = new Map(
    chains.map((chain) => [
      Chain.nameOf(chain),
      // On networks for tests nothing is provided.
      ["testnet", "sepolia"].includes(chain.network) ? { chain } : { chain, operations }
    ])
  )
  const answer = <A>(value: A) =>
    Effect.suspend(() =>
      insides.broken
        ? Effect.die(new Error("out of order"))
        : insides.failure === undefined
          ? Effect.succeed(value)
          : Effect.fail(insides.failure as never)
    )
  const market = Layer.succeed(MarketData, {
    assetById: () => answer(asset),
    assetBySymbol: () => answer(asset),
    assetBySlug: () => answer(asset),
    assets: ({ limit, offset }) => {
      const all = Array.from({ length: listLength }, (_, i) => ({ ...listedAsset, referenceId: `${i}` }))
      return answer({ items: all.slice(offset, offset + limit), total: listLength })
    }
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
    Layer.provideMerge(breakable(insides)),
    Layer.provide(store.layer),
    // Answers of 500 are wanted here, and every request is logged.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
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
