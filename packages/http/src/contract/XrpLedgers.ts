/** Ledgers and transactions of the XRP Ledger, and the endpoints for ledgers (interface sections 2.5 and 4.5; wider interface, *Blocks*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  chainErrors,
  context,
  HashParam,
  HashText,
  MinedInBlock,
  networkParam,
  nodeErrors,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import {
  answeredPage,
  countQuery,
  cursorQueryOf,
  DefaultLimit,
  HeightText,
  Listing,
  offsetPage,
  offsetQuery,
  wholeList
} from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"

export const XrpBlock = Schema.Struct({
  hash: HashText,
  height: Schema.Int.annotate({ description: "Index of the ledger" }),
  nextBlockHash: Schema.optionalKey(HashText).annotate({
    description: "Empty in the newest ledger; absent where the newest ledgers are asked for"
  }),
  previousBlockHash: HashText,
  timestamp: Timestamp,
  totalCoins: Amount.annotate({ description: "All XRP that there is" }),
  totalFees: Amount.annotate({ description: "What the transactions of the ledger have burned" }),
  transactionsCount: Schema.Int.annotate({ examples: [73] })
}).annotate({ identifier: "XrpBlock" })

const transactionFields = {
  additionalData: Schema.optionalKey(Schema.String.annotate({ examples: ["invoice 4711"] })),
  destinationTag: Schema.optionalKey(Schema.Int.annotate({ examples: [4711] })),
  hash: HashText,
  offer: Amount,
  positionInBlock: Schema.Int.annotate({ examples: [7] }),
  recipient: AddressText.annotate({
    description:
      "Destination of the transaction, or of the escrow, payment channel or check that it fulfils; empty where there is none"
  }),
  sender: AddressText,
  status: Schema.String.annotate({ examples: ["tesSUCCESS"] }),
  timestamp: Timestamp,
  type: Schema.String.annotate({ examples: ["Payment"] }),
  fee: Amount,
  receive: Amount.annotate({ description: "What arrived at the recipient" }),
  value: Amount
}

export const XrpTransaction = Schema.Struct(transactionFields).annotate({ identifier: "XrpTransaction" })

/** As {@link XrpTransaction}, by itself: clients know the memo to be there, and the position as a text. */
export const XrpTransactionDetails = Schema.Struct({
  ...transactionFields,
  additionalData: Schema.String.annotate({ description: "Empty without a memo", examples: ["invoice 4711"] }),
  minedInBlock: MinedInBlock,
  positionInBlock: Schema.String.annotate({ examples: ["7"] })
}).annotate({ identifier: "XrpTransactionDetails" })

/** As {@link XrpTransaction}, with the ledger. */
export const XrpAddressTransaction = Schema.Struct({ ...transactionFields, minedInBlock: MinedInBlock }).annotate({
  identifier: "XrpAddressTransaction"
})

const ledgers = "/blocks/xrp/:network"
const byHash = { ...networkParam, blockHash: HashParam.annotate({ description: "Hash of the ledger" }) }
const byHeight = { ...networkParam, blockHeight: HeightText }
const ofLedger = [...chainErrors, Failures.resourceNotFound, ...nodeErrors] as const
const ofList = [...chainErrors, ...pageErrors, Failures.blockNotFound, ...nodeErrors] as const
const families = ["xrp"] as const
const { blockHash } = FamilyExample.values("xrp")
const ledgerExample = {
  previousBlockHash: blockHash,
  "totalCoins.amount": "99985623811.123456",
  "totalFees.amount": "0.000876"
}
const newestExample = { ...ledgerExample, nextBlockHash: undefined }
const transactionExample = { hash: FamilyExample.values("xrp").transactionId, "fee.amount": "0.000012" }

