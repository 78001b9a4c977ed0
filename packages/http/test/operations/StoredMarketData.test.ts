import { assert, describe, it } from "@effect/vitest"
import * as Asset from "@headwater/core/market/Asset"
import * as StoredMarketData from "@headwater/http/operations/StoredMarketData"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Server from "@headwater/http/server/Server"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type stores, takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send } from "../TestServer.ts"

const server = (store: (typeof stores)[number]) =>
  Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
    Layer.provideMerge(StoredMarketData.layer),
    Layer.provide(Layer.mergeAll(Callbacks.layer, Domains.layer)),
    Layer.provide(Outbox.layer),
    Layer.provide(Subscriptions.layer),
    Layer.provideMerge(Layer.mergeAll(Accounts.layer, Assets.layer)),
    Layer.provide(Layer.succeed(ConfiguredChains, new Map())),
    Layer.provide(store.layer)
  )

/** A client of the server with a key of its own. */
const client = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const accounts = yield* Accounts
  const { id } = yield* accounts.create("alice")
  const { key } = yield* accounts.createKey(id, { name: "test" })
  const url = `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`
  return (path: string) => send(url, { path, key: Redacted.value(key) })
})

const decode = Schema.decodeUnknownSync(Schema.Array(Asset.Entry))
const contract = {
  ...{ blockchain: "tron", network: "mainnet", standard: "TRC-20" },
  ...{ identifier: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", fungibleValues: { decimals: 6 } }
}
const entries = decode([
  {
    ...{ slug: "tether", name: "Tether", originalSymbol: "USDt", contracts: [contract] },
    ...{ logo: { encoding: "base64", imageData: "iVBORw0KGgo=", mimeType: "image/png" } },
    ...{ specificData: { type: "TOKEN" } }
  },
  { slug: "half", name: "Half", originalSymbol: "½ $" },
  { slug: "old", name: "Old Coin", originalSymbol: "OLD" }
])

const dollar = { slug: "us-dollar", name: "US Dollar", originalSymbol: "USD", assetType: "fiat" }

for (const store of takenStores(import.meta.url)) {
  describe(`StoredMarketData on ${store.name}`, () => {
    it.live("answers an asset by id, symbol and slug with every field, and the list in pages", () =>
      Effect.gen(function* () {
        const get = yield* client
        const assets = yield* Assets
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const [tether, half] = yield* assets.put(entries, "file")
        yield* assets.record([
          {
            asset: (tether as { asset: number }).asset,
            amount: "0.999481",
            at: now - 5,
            change1h: "-0.00213",
            maxSupply: "7"
          },
          { asset: (half as { asset: number }).asset, amount: "0.5", at: now }
        ])

        const bySymbol = yield* get("/market-data/assets/by-symbol/usdt?context=mine")
        assert.strictEqual(bySymbol.status, 200)
        assert.isUndefined(wrongWith(operationNamed("marketData.assetBySymbol"), 200, bySymbol.body))
        assert.strictEqual(bySymbol.body.context, "mine")
        const { item } = bySymbol.body.data
        assert.deepStrictEqual(item, {
          contracts: [contract],
          latestRate: { amount: "0.999481", unit: "USD", calculationTimestamp: now - 5 },
          logo: { encoding: "base64", imageData: "iVBORw0KGgo=", mimeType: "image/png" },
          ...{ name: "Tether", originalSymbol: "USDt", referenceId: item.referenceId, slug: "tether", symbol: "USDT" },
          type: "crypto",
          specificData: {
            "1HourPriceChangeInPercentage": "-0.00213",
            "1WeekPriceChangeInPercentage": "",
            "24HoursPriceChangeInPercentage": "",
            "24HoursTradingVolume": "",
            circulatingSupply: "",
            marketCapInUSD: "",
            maxSupply: "7",
            type: "token"
          }
        })
        const specificData = { ...item.specificData, type: "TOKEN" }
        const byId = yield* get(`/market-data/assets/by-id/${item.referenceId}`)
        assert.isUndefined(wrongWith(operationNamed("marketData.assetById"), 200, byId.body))
        assert.deepStrictEqual(byId.body.data.item, { ...item, specificData })
        assert.deepStrictEqual((yield* get("/market-data/assets/by-slug/tether")).body.data.item, {
          ...item,
          specificData
        })
        const odd = yield* get(`/market-data/assets/by-symbol/${encodeURIComponent("½ $")}`)
        assert.strictEqual(odd.body.data.item.slug, "half")

        const page = yield* get("/market-data/assets?limit=2&offset=1")
        assert.isUndefined(wrongWith(operationNamed("marketData.assets"), 200, page.body))
        const { items, ...rest } = page.body.data
        assert.deepStrictEqual(rest, { limit: 2, offset: 1, total: 3 })
        assert.deepStrictEqual(
          items.map(({ latestRate, slug }: { latestRate?: object; slug: string }) => [slug, latestRate]),
          [
            ["half", { amount: "0.5", unit: "USD", calculationTimestamp: now }],
            ["old", undefined]
          ]
        )
        assert.strictEqual((yield* get("/market-data/assets?limit=51")).status, 400)
      }).pipe(Effect.provide(server(store)))
    )

    it.live("answers what clients ask first: names and ids of all assets, or of those of a type", () =>
      Effect.gen(function* () {
        const get = yield* client
        yield* (yield* Assets).put([...entries, ...decode([dollar])], "file")
        const all = yield* get("/market-data/metadata/assets")
        assert.isUndefined(wrongWith(operationNamed("marketData.supportedAssets"), 200, all.body))
        const { items, ...rest } = all.body.data
        assert.deepStrictEqual(rest, { limit: 10, offset: 0, total: 4 })
        assert.deepStrictEqual(items[0], {
          ...{ name: "Tether", originalSymbol: "USDt", symbol: "USDT", type: "crypto" },
          referenceId: items[0].referenceId
        })
        const fiat = yield* get("/market-data/metadata/assets?type=fiat&limit=5")
        assert.deepStrictEqual(
          [fiat.body.data.total, fiat.body.data.items.map(({ symbol }: { symbol: string }) => symbol)],
          [1, ["USD"]]
        )
        assert.strictEqual((yield* get("/market-data/metadata/assets?type=metal")).status, 400)
      }).pipe(Effect.provide(server(store)))
    )

    it.live("answers exchange rates by the rates of both assets, now and at a moment", () =>
      Effect.gen(function* () {
        const get = yield* client
        const assets = yield* Assets
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const listed = yield* assets.put([...entries, ...decode([dollar])], "file")
        const [tether, half] = listed.map((result) => (result as { asset: number }).asset)
        yield* assets.record([
          { asset: tether!, amount: "3", at: now - 7_000 },
          { asset: half!, amount: "0.25", at: now - 6_900 }
        ])
        yield* assets.record([
          { asset: tether!, amount: "1.5", at: now - 50 },
          { asset: half!, amount: "0.5", at: now - 40 }
        ])
        const rates = "/market-data/exchange-rates"
        const rate = Effect.fnUntraced(function* (path: string) {
          const { body, status } = yield* get(`${rates}/${path}`)
          return [status, body.data?.item.rate ?? body.error.code, body.data?.item.calculationTimestamp]
        })
        const odd = encodeURIComponent("½ $")
        const found = yield* get(`${rates}/by-symbol/usdt/${odd}?context=mine`)
        assert.isUndefined(wrongWith(operationNamed("marketData.rateBySymbol"), 200, found.body))
        const { item } = found.body.data
        assert.deepStrictEqual(item, {
          ...{ calculationTimestamp: now - 50, fromAssetSymbol: "USDT", rate: "3", toAssetSymbol: "½ $" },
          ...{ fromAssetId: item.fromAssetId, toAssetId: item.toAssetId }
        })
        const ids = `by-id/${item.toAssetId}/${item.fromAssetId}`
        assert.deepStrictEqual(yield* rate(ids), [200, "0.333333333333333333333333333333", now - 50])
        assert.deepStrictEqual(yield* rate("by-symbol/USDT/USD"), [200, "1.5", now - 50])
        assert.deepStrictEqual(yield* rate(`by-symbol/USD/${odd}`), [200, "2", now - 40])
        // Both rates as they were, and none from before the first.
        const then = (at: number) => `by-symbol/USDT/${odd}?calculationTimestamp=${at}`
        assert.deepStrictEqual(yield* rate(then(now - 6_000)), [200, "12", now - 7_000])
        const none = [422, "could_not_calculate_rate_for_pair", undefined]
        assert.deepStrictEqual(yield* rate(then(now - 6_950)), none)
        assert.deepStrictEqual(yield* rate(then(now - 100 * 86_400)), none)
        assert.deepStrictEqual(yield* rate("by-symbol/USDT/OLD"), none)
        assert.deepStrictEqual(yield* rate("by-symbol/USDT/NONE"), [404, "resource_not_found", undefined])
        assert.strictEqual((yield* get(`${rates}/by-symbol/USDT/USD?calculationTimestamp=1e3`)).status, 400)
      }).pipe(Effect.provide(server(store)))
    )

    it.live("answers 404 with the reason", () =>
      Effect.gen(function* () {
        const get = yield* client
        yield* (yield* Assets).put(entries, "file")
        for (const [path, message] of [
          ["by-id/none", "There is no asset with this id"],
          ["by-symbol/NONE", "There is no asset with this symbol"],
          ["by-slug/none", "There is no asset with this slug"],
          ["by-slug/old", "There is no rate of Old Coin from the last 30 days"]
        ] as const) {
          const { body, status } = yield* get(`/market-data/assets/${path}`)
          assert.strictEqual(status, 404)
          assert.deepStrictEqual(body.error, { code: "resource_not_found", message })
        }
        assert.strictEqual((yield* get("/market-data/assets/by-symbol/%00")).status, 400)
      }).pipe(Effect.provide(server(store)))
    )
  })
}
