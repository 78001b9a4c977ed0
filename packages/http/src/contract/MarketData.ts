/** Market data of an asset (interface section 4.4), found by its id, symbol or slug, and the list of all assets. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { context, DecimalText, NameText, pageErrors, StandardText, SymbolText, Timestamp, UnitText } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"

const LatestRate = Schema.Struct({
  amount: DecimalText,
  unit: UnitText,
  calculationTimestamp: Schema.optionalKey(Timestamp)
})

export const Asset = Schema.Struct({
  contracts: Schema.Array(
    Schema.Struct({
      blockchain: Schema.String,
      network: Schema.String,
      identifier: Schema.String,
      standard: StandardText,
      fungibleValues: Schema.optionalKey(Schema.Struct({ decimals: Schema.optionalKey(Schema.Int) }))
    })
  ),
  latestRate: LatestRate,
  logo: Schema.Struct({ encoding: Schema.String, imageData: Schema.String, mimeType: Schema.String }),
  name: NameText,
  originalSymbol: Schema.String,
  referenceId: Schema.String,
  slug: Schema.optionalKey(Schema.String),
  symbol: SymbolText,
  specificData: Schema.Struct({
    "1HourPriceChangeInPercentage": Schema.String,
    "1WeekPriceChangeInPercentage": Schema.String,
    "24HoursPriceChangeInPercentage": Schema.String,
    "24HoursTradingVolume": Schema.String,
    circulatingSupply: Schema.String,
    marketCapInUSD: Schema.String,
    maxSupply: Schema.String,
    type: Schema.String
  })
}).annotate({ identifier: "Asset" })

/** An asset in the list: without logo, contracts and figures. */
export const ListedAsset = Schema.Struct({
  assetType: Schema.Literals(["crypto", "fiat"]),
  type: Schema.String.annotate({ description: "COIN or TOKEN", examples: ["COIN"] }),
  name: NameText,
  originalSymbol: Schema.String.annotate({ examples: ["USDT"] }),
  referenceId: Schema.String,
  slug: Schema.String.annotate({ examples: ["tether"] }),
  symbol: SymbolText,
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
        )
      },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its id" })),
    HttpApiEndpoint.get("assetBySymbol", "/by-symbol/:assetSymbol", {
      params: { assetSymbol: printable("Unique symbol in the listing, in any letter case", "BTC") },
      query: context,
      success: item(Asset),
      error: assetErrors
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its symbol" })),
    HttpApiEndpoint.get("assetBySlug", "/by-slug/:assetSlug", {
      params: { assetSlug: printable("Unique slug in the listing", "bitcoin") },
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
  .prefix("/market-data/assets")
  .annotateMerge(OpenApi.annotations({ title: "Market data", description: "Assets and their rates" })) {}
