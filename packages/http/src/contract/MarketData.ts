/** Market data of one asset (interface section 4.4). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { item } from "../Envelope.ts"
import { Failures } from "../Errors.ts"
import { context, DecimalText, NameText, StandardText, SymbolText, Timestamp, UnitText } from "./Common.ts"
import { Price } from "./Price.ts"

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
  latestRate: Schema.Struct({
    amount: DecimalText,
    unit: UnitText,
    calculationTimestamp: Schema.optionalKey(Timestamp)
  }),
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

export class MarketDataGroup extends HttpApiGroup.make("marketData")
  .add(
    HttpApiEndpoint.get("assetById", "/market-data/assets/by-id/:assetId", {
      params: {
        assetId: Schema.String.check(
          Schema.isPattern(/^[\x21-\x7e]{1,128}$/, { message: "must be 1 to 128 printable characters" })
        )
      },
      query: context,
      success: item(Asset),
      error: [Failures.invalidData, Failures.resourceNotFound, Failures.unimplemented]
    })
      .annotate(Price, "asset")
      .annotateMerge(OpenApi.annotations({ summary: "Read an asset by its id" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "Market data", description: "Assets and their rates" })) {}
