import { assert, describe, it } from "@effect/vitest"
import * as Asset from "@headwater/core/market/Asset"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Catalogue from "../../src/market/Catalogue.ts"
import { exactly, json, start } from "./CoinGeckoServer.ts"
import * as MarketServices from "./MarketServices.ts"
import * as ShiftedClock from "./ShiftedClock.ts"

const updated = "2026-05-18T12:49:21.599Z"
const updatedSeconds = Date.parse(updated) / 1000 - 0.599
const now = Date.parse("2026-05-18T12:50:00Z")

/** A token on several chains, one of which nobody here knows, with no maximum of its supply and no logo. */
const tether = {
  id: "tether",
  symbol: "usdt",
  name: "Tether",
  asset_platform_id: "ethereum",
  platforms: {
    ethereum: "0xdac17f958d2ee523a2206206994597c13d831ec7",
    celo: "0x48065fbbe25f71c9282ddf5e1cd6d6a887483d5e"
  },
  detail_platforms: {
    ethereum: { decimal_place: 6, contract_address: "0xdac17f958d2ee523a2206206994597c13d831ec7" },
    celo: { decimal_place: 6, contract_address: "0x48065fbbe25f71c9282ddf5e1cd6d6a887483d5e" },
    tron: { decimal_place: 6, contract_address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
    "binance-smart-chain": { decimal_place: 18, contract_address: "0x55d398326f99059ff775485246999027b3197955" },
    avalanche: { decimal_place: null, contract_address: "0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7" },
    "polygon-pos": { decimal_place: 6, contract_address: "not an address" },
    base: { decimal_place: null, contract_address: "" }
  },
  image: "missing_large.png",
  market_data: {
    current_price: { usd: 0.999481, eur: 0.86 },
    market_cap: { usd: 189_000_000_000.25 },
    total_volume: { usd: 1e10 },
    circulating_supply: exactly("189047123456.123456789"),
    max_supply: null,
    price_change_percentage_24h: -0.01,
    price_change_percentage_1h_in_currency: { usd: 0.00213 },
    price_change_percentage_24h_in_currency: { usd: -0.01234 },
    price_change_percentage_7d_in_currency: {},
    last_updated: updated
  }
}

const market = (id: string, rest: object = {}) => ({ id, current_price: 2, last_updated: updated, ...rest })

describe("CoinGecko", () => {
  it.live("lists a token with its contracts, and answers every field", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        const server = yield* start(({ path }) => (path === "/coins/tether" ? json(tether) : undefined))
        const provider = yield* MarketServices.coingecko(server.url, { ids: ["tether"] })
        const summary = yield* MarketServices.run(provider, "catalogue")
        assert.deepStrictEqual(summary, { added: 1, updated: 0, refused: 0, quotes: 1, disbelieved: 0 })
        const assets = yield* Assets
        const { logo, referenceId, ...found } = yield* assets.bySlug("tether")
        assert.deepStrictEqual(found, {
          contracts: [
            {
              ...{ blockchain: "ethereum", network: "mainnet", standard: "ERC-20" },
              identifier: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
              fungibleValues: { decimals: 6 }
            },
            {
              ...{ blockchain: "tron", network: "mainnet", standard: "TRC-20" },
              identifier: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
              fungibleValues: { decimals: 6 }
            },
            {
              ...{ blockchain: "binance-smart-chain", network: "mainnet", standard: "BEP-20" },
              identifier: "0x55d398326f99059fF775485246999027B3197955",
              fungibleValues: { decimals: 18 }
            },
            {
              ...{ blockchain: "avalanche", network: "mainnet", standard: "ERC-20" },
              identifier: "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"
            }
          ],
          latestRate: { amount: "0.999481", unit: "USD", calculationTimestamp: Math.floor(updatedSeconds) },
          name: "Tether",
          originalSymbol: "USDT",
          slug: "tether",
          symbol: "USDT",
          type: "crypto",
          specificData: {
            "1HourPriceChangeInPercentage": "0.00213",
            "1WeekPriceChangeInPercentage": "",
            "24HoursPriceChangeInPercentage": "-0.01234",
            "24HoursTradingVolume": "10000000000",
            circulatingSupply: "189047123456.123456789",
            marketCapInUSD: "189000000000.25",
            maxSupply: "",
            type: "TOKEN"
          }
        })
        assert.strictEqual(logo.mimeType, "image/svg+xml")
        assert.isNotEmpty(referenceId)
        // What the provider knows of a coin is an entry of a file, too.
        assert.isTrue(Schema.is(Schema.toType(Asset.Logo))(logo))
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("asks in batches of 250, with every period of change and all digits", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        const entries = Array.from({ length: 600 }, (_, i) => ({
          ...{ slug: `a${i}`, name: "A", originalSymbol: `A${i}`, providers: { coingecko: `a${i}` } }
        }))
        yield* assets.put(yield* Schema.decodeEffect(Schema.Array(Asset.Entry))(entries), "file")
        const server = yield* start(({ query }) =>
          json(
            query
              .get("ids")!
              .split(",")
              .map((id) => market(id))
          )
        )
        const provider = yield* MarketServices.coingecko(`${server.url}/`)
        assert.strictEqual((yield* MarketServices.run(provider, "rates")).quotes, 600)
        assert.deepStrictEqual(
          server.asked.map(({ path, query }) => [path, query.get("ids")!.split(",").length]),
          [
            ["/coins/markets", 250],
            ["/coins/markets", 250],
            ["/coins/markets", 100]
          ]
        )
        for (const { query } of server.asked) {
          assert.strictEqual(query.get("vs_currency"), "usd")
          assert.strictEqual(query.get("per_page"), "250")
          assert.strictEqual(query.get("precision"), "full")
          assert.strictEqual(query.get("price_change_percentage"), "1h,24h,7d")
        }
        assert.strictEqual((yield* assets.bySlug("a599")).latestRate.amount, "2")
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("lists the largest assets, what is named and what lives at a contract, each once in its time", () =>
    ShiftedClock.at(now, (setTime) =>
      Effect.gen(function* () {
        const coin = (id: string) => ({
          ...{ id, symbol: id.slice(-3), name: id, platforms: { "": "" }, asset_platform_id: null },
          market_data: { current_price: { usd: 1 }, last_updated: updated }
        })
        const server = yield* start(({ path, query }) => {
          if (path === "/coins/markets") {
            const page = Number(query.get("page"))
            return json(Array.from({ length: 250 }, (_, i) => market(`top-${(page - 1) * 250 + i}`)))
          }
          if (path === "/coins/ethereum/contract/0xabc") return json(coin("by-contract"))
          const [, id] = /^\/coins\/([^/]+)$/.exec(path) ?? []
          return id === undefined || id === "gone" ? undefined : json(coin(decodeURIComponent(id)))
        })
        const provider = yield* MarketServices.coingecko(server.url, {
          top: 252,
          ids: ["named", "gone", "top-1"],
          contracts: ["ethereum/mainnet/0xabc", "bitcoin/mainnet/none"]
        })
        const first = yield* MarketServices.run(provider, "catalogue")
        assert.deepStrictEqual([first.added, first.refused], [252 + 1 + 1, 1])
        const { items, total } = yield* (yield* Assets).list({ limit: 50, offset: 250 })
        assert.strictEqual(total, 254)
        assert.deepStrictEqual(items.map(({ slug }) => slug).slice(-1), ["top-251"])
        server.asked.length = 0
        const again = yield* MarketServices.run(provider, "catalogue")
        assert.deepStrictEqual(again, { added: 0, updated: 0, refused: 1, quotes: 0, disbelieved: 0 })
        assert.deepStrictEqual(
          server.asked.map(({ path }) => path),
          ["/coins/markets", "/coins/markets", "/coins/ethereum/contract/0xabc", "/coins/gone"]
        )
        setTime(now + 31 * 86_400_000)
        server.asked.length = 0
        yield* MarketServices.run(provider, "catalogue")
        assert.strictEqual(server.asked.filter(({ path }) => path.startsWith("/coins/top-")).length, 252)
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("takes the logo from CoinGecko's own hosts only, and only what is an image", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(300, 7)])
        const elsewhere = yield* start(() => ({ body: png }))
        const images: Record<string, () => string> = {
          drawn: () => `${server.url}/small.png`,
          text: () => `${server.url}/text.png`,
          large: () => `${server.url}/large.png`,
          missing: () => `${server.url}/missing.png`,
          stranger: () => `${elsewhere.url}/small.png`,
          nonsense: () => "missing_small.png"
        }
        const server = yield* start(({ path }) => {
          if (path === "/small.png") return { body: png, headers: { "content-type": "application/octet-stream" } }
          if (path === "/text.png") return { body: "<svg onload=x>", headers: { "content-type": "image/png" } }
          if (path === "/large.png") return { body: Buffer.concat([png, Buffer.alloc(262_144)]) }
          const id = path.slice("/coins/".length)
          const small = images[id]?.()
          return small === undefined
            ? undefined
            : json({
                ...{ id, symbol: id, name: id, image: { thumb: "x", small } },
                market_data: { current_price: { usd: 1 }, last_updated: updated }
              })
        })
        const provider = yield* MarketServices.coingecko(server.url, { ids: Object.keys(images), logos: true })
        const summary = yield* MarketServices.run(provider, "catalogue")
        assert.strictEqual(summary.added, Object.keys(images).length)
        const assets = yield* Assets
        assert.deepStrictEqual((yield* assets.bySlug("drawn")).logo, {
          ...{ encoding: "base64", mimeType: "image/png" },
          imageData: png.toString("base64")
        })
        for (const id of Object.keys(images).slice(1)) {
          assert.strictEqual((yield* assets.bySlug(id)).logo.mimeType, "image/svg+xml", id)
        }
        assert.lengthOf(elsewhere.asked, 0)
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("computes the rates of currencies exactly, and tells when it read them", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        yield* Catalogue.seed
        const rate = (value: number) => ({ name: "", unit: "", value, type: "fiat" })
        const server = yield* start(({ path }) =>
          path === "/exchange_rates"
            ? json({ rates: { usd: rate(75817.765), eur: rate(65223.37), jpy: rate(12079021.102), gbp: rate(0) } })
            : undefined
        )
        const provider = yield* MarketServices.coingecko(server.url)
        const summary = yield* MarketServices.run(provider, "currencies")
        assert.deepStrictEqual(summary, { added: 0, updated: 0, refused: 0, quotes: 2, disbelieved: 1 })
        const assets = yield* Assets
        const euro = yield* assets.bySymbol("EUR")
        assert.strictEqual(euro.latestRate.amount, "1.162432499271350131")
        assert.closeTo(euro.latestRate.calculationTimestamp!, now / 1000, 30)
        assert.strictEqual((yield* assets.bySymbol("jpy")).latestRate.amount, "0.006276813688772046")
        assert.strictEqual((yield* Effect.flip(assets.bySymbol("GBP")))._tag, "RateNotAvailable")
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("a currency whose rate cannot be read takes no other currency's rate away", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        yield* Catalogue.seed
        const rates = { usd: { value: 60_000 }, eur: { value: 50_000 }, gbp: { value: null }, jpy: null }
        const server = yield* start(({ path }) => (path === "/exchange_rates" ? json({ rates }) : undefined))
        const provider = yield* MarketServices.coingecko(server.url)
        const summary = yield* MarketServices.run(provider, "currencies")
        assert.deepStrictEqual(summary, { added: 0, updated: 0, refused: 0, quotes: 1, disbelieved: 2 })
        assert.strictEqual((yield* (yield* Assets).bySymbol("EUR")).latestRate.amount, "1.2")
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("gives what ships its rates, and leaves its names and logos as they are", () =>
    ShiftedClock.at(now, () =>
      Effect.gen(function* () {
        yield* Catalogue.seed
        const server = yield* start(({ path, query }) => {
          if (path === "/coins/markets") return json((query.get("ids") ?? "").split(",").map((id) => market(id)))
          const id = path.slice("/coins/".length)
          return json({
            ...{ id, symbol: id, name: `Not ${id}` },
            market_data: { current_price: { usd: 1 }, last_updated: "2026-05-18T12:40:00Z" }
          })
        })
        const provider = yield* MarketServices.coingecko(server.url)
        const summary = yield* MarketServices.run(provider, "catalogue")
        const coins = Catalogue.entries.filter(({ assetType }) => assetType === "crypto").length
        assert.deepStrictEqual([summary.added, summary.updated, summary.quotes], [0, 0, coins])
        assert.strictEqual((yield* MarketServices.run(provider, "rates")).quotes, coins)
        const { latestRate, logo, name } = yield* (yield* Assets).bySymbol("BTC")
        assert.deepStrictEqual([latestRate.amount, name], ["2", "Bitcoin"])
        assert.match(Buffer.from(logo.imageData, "base64").toString(), /#e88a12/)
        // What was described once is not described again the next day.
        server.asked.length = 0
        yield* MarketServices.run(provider, "catalogue")
        assert.lengthOf(server.asked, 0)
      })
    ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("sends the key in the plan's header and nowhere else", () =>
    Effect.gen(function* () {
      const server = yield* start(() => json([]))
      const assets = yield* Assets
      const entry = { slug: "a", name: "A", originalSymbol: "A", providers: { coingecko: "a" } }
      yield* assets.put([yield* Schema.decodeEffect(Asset.Entry)(entry)], "file")
      const demo = yield* MarketServices.coingecko(server.url, {
        key: Redacted.value(Redacted.make("secret-key"))
      })
      yield* MarketServices.run(demo, "rates")
      const pro = yield* MarketServices.coingecko(server.url, { key: "secret-key", plan: "pro" })
      yield* MarketServices.run(pro, "rates")
      assert.deepStrictEqual(
        server.asked.map(({ headers }) => [headers["x-cg-demo-api-key"], headers["x-cg-pro-api-key"]]),
        [
          ["secret-key", undefined],
          [undefined, "secret-key"]
        ]
      )
      assert.isTrue(server.asked.every(({ query }) => !query.toString().includes("secret")))
      assert.isTrue(server.asked.every(({ headers }) => headers.traceparent === undefined))
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )
})
