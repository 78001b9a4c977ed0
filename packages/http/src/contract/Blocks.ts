/** Blocks (interface sections 4.5 and 4.8; wider interface, *Blocks*). */

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
import { evmBlockEndpoints } from "./EvmBlocks.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { Listing, offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

const BlockHashText = Schema.String.annotate({
  examples: ["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]
})

export const UtxoBlock = Schema.Struct({
  bits: Schema.Int.annotate({ description: "The compact target", examples: [386_053_475] }),
  chainwork: Schema.String.annotate({
    examples: ["00000000000000000000000000000000000000009a1b7c3e5d2f4a6b8c0d1e2f"]
  }),
  difficulty: Schema.Int.annotate({ description: "Rounded down", examples: [101_646_843_652_785] }),
  merkleRoot: BlockHashText,
  size: Schema.Int.annotate({ description: "Bytes", examples: [1_612_345] }),
  version: Schema.Int.annotate({ examples: [536_870_912] }),
  hash: HashText,
  height: Schema.Int.annotate({ description: "Blocks before this one", examples: [870_000] }),
  previousBlockHash: BlockHashText.annotate({
    examples: ["00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054"]
  }),
  strippedSize: Schema.Int.annotate({ description: "Bytes without witness data", examples: [793_482] }),
  timestamp: Timestamp,
  transactionsCount: Schema.Int.annotate({ examples: [3_120] }),
  versionHex: Schema.String.annotate({ examples: ["20000000"] }),
  weight: Schema.Int.annotate({ examples: [3_992_791] })
}).annotate({ identifier: "UtxoBlock" })

export const XrpTransaction = Schema.Struct({
  additionalData: Schema.optionalKey(Schema.String.annotate({ examples: ["invoice 4711"] })),
  destinationTag: Schema.optionalKey(Schema.Int.annotate({ examples: [4711] })),
  hash: HashText,
  offer: Amount,
  positionInBlock: Schema.Int.annotate({ examples: [7] }),
  recipient: AddressText,
  sender: AddressText,
  status: Schema.String.annotate({ examples: ["tesSUCCESS"] }),
  timestamp: Timestamp,
  type: Schema.String.annotate({ examples: ["Payment"] }),
  fee: Amount,
  receive: Amount,
  value: Amount
}).annotate({ identifier: "XrpTransaction" })

const nodeErrors = [Failures.unimplemented, Failures.nodeUnavailable] as const

export class BlocksGroup extends HttpApiGroup.make("blocks")
  .add(
    ...evmBlockEndpoints,
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
      .annotate(ExampleValues, { hash: FamilyExample.values("xrp").transactionId, "fee.amount": "0.000012" })
      .annotateMerge(OpenApi.annotations({ summary: "List the transactions of an XRP ledger" }))
  )
  .middleware(RequestedChain)
  .annotateMerge(OpenApi.annotations({ title: "Blocks", description: "Blocks and their transactions" })) {}
