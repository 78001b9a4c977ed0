/** The recorded transfers of an address (interface sections 4.6 and 4.7). */

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
  HashText,
  MinedInBlock,
  NameText,
  NumberText,
  pageErrors,
  SymbolText,
  Timestamp
} from "./Common.ts"
import { Failures } from "./Errors.ts"
import { cursorPage, cursorQuery, Listing } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

export const InternalTransaction = Schema.Struct({
  transactionHash: HashText.annotate({ description: "The parent transaction" }),
  minedInBlock: MinedInBlock,
  operationId: Schema.String.annotate({ description: "Trace address", examples: ["call_0_1"] }),
  operationType: Schema.String.annotate({ examples: ["call"] }),
  recipient: AddressText,
  sender: AddressText,
  timestamp: Timestamp,
  value: Amount
}).annotate({ identifier: "InternalTransaction" })

export const TokenTransfer = Schema.Struct({
  recipient: AddressText,
  sender: AddressText,
  timestamp: Timestamp,
  tokenData: Schema.Struct({
    fungibleValues: Schema.Struct({ amount: DecimalText }),
    name: NameText,
    nonFungibleValues: Schema.optionalKey(Schema.Struct({ tokenId: Schema.optionalKey(NumberText) })),
    symbol: SymbolText,
    contractAddress: AddressText,
    standard: Schema.String.annotate({ examples: ["ERC-20"] })
  }),
  transactionHash: HashText,
  minedInBlock: MinedInBlock
}).annotate({ identifier: "TokenTransfer" })

const params = { ...chainParams, address: Schema.String.check(Schema.isBetweenLength(1, 200)) }
const errors = [...chainErrors, ...pageErrors, Failures.unimplemented, Failures.nodeUnavailable] as const

export class AddressesGroup extends HttpApiGroup.make("addresses")
  .add(
    HttpApiEndpoint.get(
      "internalTransactions",
      "/addresses-latest/evm/:blockchain/:network/:address/internal-transactions",
      {
        params,
        query: { ...context, ...cursorQuery },
        success: cursorPage(InternalTransaction),
        error: errors
      }
    )
      .annotate(Price, "internal-transactions")
      .annotateMerge(
        OpenApi.annotations({ summary: "List the internal transactions of an address in the last 14 days" })
      ),
    HttpApiEndpoint.get("tokensTransfers", "/addresses-historical/evm/:blockchain/:network/:address/tokens-transfers", {
      params,
      query: { ...context, ...cursorQuery },
      success: cursorPage(TokenTransfer),
      error: [...errors, Failures.addressNotSynced]
    })
      .annotate(Price, "tokens-transfers")
      .annotateMerge(OpenApi.annotations({ summary: "List the confirmed token transfers of an address" }))
  )
  .middleware(RequestedChain)
  .annotateEndpoints(Families, ["evm", "tron"])
  .annotateEndpoints(Listing, "cursor")
  .annotateMerge(OpenApi.annotations({ title: "Addresses", description: "Recorded transfers of an address" })) {}
