/** Recorded answers of CoinGecko through the provider: every published figure comes out as it was published. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import type * as Asset from "@headwater/core/market/Asset"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import { exactly, json, start } from "./CoinGeckoServer.ts"
import * as MarketServices from "./MarketServices.ts"
import * as ShiftedClock from "./ShiftedClock.ts"

const root = new URL("../../../../../shared/fixtures/market/", import.meta.url)
const recordings = new URL("coingecko_ruby/json/", root)
const openApi = new URL("coingecko-api-oas/demo-api.json.gz", root)
const present = existsSync(root)

/** JSON whose numbers keep the digits that they were recorded with. */
const parse = (text: string) =>
  JSON.parse(text, ((_: string, value: unknown, { source }: { source: string }) =>
    typeof value === "number" ? exactly(source) : value) as never)

// biome-ignore lint/suspicious/noExplicitAny: what was recorded
type Recorded = any

interface Recording {
  readonly uri: URL
  readonly json: Recorded
}

/** The digits of a recorded number; undefined where there is none. */
const digits = (value: unknown): string | undefined =>
  value === null || value === undefined ? undefined : JSON.stringify(value)

/** A published number as the interface writes it. */
const plain = (value: unknown): string => {
  const text = digits(value)
  if (text === undefined) return ""
  assert.notMatch(text, /e/i, "a number that this test cannot write plainly")
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

const recorded: ReadonlyArray<Recording> = !present
  ? []
  : readdirSync(recordings).flatMap((file) =>
      (parse(readFileSync(new URL(file, recordings), "utf8")) as Array<Recorded>)
        .filter(({ status }) => JSON.stringify(status) === "200")
        .map(({ json, uri }) => ({ uri: new URL(uri), json }))
    )

/** Examples of the provider's own OpenAPI document, which are answers that it once gave. */
const examples: ReadonlyArray<Recording> = !present
  ? []
  : Object.entries(parse(gunzipSync(readFileSync(openApi)).toString()).paths as Record<string, Recorded>).flatMap(
      ([path, { get }]) => {
        const content = get?.responses?.["200"]?.content?.["application/json"]
        const example = content?.example ?? Object.values(content?.examples ?? {}).map((one: Recorded) => one.value)[0]
        return example === undefined ? [] : [{ uri: new URL(`https://example.com${path}`), json: example }]
      }
    )

const coins = [...recorded, ...examples].filter(({ json }) => json?.market_data?.last_updated !== undefined)
const markets = [...recorded, ...examples].filter(
  ({ json, uri }) => uri.pathname.endsWith("/coins/markets") && Array.isArray(json)
)

/** What every answer has, whatever is known. */
const assertWhole = (asset: Asset.Asset) => {
  for (const text of [
    ...Object.values(asset.specificData),
    ...Object.values(asset.logo),
    ...[asset.name, asset.originalSymbol, asset.referenceId, asset.slug, asset.symbol],
    ...[asset.latestRate.amount, asset.latestRate.unit],
    ...asset.contracts.flatMap(({ blockchain, identifier, network, standard }) => [
      blockchain,
      identifier,
      network,
      standard
    ])
  ]) {
    assert.isString(text)
  }
  assert.isTrue(Number.isInteger(asset.latestRate.calculationTimestamp))
  assert.lengthOf(Object.keys(asset.specificData), 8)
}

const platforms = new Set([
  "ethereum",
  "tron",
  "binance-smart-chain",
  "polygon-pos",
  "arbitrum-one",
  "avalanche",
  "base"
])

describe("CoinGecko's recorded answers", () => {
  it.skipIf(!present)("are there: coins in full, by contract, and pages of markets", () => {
    assert.isAtLeast(coins.length, 3)
    assert.isTrue(coins.some(({ json }) => json.asset_platform_id === "ethereum"))
    assert.isAtLeast(markets.length, 2)
  })

  for (const { json: coin, uri } of coins) {
    it.live(`${uri.pathname} of ${coin.id}, updated ${coin.market_data.last_updated}`, () =>
      ShiftedClock.at(Date.parse(coin.market_data.last_updated) + 60_000, () =>
        Effect.gen(function* () {
          const server = yield* start(({ path }) => (path === `/coins/${coin.id}` ? json(coin) : undefined))
          const provider = yield* MarketServices.coingecko(server.url, { ids: [coin.id] })
          const summary = yield* MarketServices.run(provider, "catalogue")
          assert.deepStrictEqual(summary, { added: 1, updated: 0, refused: 0, quotes: 1, disbelieved: 0 })
          const assets = yield* Assets
          const asset = yield* assets.bySlug(coin.id)
          assertWhole(asset)
          const data = coin.market_data
          assert.deepStrictEqual(asset.latestRate, {
            amount: plain(data.current_price.usd),
            unit: "USD",
            calculationTimestamp: Math.floor(Date.parse(data.last_updated) / 1000)
          })
          assert.deepStrictEqual(asset.specificData, {
            "1HourPriceChangeInPercentage": plain(data.price_change_percentage_1h_in_currency?.usd),
            "1WeekPriceChangeInPercentage": plain(data.price_change_percentage_7d_in_currency?.usd),
            "24HoursPriceChangeInPercentage": plain(
              data.price_change_percentage_24h_in_currency?.usd ?? data.price_change_percentage_24h
            ),
            "24HoursTradingVolume": plain(data.total_volume.usd),
            circulatingSupply: plain(data.circulating_supply),
            marketCapInUSD: plain(data.market_cap.usd),
            maxSupply: plain(data.max_supply),
            type: coin.asset_platform_id === null ? "COIN" : "TOKEN"
          })
          assert.deepStrictEqual([asset.name, asset.originalSymbol], [coin.name, coin.symbol.toUpperCase()])
          const known = Object.keys(coin.platforms).filter((platform) => platforms.has(platform))
          assert.lengthOf(asset.contracts, known.length)
          for (const [i, platform] of known.entries()) {
            const { fungibleValues, identifier } = asset.contracts[i]!
            assert.strictEqual(identifier.toLowerCase(), coin.platforms[platform].toLowerCase())
            assert.strictEqual(String(fungibleValues?.decimals), digits(coin.detail_platforms[platform].decimal_place))
          }
          assert.deepStrictEqual(yield* assets.byId(asset.referenceId), asset)
        })
      ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
    )
  }

  for (const { json: rows, uri } of markets.filter(
    ({ uri }) => (uri.searchParams.get("vs_currency") ?? "usd") === "usd"
  )) {
    it.live(`${uri.pathname} of ${rows.map(({ id }: Recorded) => id)}, updated ${rows[0].last_updated}`, () =>
      ShiftedClock.at(Date.parse(rows[0].last_updated) + 60_000, () =>
        Effect.gen(function* () {
          const assets = yield* Assets
          const listed = yield* assets.put(
            rows.map(({ id, name, symbol }: Recorded) => ({
              ...{ slug: id, name, originalSymbol: symbol, assetType: "crypto", contracts: [] },
              providers: { coingecko: id }
            })),
            "file"
          )
          assert.lengthOf(listed, rows.length)
          const server = yield* start(() => json(rows))
          const provider = yield* MarketServices.coingecko(server.url)
          assert.strictEqual((yield* MarketServices.run(provider, "rates")).quotes, rows.length)
          for (const row of rows) {
            const asset = yield* assets.bySlug(row.id)
            assertWhole(asset)
            assert.deepStrictEqual(asset.latestRate, {
              amount: plain(row.current_price),
              unit: "USD",
              calculationTimestamp: Math.floor(Date.parse(row.last_updated) / 1000)
            })
            assert.deepStrictEqual(asset.specificData, {
              "1HourPriceChangeInPercentage": plain(row.price_change_percentage_1h_in_currency),
              "1WeekPriceChangeInPercentage": plain(row.price_change_percentage_7d_in_currency),
              "24HoursPriceChangeInPercentage": plain(
                row.price_change_percentage_24h_in_currency ?? row.price_change_percentage_24h
              ),
              "24HoursTradingVolume": plain(row.total_volume),
              circulatingSupply: plain(row.circulating_supply),
              marketCapInUSD: plain(row.market_cap),
              maxSupply: plain(row.max_supply),
              type: "COIN"
            })
          }
        })
      ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
    )
  }
})
