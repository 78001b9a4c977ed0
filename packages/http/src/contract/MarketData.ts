/** Market data of an asset (interface section 4.4), found by its id, symbol or slug, and the list of all assets. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { context, DecimalText, NameText, pageErrors, StandardText, SymbolText, Timestamp, UnitText } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"

const assetId = "5b1ea92e584bf50020130615"
const AssetIdText = Schema.String.annotate({ examples: [assetId] })

const LatestRate = Schema.Struct({
  amount: DecimalText.annotate({ examples: ["0.9998"] }),
  unit: UnitText.annotate({ examples: ["USD"] }),
  calculationTimestamp: Schema.optionalKey(Timestamp)
})

export const Asset = Schema.Struct({
  contracts: Schema.Array(
    Schema.Struct({
      blockchain: Schema.String,
      network: Schema.String,
      identifier: Schema.String.annotate({ examples: ["0xdAC17F958D2ee523a2206206994597C13D831ec7"] }),
      standard: StandardText,
      fungibleValues: Schema.optionalKey(
        Schema.Struct({ decimals: Schema.optionalKey(Schema.Int.annotate({ examples: [6] })) })
      )
    })
  ),
  latestRate: LatestRate,
  logo: Schema.Struct({
    encoding: Schema.String.annotate({ examples: ["base64"] }),
    imageData: Schema.String.annotate({ examples: ["PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="] }),
    mimeType: Schema.String.annotate({ examples: ["image/svg+xml"] })
  }),
  name: NameText.annotate({ examples: ["Tether"] }),
  originalSymbol: Schema.String.annotate({ examples: ["USDT"] }),
  referenceId: AssetIdText,
  slug: Schema.optionalKey(Schema.String.annotate({ examples: ["tether"] })),
  symbol: SymbolText.annotate({ examples: ["USDT"] }),
  specificData: Schema.Struct({
    "1HourPriceChangeInPercentage": Schema.String.annotate({ examples: ["0.01"] }),
    "1WeekPriceChangeInPercentage": Schema.String.annotate({ examples: ["-0.02"] }),
    "24HoursPriceChangeInPercentage": Schema.String.annotate({ examples: ["0.03"] }),
    "24HoursTradingVolume": Schema.String.annotate({ examples: ["61250000000"] }),
    circulatingSupply: Schema.String.annotate({ examples: ["119500000000"] }),
    marketCapInUSD: Schema.String.annotate({ examples: ["119476100000"] }),
    maxSupply: Schema.String.annotate({ examples: ["119500000000"] }),
    type: Schema.String.annotate({ examples: ["TOKEN"] })
  })
}).annotate({ identifier: "Asset" })

/** An asset in the list: without logo, contracts and figures. */
export const ListedAsset = Schema.Struct({
  assetType: Schema.Literals(["crypto", "fiat"]),
  type: Schema.String.annotate({ description: "COIN or TOKEN", examples: ["TOKEN"] }),
  name: NameText.annotate({ examples: ["Tether"] }),
  originalSymbol: Schema.String.annotate({ examples: ["USDT"] }),
  referenceId: AssetIdText,
  slug: Schema.String.annotate({ examples: ["tether"] }),
  symbol: SymbolText.annotate({ examples: ["USDT"] }),
  latestRate: Schema.optionalKey(LatestRate)
}).annotate({ identifier: "ListedAsset" })

const printable = (description: string, example: string) =>
  Schema.String.check(
    Schema.isBetweenLength(1, 200, { message: "must have 1 to 200 characters" }),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
    Schema.isPattern(/^[^\u0000-\u001f\u007f\ud800-\udfff]*$/u, { message: "must have no control characters" })
  ).annotate({ description, examples: [example] })

const assetErrors = [Failures.invalidData, Failures.resourceNotFound, Failures.unimplemented] as const

export class MarketDataGroup extends HttpApiGroup.make("marketData")
  .add(
    HttpApiEndpoint.get("assetById", "/by-id/:assetId", {
      params: {
        assetId: Schema.String.check(
          Schema.isPattern(/^[\x21-\x7e]{1,128}$/, { message: "must be 1 to 128 printable characters" })
        ).annotate({ description: "Id of the asset", examples: [assetId] })
      },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its id" })),
    HttpApiEndpoint.get("assetBySymbol", "/by-symbol/:assetSymbol", {
      params: { assetSymbol: printable("Unique symbol in the listing, in any letter case", "USDT") },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its symbol" })),
    HttpApiEndpoint.get("assetBySlug", "/by-slug/:assetSlug", {
      params: { assetSlug: printable("Unique slug in the listing", "tether") },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its slug" })),
    HttpApiEndpoint.get("assets", "/", {
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(ListedAsset),
      error: [Failures.invalidData, ...pageErrors, Failures.unimplemented]
    }).annotateMerge(OpenApi.annotations({ summary: "List the supported assets" }))
  )
  .annotateEndpoints(ExampleValues, { unit: "USD" })
  .prefix("/market-data/assets")
  .annotateMerge(OpenApi.annotations({ title: "Market data", description: "Assets and their rates" })) {}
