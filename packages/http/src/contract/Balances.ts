/** The coins of an address, and what a token's contract says of itself (wider interface, *Address latest*, *Contracts*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  NameText,
  networkParam,
  StandardText,
  SymbolText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

const errors = [...chainErrors, Failures.unimplemented, Failures.nodeUnavailable] as const
const address = AddressText.annotate({ description: "Address, in any form that the blockchain knows" })

export const Balance = Schema.Struct({ confirmedBalance: Amount }).annotate({ identifier: "Balance" })

export const TokenDetails = Schema.Struct({
  name: NameText,
  standard: StandardText,
  symbol: SymbolText,
  fungibleValues: Schema.optionalKey(
    Schema.Struct({
      decimals: Schema.optionalKey(Schema.Int.annotate({ examples: [6] })),
      totalSupply: DecimalText.annotate({ examples: ["119500000000.5"] })
    })
  ).annotate({ description: "Of a fungible token" })
}).annotate({ identifier: "TokenDetails" })

export class BalancesGroup extends HttpApiGroup.make("balances")
  .add(
    HttpApiEndpoint.get("evmBalance", "/addresses-latest/evm/:blockchain/:network/:address/balance", {
      params: { ...chainParams, address },
      query: context,
      success: item(Balance),
      error: errors
    })
      .annotate(Price, "evm-balance")
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Read the coins of an address after the newest block"),
    HttpApiEndpoint.get("xrpBalance", "/addresses-latest/xrp/:network/:address/balance", {
      params: { ...networkParam, address },
      query: context,
      success: item(Balance),
      error: errors
    })
      .annotate(Price, "xrp-balance")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Read the XRP of an address after the newest validated ledger"),
    HttpApiEndpoint.get("tokenDetails", "/contracts/evm/:blockchain/:network/:contractAddress/token-details", {
      params: {
        ...chainParams,
        contractAddress: AddressText.annotate({ description: "Address of the token's contract" })
      },
      query: context,
      success: item(TokenDetails),
      error: [...errors, Failures.tokenDetailsNotFound]
    })
      .annotate(Price, "token-details")
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Read what a token's contract says of itself")
  )
  .middleware(RequestedChain)
  .annotateMerge(
    OpenApi.annotations({ title: "Balances and tokens", description: "Coins of an address, and token contracts" })
  ) {}
