import { assert, layer } from "@effect/vitest"
import * as Asset from "@headwater/core/market/Asset"
import * as Rate from "@headwater/core/market/Rate"
import { Database } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"

const entry = (slug: string, rest: Partial<typeof Asset.Entry.Encoded> = {}) =>
  Schema.decodeSync(Asset.Entry)({ slug, name: slug, originalSymbol: slug.slice(0, 3), ...rest })

/** Seconds since the Unix epoch. */
const start = 1_800_000_000
const hour = 3_600
const day = 86_400

const assetOf = (listed: ReadonlyArray<{ readonly kind: string; readonly asset?: number }>) =>
  listed.map((one) => one.asset ?? 0)

for (const store of takenStores(import.meta.url)) {
  const services = Assets.layer.pipe(Layer.provideMerge(store.layer))

  layer(services)(`Assets on ${store.name}: listing`, (it) => {
    it.effect("gives ids that stay, and symbols that no two assets share", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const offset = (yield* assets.list({ limit: 1, offset: 0 })).total
        const first = yield* assets.put(
          [
            entry("solar", { originalSymbol: "sun" }),
            entry("sundae", { originalSymbol: "SUN" }),
            entry("sunny", { originalSymbol: "Sun", symbol: "sny" })
          ],
          "file"
        )
        assert.deepStrictEqual(
          first.map(({ kind }) => kind),
          ["added", "added", "added"]
        )
        const { items, total } = yield* assets.list({ limit: 10, offset })
        assert.strictEqual(total, offset + 3)
        assert.deepStrictEqual(
          items.map(({ originalSymbol, symbol }) => [originalSymbol, symbol]),
          [
            ["sun", "SUN"],
            ["SUN", "SUN-SUNDAE"],
            ["Sun", "SNY"]
          ]
        )
        assert.isTrue(items.every(({ referenceId }) => /^[0-9a-f]{24}$/.test(referenceId)))
        const again = yield* assets.put([entry("solar", { originalSymbol: "sun", name: "Solar" })], "file")
        assert.deepStrictEqual(again, [{ kind: "updated", asset: assetOf(first)[0]! }])
        const after = yield* assets.list({ limit: 1, offset })
        assert.deepStrictEqual(after.items, [{ ...items[0]!, name: "Solar" }])
        assert.deepStrictEqual(yield* assets.put([entry("solar", { originalSymbol: "sun", name: "Solar" })], "file"), [
          { kind: "unchanged", asset: assetOf(first)[0]! }
        ])
      })
    )

    it.effect("refuses what would be twice, names the field, and lists the rest", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        const listed = yield* assets.put(
          [
            entry("one", { symbol: "ONE", providers: { coingecko: "uno" } }),
            entry("two", { symbol: "one" }),
            entry("three", { providers: { coingecko: "uno" } }),
            entry("four", { referenceId: "ref-four" }),
            entry("five", { referenceId: "ref-four", symbol: "ONE" }),
            entry("four", { referenceId: "other" })
          ],
          "file"
        )
        assert.deepStrictEqual(
          listed.map((one) => (one.kind === "refused" ? one.field : one.kind)),
          ["added", "symbol", "providers.coingecko", "added", "symbol", "referenceId"]
        )
      })
    )

    it.effect("renames an asset by its id, and finds it by id, slug and symbol in any case", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const [asset] = assetOf(
          yield* assets.put([entry("before", { referenceId: "stays", originalSymbol: "stETH" })], "file")
        )
        yield* assets.put([entry("after", { referenceId: "stays", originalSymbol: "stETH" })], "file")
        yield* assets.record([{ asset: asset!, amount: "2", at: start }])
        const found = yield* Effect.all([assets.byId("stays"), assets.bySlug("after"), assets.bySymbol("SteTh")])
        for (const one of found) {
          assert.deepStrictEqual([one.referenceId, one.originalSymbol, one.symbol], ["stays", "stETH", "STETH"])
        }
        assert.strictEqual((yield* Effect.flip(assets.bySlug("before")))._tag, "AssetNotFound")
      })
    )

    it.effect("lets the operator's file change what ships, what ships what a provider says, never the reverse", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        const name = Effect.map(assets.list({ limit: 100, offset: 0 }), ({ items }) =>
          items.filter(({ slug }) => slug === "ranked").map(({ name }) => name)
        )
        const put = (name: string, origin: "coingecko" | "bundled" | "file") =>
          assets.put([entry("ranked", { name, providers: { coingecko: "rk" } })], origin)
        yield* put("of the provider", "coingecko")
        yield* put("of the package", "bundled")
        assert.strictEqual((yield* put("of the provider", "coingecko"))[0]!.kind, "kept")
        assert.deepStrictEqual(yield* name, ["of the package"])
        yield* put("of the operator", "file")
        assert.strictEqual((yield* put("of the package", "bundled"))[0]!.kind, "kept")
        assert.deepStrictEqual(yield* name, ["of the operator"])
        const [link] = (yield* assets.linked("coingecko")).filter(({ providerId }) => providerId === "rk")
        assert.strictEqual(link?.assetType, "crypto")
        // Equal slugs may be chance: a provider's asset is not taken for another's.
        const stranger = yield* assets.put([entry("ranked", { providers: { coingecko: "other" } })], "coingecko")
        assert.deepStrictEqual(stranger, [
          { kind: "refused", field: "slug", message: "is already that of another asset" }
        ])
      })
    )

    it.effect("does one batch after another where entries trade names", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        yield* assets.put([entry("left", { referenceId: "l" }), entry("right", { referenceId: "r" })], "file")
        const traded = yield* assets.put(
          [entry("right", { referenceId: "l" }), entry("elsewhere", { referenceId: "e" })],
          "file"
        )
        assert.deepStrictEqual(
          traded.map(({ kind }) => kind),
          ["refused", "added"]
        )
      })
    )
  })

  layer(services)(`Assets on ${store.name}: rates`, (it) => {
    it.effect("answers every field, empty where it is not known, with a logo in any case", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const contracts = [
          {
            ...{ blockchain: "ethereum", network: "mainnet", standard: "ERC-20" },
            identifier: "0xdac17f958d2ee523a2206206994597c13d831ec7",
            fungibleValues: { decimals: 6 }
          },
          {
            ...{ blockchain: "tron", network: "mainnet", standard: "TRC-20" },
            identifier: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
          }
        ]
        const [asset] = assetOf(yield* assets.put([entry("token", { contracts })], "file"))
        yield* assets.record([{ asset: asset!, amount: "1.0003", at: start - 10 }])
        const { logo, referenceId, ...found } = yield* assets.bySlug("token")
        assert.deepStrictEqual(found, {
          contracts: [{ ...contracts[0]!, identifier: "0xdAC17F958D2ee523a2206206994597C13D831ec7" }, contracts[1]!],
          latestRate: { amount: "1.0003", unit: "USD", calculationTimestamp: start - 10 },
          ...{ name: "token", originalSymbol: "tok", slug: "token", symbol: "TOK", type: "crypto" },
          specificData: {
            "1HourPriceChangeInPercentage": "",
            "1WeekPriceChangeInPercentage": "",
            "24HoursPriceChangeInPercentage": "",
            "24HoursTradingVolume": "",
            circulatingSupply: "",
            marketCapInUSD: "",
            maxSupply: "",
            type: "TOKEN"
          }
        })
        assert.strictEqual(logo.mimeType, "image/svg+xml")
        assert.match(Buffer.from(logo.imageData, "base64").toString(), /^<svg /)
        assert.match(referenceId, /^[0-9a-f]{24}$/)
        // An entry that names no contracts takes none away, nor makes a coin of a token.
        yield* assets.put([entry("token", { name: "Renamed" })], "file")
        const renamed = yield* assets.bySlug("token")
        assert.deepStrictEqual([renamed.name, renamed.contracts], ["Renamed", found.contracts])
        assert.strictEqual(renamed.specificData.type, "TOKEN")
      })
    )

    it.effect("keeps a logo byte for byte", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const imageData = Buffer.from(Uint8Array.from({ length: 1000 }, (_, i) => i % 256)).toString("base64")
        const logo = { encoding: "base64", imageData, mimeType: "image/png" } as const
        const [asset] = assetOf(yield* assets.put([entry("drawn", { logo })], "file"))
        yield* assets.record([{ asset: asset!, amount: "1", at: start }])
        assert.deepStrictEqual((yield* assets.bySlug("drawn")).logo, logo)
      })
    )

    it.effect("believes nothing that cannot be, and keeps the last good rate with its own time", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const [asset] = assetOf(yield* assets.put([entry("faulty")], "file"))
        const tell = (amount: string, at: number, rest: Partial<Rate.Quote> = {}) =>
          Effect.map(assets.record([{ asset: asset!, amount, at, ...rest }]), ([reason]) => reason)
        assert.strictEqual(yield* tell("-1", start), "price_not_positive")
        assert.strictEqual(yield* tell("1", start - Rate.maxAgeSeconds - 1), "too_old")
        assert.strictEqual((yield* Effect.flip(assets.bySlug("faulty")))._tag, "RateNotAvailable")
        assert.isUndefined(yield* tell("100", start - 60, { volume24h: "5" }))
        for (const [amount, at, rest, reason] of [
          ["0", start, {}, "price_not_positive"],
          ["1000000000000001", start, {}, "price_absurd"],
          ["10001", start, {}, "price_jump"],
          ["0.99", start, {}, "price_jump"],
          ["101", start, { marketCap: "-1" }, "negative_figure"],
          ["101", start + 301, {}, "from_the_future"],
          ["100", start - 60, {}, "unchanged"],
          ["101", start - 61, {}, "unchanged"]
        ] as const) {
          assert.strictEqual(yield* tell(amount, at, rest), reason)
        }
        const kept = yield* assets.bySlug("faulty")
        assert.deepStrictEqual(kept.latestRate, { amount: "100", unit: "USD", calculationTimestamp: start - 60 })
        assert.strictEqual(kept.specificData["24HoursTradingVolume"], "5")
        // An hour later the jump is the truth.
        yield* TestClock.setTime((start + hour) * 1000)
        assert.isUndefined(yield* tell("0.5", start + hour))
        assert.strictEqual((yield* assets.bySlug("faulty")).latestRate.amount, "0.5")
        // And what is older than 30 days is no answer any more.
        yield* TestClock.setTime((start + hour + Rate.maxAgeSeconds) * 1000)
        assert.strictEqual((yield* assets.bySlug("faulty")).latestRate.amount, "0.5")
        yield* TestClock.setTime((start + hour + Rate.maxAgeSeconds + 1) * 1000)
        const { message } = yield* Effect.flip(assets.bySlug("faulty"))
        assert.strictEqual(message, "There is no rate of faulty from the last 30 days")
      })
    )

    it.effect("takes one quote of several of an asset in a batch: the newest", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const [asset] = assetOf(yield* assets.put([entry("twice")], "file"))
        const quote = (amount: string, at: number) => ({ asset: asset!, amount, at })
        assert.deepStrictEqual(
          yield* assets.record([quote("1", start - 9), quote("3", start - 3), quote("2", start - 5)]),
          [undefined, undefined, "unchanged"]
        )
        assert.strictEqual((yield* assets.bySlug("twice")).latestRate.amount, "3")
      })
    )

    it.effect("takes a price that is corrected for the same moment, also in the series", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const assets = yield* Assets
        const [asset] = assetOf(yield* assets.put([entry("corrected")], "file"))
        const quote = (amount: string, at: number) => ({ asset: asset!, amount, at })
        yield* assets.record([quote("4", start - hour), quote("5", start - hour)])
        assert.deepStrictEqual(yield* assets.record([quote("7", start)]), [undefined])
        assert.deepStrictEqual(yield* assets.record([quote("6", start), quote("6", start)]), [undefined, "unchanged"])
        const { latestRate, specificData } = yield* assets.bySlug("corrected")
        assert.deepStrictEqual([latestRate.amount, specificData["1HourPriceChangeInPercentage"]], ["6", "20"])
      })
    )

    it.effect("computes the changes that the provider does not say from the series, exactly", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        const [asset] = assetOf(yield* assets.put([entry("series")], "file"))
        const at = (time: number, amount: string, rest: Partial<Rate.Quote> = {}) =>
          Effect.gen(function* () {
            yield* TestClock.setTime(time * 1000)
            assert.deepStrictEqual(yield* assets.record([{ asset: asset!, amount, at: time, ...rest }]), [undefined])
          })
        const changes = Effect.map(assets.bySlug("series"), ({ specificData }) => [
          specificData["1HourPriceChangeInPercentage"],
          specificData["24HoursPriceChangeInPercentage"],
          specificData["1WeekPriceChangeInPercentage"]
        ])
        const now = start + 8 * day
        yield* at(now - 7 * day - 2 * hour, "0.3")
        yield* at(now - day + hour, "0.000000000000000003")
        yield* at(now - hour - 120, "0.1")
        assert.deepStrictEqual(yield* changes, ["", "3333333333333333233.33333", "-66.66667"])
        yield* at(now, "0.2")
        assert.deepStrictEqual(yield* changes, ["100", "6666666666666666566.66667", "-33.33333"])
        // What the provider says goes first; a point too far from the moment in question is no answer.
        yield* at(now + 3 * hour, "0.2", { change24h: "-1.34633" })
        assert.deepStrictEqual(yield* changes, ["", "-1.34633", "-33.33333"])
      })
    )

    it.effect("thins the series: a bound for each asset, and the changes stay computable", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        const { insertMany, read } = yield* Database
        const [asset, other] = assetOf(yield* assets.put([entry("thin"), entry("thinner")], "file"))
        const now = start + 40 * day
        const series = Array.from({ length: 40 * 288 }, (_, i) => ({
          ...{ asset: asset!, at: now - (i + 1) * 300, amount: String(i + 1) }
        }))
        yield* insertMany("asset_rate", [...series, { asset: other!, at: now - 31 * day, amount: "1" }])
        yield* TestClock.setTime(now * 1000)
        yield* assets.thin
        const left = yield* read((db) =>
          db.selectFrom("asset_rate").selectAll().where("asset", "in", [asset!, other!]).orderBy("at")
        )
        assert.isTrue(left.every(({ asset: of }) => of === asset))
        assert.isAtMost(left.length, 24 + 47 + 114)
        assert.isAtLeast(left.length, 24 + 45 + 111)
        assert.isAtLeast(left[0]!.at, now - 30 * day)
        assert.isUndefined((yield* assets.record([{ asset: asset!, amount: "1", at: now }]))[0])
        const { specificData } = yield* assets.bySlug("thin")
        for (const name of ["1Hour", "24Hours", "1Week"] as const) {
          assert.match(specificData[`${name}PriceChangeInPercentage`], /^-\d/)
        }
        yield* assets.thin
        const again = yield* read((db) => db.selectFrom("asset_rate").selectAll().where("asset", "=", asset!))
        assert.strictEqual(again.length, left.length + 1)
      })
    )

    it.effect("knows that a dollar is a dollar", () =>
      Effect.gen(function* () {
        const assets = yield* Assets
        yield* assets.put([entry("us-dollar", { originalSymbol: "USD", assetType: "fiat" })], "bundled")
        const { latestRate, specificData } = yield* assets.bySymbol("usd")
        assert.deepStrictEqual(latestRate, { amount: "1", unit: "USD" })
        assert.strictEqual(specificData["24HoursPriceChangeInPercentage"], "0")
      })
    )
  })
}
