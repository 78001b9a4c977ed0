/** Market data of an asset (interface section 4.4), lists of assets, and exchange rates (wider interface, *Market data*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  context,
  DecimalText,
  NameText,
  pageErrors,
  printable,
  StandardText,
  SymbolText,
  Timestamp,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { Count, offsetPage, offsetQuery } from "./Paging.ts"
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
  type: Schema.Literals(["crypto", "fiat"]),
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

/** As {@link Asset}, whose type clients that ask by the symbol know in lower case. */
export const AssetBySymbol = Schema.Struct({
  ...Asset.fields,
  specificData: Schema.Struct({
    ...Asset.fields.specificData.fields,
    type: Schema.String.annotate({ description: "coin or token", examples: ["token"] })
  })
}).annotate({ identifier: "AssetBySymbol" })

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

/** An asset as clients ask for all of them first. */
export const SupportedAsset = Schema.Struct({
  name: NameText.annotate({ examples: ["Tether"] }),
  originalSymbol: Schema.String.annotate({ examples: ["USDT"] }),
  referenceId: AssetIdText,
  symbol: SymbolText.annotate({ examples: ["USDT"] }),
  type: Schema.Literals(["crypto", "fiat"])
}).annotate({ identifier: "SupportedAsset" })

export const ExchangeRate = Schema.Struct({
  calculationTimestamp: Timestamp.annotate({ description: "When the older one of the two rates was true" }),
  fromAssetId: AssetIdText,
  fromAssetSymbol: SymbolText.annotate({ examples: ["BTC"] }),
  rate: DecimalText.annotate({
    description: "Units of the second asset for one of the first, by the rates of both in US dollars",
    examples: ["64250.12"]
  }),
  toAssetId: AssetIdText,
  toAssetSymbol: SymbolText.annotate({ examples: ["USD"] })
}).annotate({ identifier: "ExchangeRate" })

const nameParam = (description: string, example: string) =>
  Schema.String.check(
    Schema.isBetweenLength(1, 200, { message: "must have 1 to 200 characters" }),
    ...printable
  ).annotate({ description, examples: [example] })

const idParam = (description: string) =>
  Schema.String.check(
    Schema.isPattern(/^[\x21-\x7e]{1,128}$/, { message: "must be 1 to 128 printable characters" })
  ).annotate({ description, examples: [assetId] })

const rateQuery = {
  ...context,
  calculationTimestamp: Schema.optionalKey(
    Count.annotate({
      description: "The moment, in seconds since the Unix epoch, 30 days ago at most; the newest rates if not given",
      examples: [1_764_158_400]
    })
  )
}

const assetErrors = [Failures.invalidData, Failures.resourceNotFound, Failures.unimplemented] as const

export class MarketDataGroup extends HttpApiGroup.make("marketData")
  .add(
    HttpApiEndpoint.get("assetById", "/assets/by-id/:assetId", {
      params: {
        assetId: idParam("Id of the asset")
      },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotate(OpenApi.Summary, "Read an asset by its id"),
    HttpApiEndpoint.get("assetBySymbol", "/assets/by-symbol/:assetSymbol", {
      params: { assetSymbol: nameParam("Unique symbol in the listing, in any letter case", "USDT") },
      query: context,
      success: item(AssetBySymbol),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotate(OpenApi.Summary, "Read an asset by its symbol"),
    HttpApiEndpoint.get("assetBySlug", "/assets/by-slug/:assetSlug", {
      params: { assetSlug: nameParam("Unique slug in the listing", "tether") },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotate(OpenApi.Summary, "Read an asset by its slug"),
    HttpApiEndpoint.get("assets", "/assets", {
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(ListedAsset),
      error: [Failures.invalidData, ...pageErrors, Failures.unimplemented]
    }).annotate(OpenApi.Summary, "List the supported assets"),
    HttpApiEndpoint.get("supportedAssets", "/metadata/assets", {
      query: {
        ...context,
        ...offsetQuery(10),
        type: Schema.optionalKey(Schema.Literals(["crypto", "fiat"])).annotate({
          description: "Assets of this type alone"
        })
      },
      success: offsetPage(SupportedAsset),
      error: [Failures.invalidData, ...pageErrors, Failures.unimplemented]
    })
      .annotate(Price, "asset-list")
      .annotate(OpenApi.Summary, "List the names and ids of the supported assets"),
    HttpApiEndpoint.get("rateById", "/exchange-rates/by-id/:fromAssetId/:toAssetId", {
      params: {
        fromAssetId: idParam("Id of the asset that is sold"),
        toAssetId: idParam("Id of the asset that it costs")
      },
      query: rateQuery,
      success: item(ExchangeRate),
      error: [...assetErrors, Failures.pairNotAvailable]
    })
      .annotate(Price, "exchange-rate")
      .annotate(OpenApi.Summary, "Read the exchange rate of two assets by their ids"),
    HttpApiEndpoint.get("rateBySymbol", "/exchange-rates/by-symbol/:fromAssetSymbol/:toAssetSymbol", {
      params: {
        fromAssetSymbol: nameParam("Symbol of the asset that is sold, in any letter case", "BTC"),
        toAssetSymbol: nameParam("Symbol of the asset that it costs, in any letter case", "USD")
      },
      query: rateQuery,
      success: item(ExchangeRate),
      error: [...assetErrors, Failures.pairNotAvailable]
    })
      .annotate(Price, "exchange-rate")
      .annotate(OpenApi.Summary, "Read the exchange rate of two assets by their symbols")
  )
  .annotateEndpoints(ExampleValues, { unit: "USD" })
  .prefix("/market-data")
  .annotateMerge(OpenApi.annotations({ title: "Market data", description: "Assets and their rates" })) {}