export const xrpLedgerEndpoints = [
  HttpApiEndpoint.get("xrpByHash", `${ledgers}/hash/:blockHash/details`, {
    params: byHash,
    query: context,
    success: item(XrpBlock),
    error: ofLedger
  })
    .annotate(Price, "xrp-block-transactions")
    .annotate(Families, families)
    .annotate(ExampleValues, ledgerExample)
    .annotate(OpenApi.Summary, "Read an XRP ledger by its hash"),
  HttpApiEndpoint.get("xrpByHeight", `${ledgers}/height/:blockHeight/details`, {
    params: byHeight,
    query: context,
    success: item(XrpBlock),
    error: ofLedger
  })
    .annotate(Price, "xrp-block-transactions")
    .annotate(Families, families)
    .annotate(ExampleValues, ledgerExample)
    .annotate(OpenApi.Summary, "Read an XRP ledger by its index"),
  HttpApiEndpoint.get("xrpLatest", `${ledgers}/latest/details`, {
    params: networkParam,
    query: context,
    success: item(XrpBlock),
    error: ofLedger
  })
    .annotate(Price, "xrp-block-transactions")
    .annotate(Families, families)
    .annotate(ExampleValues, newestExample)
    .annotate(OpenApi.Summary, "Read the last validated XRP ledger"),
  HttpApiEndpoint.get("xrpNewest", `${ledgers}/latest`, {
    params: networkParam,
    query: { ...context, ...countQuery },
    success: wholeList(XrpBlock),
    error: [...chainErrors, ...nodeErrors]
  })
    .annotate(Listing, "whole")
    .annotate(Price, "xrp-block-transactions")
    .annotate(Families, families)
    .annotate(ExampleValues, newestExample)
    .annotate(OpenApi.Summary, "List the last validated XRP ledgers, newest first"),
  HttpApiEndpoint.get("xrpTransactions", `${ledgers}/hash/:blockHash/transactions`, {
    params: byHash,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(XrpTransaction),
    error: ofList
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "xrp-block-transactions")
    .annotate(ExampleValues, transactionExample)
    .annotate(OpenApi.Summary, "List the transactions of an XRP ledger"),
  HttpApiEndpoint.get("xrpTransactionsByHeight", `${ledgers}/height/:blockHeight/transactions`, {
    params: byHeight,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(XrpTransaction),
    error: ofList
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "xrp-block-transactions")
    .annotate(ExampleValues, transactionExample)
    .annotate(OpenApi.Summary, "List the transactions of an XRP ledger by its index")
] as const

export const xrpTransactionEndpoint = HttpApiEndpoint.get(
  "xrpTransaction",
  "/transactions/xrp/:network/:transactionHash",
  {
    params: { ...networkParam, transactionHash: HashParam.annotate({ description: "Hash of the transaction" }) },
    query: context,
    success: item(XrpTransactionDetails),
    error: ofLedger
  }
)
  .annotate(Price, "xrp-transaction")
  .annotate(Families, families)
  .annotate(ExampleValues, transactionExample)
  .annotate(OpenApi.Summary, "Read a transaction of a validated XRP ledger")

/** The size of a page of an account's transactions, where a request does not say. */
const ten = 10

export const xrpAddressEndpoint = HttpApiEndpoint.get(
  "xrpAddressTransactions",
  "/addresses-latest/xrp/:network/:address/transactions",
  {
    params: {
      ...networkParam,
      address: AddressText.annotate({ description: "Address, in any form that the blockchain knows" })
    },
    query: {
      ...context,
      ...cursorQueryOf(ten),
      transactionType: Schema.optionalKey(
        Schema.String.check(
          Schema.isPattern(/^[A-Za-z]{1,64}$/, { message: "must be a type of transactions, as payment" })
        ).annotate({
          description: "Type of the transactions that are wanted, in any letter case",
          examples: ["payment"]
        })
      )
    },
    success: answeredPage(XrpAddressTransaction),
    error: [...chainErrors, ...pageErrors, ...nodeErrors]
  }
)
  .annotate(Listing, "cursor")
  .annotate(DefaultLimit, ten)
  .annotate(Price, "xrp-address-transactions")
  .annotate(Families, families)
  .annotate(ExampleValues, { ...transactionExample, answeredFrom: "node" })
  .annotate(OpenApi.Summary, "List the validated transactions that an XRP account was part of")
