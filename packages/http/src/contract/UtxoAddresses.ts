/** The endpoints for addresses of UTXO chains: their transactions, their coins, and what waits for a block. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  chainErrors,
  chainParams,
  context,
  HashText,
  nodeErrors,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { answeredList, answeredPage, cursorQuery, Listing, offsetQuery, TimestampText } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"
import { UtxoTransaction } from "./UtxoBlocks.ts"

const Denominated = Schema.Struct({
  ...Amount.fields,
  denomination: Schema.Int.annotate({ description: "Decimals of the coin's smallest unit", examples: [8] })
}).annotate({ identifier: "DenominatedAmount" })

export const UtxoBalance = Schema.Struct({ confirmedBalance: Denominated }).annotate({ identifier: "UtxoBalance" })

/** As {@link UtxoTransaction}, with a field of clients that know one by another name. */
export const UtxoAddressTransaction = Schema.Struct({
  ...UtxoTransaction.fields,
  blockchaiSpecific: Schema.Struct({
    versionGroupId: Schema.String.annotate({ description: "On zcash; else empty", examples: [""] })
  }).annotate({ description: "As `blockchainSpecific`" })
}).annotate({ identifier: "UtxoAddressTransaction" })

export const UnspentOutput = Schema.Struct({
  address: AddressText,
  index: Schema.Int.annotate({ description: "Of the output in its transaction", examples: [1] }),
  isAvailable: Schema.Boolean.annotate({
    description:
      "Whether it can be spent now: no transaction that waits spends it, and it is no young coinbase or peg-out",
    examples: [true]
  }),
  isConfirmed: Schema.Boolean.annotate({ description: "Always true: outputs in blocks are listed", examples: [true] }),
  timestamp: Timestamp.annotate({ description: "Of the block" }),
  transactionId: HashText,
  value: Denominated
}).annotate({ identifier: "UnspentOutput" })

const params = {
  ...chainParams,
  address: AddressText.annotate({ description: "Address, in any form that the blockchain knows" })
}
const families = ["utxo"] as const
const recorded = [...chainErrors, Failures.addressNotSynced, ...nodeErrors] as const
const list = [...recorded, ...pageErrors, Failures.conflict] as const
const recordedHistory = [...recorded, Failures.syncAddressNotActive] as const
const history = [...list, Failures.syncAddressNotActive] as const
const latest = "/addresses-latest/utxo/:blockchain/:network/:address"
const historical = "/addresses-historical/utxo/:blockchain/:network/:address"
const example = { coinbase: undefined, blockchainSpecific: undefined, "fee.amount": "0.00000282" }
const waiting = { ...example, isConfirmed: false, positionInBlock: -1, minedInBlock: { hash: "", height: -1 } }
const ofNode = { answeredFrom: "node", completeFrom: undefined }

export const utxoAddressEndpoints = [
  HttpApiEndpoint.get("utxoLatestTransactions", `${latest}/transactions`, {
    params,
    query: { ...context, ...cursorQuery },
    success: answeredPage(UtxoTransaction),
    error: list
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(Price, "utxo-address-latest")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "List the transactions of an address of a UTXO chain"),
  HttpApiEndpoint.get("utxoUnconfirmed", `${latest}/unconfirmed-transactions`, {
    params,
    query: { ...context, ...offsetQuery(50) },
    success: answeredList(UtxoTransaction),
    error: [...chainErrors, ...pageErrors, Failures.conflict, ...nodeErrors]
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "utxo-address-latest")
    .annotate(ExampleValues, { ...waiting, ...ofNode })
    .annotate(OpenApi.Summary, "List the transactions of an address of a UTXO chain that wait for a block"),
  HttpApiEndpoint.get("utxoLatestBalance", `${latest}/balance`, {
    params,
    query: context,
    success: item(UtxoBalance),
    error: recorded
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-balance")
    .annotate(OpenApi.Summary, "Read the coins of an address of a UTXO chain"),
  HttpApiEndpoint.get("utxoBalance", `${historical}/balance`, {
    params,
    query: context,
    success: item(UtxoBalance),
    error: recordedHistory
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-balance")
    .annotate(OpenApi.Summary, "Read the coins of a recorded address of a UTXO chain"),
  HttpApiEndpoint.get("utxoTransactions", `${historical}/transactions`, {
    params,
    query: { ...context, ...cursorQuery },
    success: answeredPage(UtxoAddressTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(Price, "utxo-address-history")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "List the transactions of a recorded address of a UTXO chain"),
  HttpApiEndpoint.get("utxoTransactionsSince", `${historical}/transactions/from-timestamp/:timestamp`, {
    params: { ...params, timestamp: TimestampText },
    query: { ...context, ...cursorQuery },
    success: answeredPage(UtxoAddressTransaction),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "cursor")
    .annotate(Price, "utxo-address-coins")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "List the transactions of a recorded address of a UTXO chain since a moment"),
  HttpApiEndpoint.get("utxoUnspent", `${historical}/unspent-outputs`, {
    params,
    query: { ...context, ...offsetQuery(50) },
    success: answeredList(UnspentOutput),
    error: history
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "utxo-address-coins")
    .annotate(ExampleValues, { completeFrom: undefined })
    .annotate(OpenApi.Summary, "List the unspent outputs of a recorded address of a UTXO chain")
] as const
