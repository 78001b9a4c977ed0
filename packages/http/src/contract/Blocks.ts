/** Blocks (interface sections 4.5 and 4.8). */

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
  HashText,
  networkParam,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { Listing, offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

export const UtxoBlock = Schema.Struct({
  bits: Schema.Int.annotate({ description: "The compact target" }),
  chainwork: HashText,
  difficulty: Schema.Int.annotate({ description: "Rounded down" }),
  merkleRoot: HashText,
  size: Schema.Int.annotate({ description: "Bytes" }),
  version: Schema.Int,
  hash: HashText,
  height: Schema.Int.annotate({ description: "Blocks before this one" }),
  previousBlockHash: HashText,
  strippedSize: Schema.Int.annotate({ description: "Bytes without witness data" }),
  timestamp: Timestamp,
  transactionsCount: Schema.Int,
  versionHex: Schema.String,
  weight: Schema.Int
}).annotate({ identifier: "UtxoBlock" })

export const XrpTransaction = Schema.Struct({
  additionalData: Schema.optionalKey(Schema.String),
  destinationTag: Schema.optionalKey(Schema.Int),
  hash: HashText,
  offer: Amount,
  positionInBlock: Schema.Int,
  recipient: AddressText,
  sender: AddressText,
  status: Schema.String,
  timestamp: Timestamp,
  type: Schema.String,
  fee: Amount,
  receive: Amount,
  value: Amount
}).annotate({ identifier: "XrpTransaction" })

const nodeErrors = [Failures.unimplemented, Failures.nodeUnavailable] as const

export class BlocksGroup extends HttpApiGroup.make("blocks")
  .add(
    HttpApiEndpoint.get("utxoLatest", "/blocks/utxo/:blockchain/:network/latest/details", {
      params: chainParams,
      query: context,
      success: item(UtxoBlock),
      error: [...chainErrors, ...nodeErrors]
    })
      .annotate(Families, ["utxo"])
      .annotate(Price, "utxo-last-block")
      .annotateMerge(OpenApi.annotations({ summary: "Read the last mined block of a UTXO chain" })),
    HttpApiEndpoint.get("xrpTransactions", "/blocks/xrp/:network/hash/:blockHash/transactions", {
      params: {
        ...networkParam,
        blockHash: Schema.String.check(
          Schema.isPattern(/^[0-9A-Fa-f]{64}$/, { message: "must be 64 hexadecimal characters" })
        ).annotate({ description: "Hash of the ledger" })
      },
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(XrpTransaction),
      error: [...chainErrors, ...pageErrors, Failures.blockNotFound, ...nodeErrors]
    })
      .annotate(Families, ["xrp"])
      .annotate(Listing, "offset")
      .annotate(Price, "xrp-block-transactions")
      .annotateMerge(OpenApi.annotations({ summary: "List the transactions of an XRP ledger" }))
  )
  .middleware(RequestedChain)
  .annotateMerge(OpenApi.annotations({ title: "Blocks", description: "Blocks and their transactions" })) {}
