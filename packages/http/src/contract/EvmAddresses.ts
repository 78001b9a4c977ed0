/** The endpoints for addresses of EVM chains: transactions, token transfers, internal transactions, tokens. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { InternalTransaction, TokenTransfer } from "./Addresses.ts"
import {
  AddressText,
  Amount,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  NameText,
  nodeErrors,
  pageErrors,
  StandardText,
  SymbolText
} from "./Common.ts"
import { Failures } from "./Errors.ts"
import { EvmTransaction, listedValues, resourceFields } from "./EvmBlocks.ts"
import { ExampleValues } from "./internal/Example.ts"
import {
  answeredPage,
  cursorQuery,
  cursorQueryOf,
  DefaultLimit,
  Listing,
  PositionLength,
  TimestampText
} from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"

/** As {@link EvmTransaction}, with fields of clients that know the value and the bandwidth by other names. */
export const EvmAddressTransaction = Schema.Struct({
  ...EvmTransaction.fields,
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      ...resourceFields,
      bandwithUsed: Schema.Int.annotate({ description: "As `bandwidth`" })
    })
  ).annotate({ description: "On tron" }),
  vallue: Amount.annotate({ description: "As `value`" })
}).annotate({ identifier: "EvmAddressTransaction" })

/** As {@link TokenTransfer}, with the decimals of the token. */
export const TokenTransferWithDecimals = Schema.Struct({
  ...TokenTransfer.fields,
  tokenData: Schema.Struct({
    ...TokenTransfer.fields.tokenData.fields,
    fungibleValues: Schema.Struct({
      amount: DecimalText,
      decimals: Schema.Int.annotate({
        description: "0 where the contract does not say them: the amount is in the smallest unit then",
        examples: [6]
      })
    })
  })
}).annotate({ identifier: "TokenTransferWithDecimals" })

export const HeldToken = Schema.Struct({
  name: NameText,
  symbol: SymbolText,
  contractAddress: AddressText,
  fungibleValues: Schema.Struct({
    amount: DecimalText.annotate({ description: "Of a contract with ids: how many of them the address has" })
  }),
  standard: StandardText
}).annotate({ identifier: "HeldToken" })

const params = {
  ...chainParams,
  address: AddressText.annotate({ description: "Address, in any form that the blockchain knows" })
}
const families = ["evm", "tron"] as const
const list = [...chainErrors, ...pageErrors, Failures.addressNotSynced, ...nodeErrors] as const
const history = [...list, Failures.syncAddressNotActive] as const
const latest = "/addresses-latest/evm/:blockchain/:network/:address"
const historical = "/addresses-historical/evm/:blockchain/:network/:address"
/** The size of a page by default, where it is not that of all. */
const ten = 10

export const evmAddressEndpoints = [
  HttpApiEndpoint.get("evmLatestTransactions", `${latest}/transactions`, {
    params,
    query: { ...context, ...cursorQueryOf(ten) },
    success: answeredPage(EvmTransaction),
    error: list
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(DefaultLimit, ten)
    .annotate(Price, "evm-address-latest")
    .annotate(ExampleValues, listedValues)
    .annotate(OpenApi.Summary, "List the transactions of an address of an EVM chain"),
  HttpApiEndpoint.get("evmLatestTokens", `${latest}/tokens-transfers`, {
    params,
    query: { ...context, ...cursorQueryOf(ten) },
    success: answeredPage(TokenTransferWithDecimals),
    error: list
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(DefaultLimit, ten)
    .annotate(Price, "transaction-tokens")
    .annotate(ExampleValues, { nonFungibleValues: undefined })
    .annotate(OpenApi.Summary, "List the token transfers of an address of an EVM chain"),
  HttpApiEndpoint.get("evmTransactions", `${historical}/transactions`, {
    params,
    query: { ...context, ...cursorQueryOf(ten) },
    success: answeredPage(EvmAddressTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(DefaultLimit, ten)
    .annotate(Price, "evm-address-history")
    .annotate(ExampleValues, listedValues)
    .annotate(OpenApi.Summary, "List the transactions of a recorded address of an EVM chain"),
  HttpApiEndpoint.get("evmTransactionsSince", `${historical}/transactions/from-timestamp/:timestamp`, {
    params: { ...params, timestamp: TimestampText },
    query: { ...context, ...cursorQueryOf(ten) },
    success: answeredPage(EvmAddressTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(DefaultLimit, ten)
    .annotate(Price, "evm-address-since")
    .annotate(ExampleValues, listedValues)
    .annotate(OpenApi.Summary, "List the transactions of a recorded address of an EVM chain since a moment"),
  HttpApiEndpoint.get("evmInternalHistory", `${historical}/internal`, {
    params,
    query: { ...context, ...cursorQuery },
    success: answeredPage(InternalTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(Price, "evm-address-internal")
    .annotate(OpenApi.Summary, "List the internal transactions of a recorded address"),
  HttpApiEndpoint.get("evmInternalOfAddress", `${historical}/internal-transactions`, {
    params,
    query: { ...context, ...cursorQuery },
    success: answeredPage(InternalTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(Price, "evm-address-internal")
    .annotate(OpenApi.Summary, "List the internal transactions of a recorded address, by another path"),
  HttpApiEndpoint.get("evmHeldTokens", `${historical}/tokens`, {
    params,
    query: { ...context, limit: cursorQuery.limit, startingAfter: cursorQuery.startingAfter },
    success: answeredPage(HeldToken),
    error: [...history, Failures.conflict]
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    // The bytes of a contract's address.
    .annotate(PositionLength, 4)
    .annotate(Price, "evm-address-history")
    .annotate(OpenApi.Summary, "List the tokens that a recorded address has")
] as const
