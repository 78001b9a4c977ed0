import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Catalogue from "../../src/market/Catalogue.ts"
import * as MarketServices from "./MarketServices.ts"

describe("Catalogue", () => {
  it("has the native coin of every live chain, with its decimals, and some currencies", () => {
    const live = Chain.all.filter(({ network }) => network === "mainnet")
    assert.isAtLeast(live.length, 16)
    for (const { blockchain, decimals, network, unit } of live) {
      const entry = Catalogue.entries.find(({ originalSymbol }) => originalSymbol === unit)
      assert.deepInclude([...(entry?.contracts ?? [])], {
        ...{ blockchain, network, identifier: unit, standard: "NATIVE" },
        fungibleValues: { decimals }
      })
    }
    assert.deepStrictEqual(
      Catalogue.entries.slice(0, 5).map(({ originalSymbol }) => originalSymbol),
      ["BTC", "ETH", "XRP", "BNB", "TRX"]
    )
    const currencies = Catalogue.entries.filter(({ assetType }) => assetType === "fiat")
    assert.isAtLeast(currencies.length, 5)
    assert.lengthOf(Catalogue.entries, new Set(live.map(({ unit }) => unit)).size + currencies.length)
  })

  it("has a logo of its own for each, small and well formed", () => {
    const images = Catalogue.entries.map(({ logo }) => Buffer.from(logo!.imageData, "base64").toString())
    assert.lengthOf(new Set(images), Catalogue.entries.length)
    for (const image of images) {
      assert.match(
        image,
        /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 32 32"><circle [^<>]+\/><path d="[MmLlHhVvAaCcSsZz\d .-]+" [^<>]+\/><\/svg>$/
      )
      assert.isBelow(image.length, 500)
    }
  })

  it.live("is listed without a provider and without the internet, and answers what it can", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      yield* Catalogue.seed
      yield* Catalogue.seed
      const { items, total } = yield* assets.list({ limit: 50, offset: 0 })
      assert.strictEqual(total, Catalogue.entries.length)
      assert.deepStrictEqual(
        items.map(({ symbol }) => symbol),
        Catalogue.entries.map(({ originalSymbol }) => originalSymbol)
      )
      assert.strictEqual((yield* assets.bySlug("us-dollar")).latestRate.amount, "1")
      const { message } = yield* Effect.flip(assets.bySlug("bitcoin"))
      assert.strictEqual(message, "There is no rate of Bitcoin from the last 30 days")
    }).pipe(Effect.provide(MarketServices.layer))
  )
})
