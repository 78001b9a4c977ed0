/** Blocks and transactions of UTXO chains, and their endpoints (interface section 4.8; wider interface, *Blocks*, *Transactions*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  chainErrors,
  chainParams,
  context,
  HashParam,
  HashText,
  MinedInBlock,
  nodeErrors,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { countQuery, HeightText, Listing, offsetPage, offsetQuery, wholeList } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"

const BlockHashText = Schema.String.annotate({
  examples: ["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]
})

const blockFields = {
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
}

export const UtxoBlock = Schema.Struct(blockFields).annotate({ identifier: "UtxoBlock" })

/** One of the newest blocks; nothing follows the very newest. */
export const NewestUtxoBlock = Schema.Struct({
  ...blockFields,
  nextBlockHash: Schema.optionalKey(HashText).annotate({ description: "Absent in the newest block" })
}).annotate({ identifier: "NewestUtxoBlock" })

/** A block by its hash or height, with the next one, and with a field of clients that know the root by another name. */
export const UtxoBlockDetails = Schema.Struct({
  ...blockFields,
  merkleroot: BlockHashText.annotate({ description: "As `merkleRoot`" }),
  nextBlockHash: HashText.annotate({ description: "Empty in the newest block" })
}).annotate({ identifier: "UtxoBlockDetails" })

const script = Schema.Struct({
  type: Schema.String.annotate({ examples: ["witness_v0_keyhash"] })
})

const moved = Schema.Array(
  Schema.Struct({
    address: AddressText,
    addresses: AddressText.annotate({ description: "As `address`" }),
    value: Amount
  })
)

const outputIndex = Schema.Int.annotate({
  description: "Of the coin that is spent; 4294967295 for a coinbase",
  examples: [1]
})

/** A transaction in a block, or one that waits for a block. */
export const UtxoTransaction = Schema.Struct({
  id: HashText,
  transactionID: HashText.annotate({ description: "As `id`" }),
  hash: HashText.annotate({ description: "Of all bytes, the witness too; on zcash the id" }),
  isConfirmed: Schema.Boolean.annotate({ examples: [true] }),
  locktime: Schema.Int.annotate({ examples: [0] }),
  size: Schema.Int.annotate({ description: "Bytes", examples: [222] }),
  version: Schema.Int.annotate({ examples: [2] }),
  fee: Amount,
  inputs: Schema.Array(
    Schema.Struct({
      addresses: Schema.optionalKey(Schema.Array(AddressText)).annotate({
        description: "Of the coin that is spent, where its script has an address"
      }),
      coinbase: Schema.optionalKey(Schema.String).annotate({
        description: "The script of a coinbase, which spends nothing",
        examples: ["03c6450d"]
      }),
      outputIndex,
      oututIndex: outputIndex.annotate({ description: "As `outputIndex`", examples: [1] }),
      script,
      transactionId: HashText,
      value: Schema.optionalKey(Amount),
      witnesses: Schema.Array(Schema.String.annotate({ examples: ["3044022047ac"] }))
    })
  ),
  outputs: Schema.Array(
    Schema.Struct({
      addresses: Schema.optionalKey(Schema.Array(AddressText)),
      isSpent: Schema.Boolean.annotate({
        description: "By a transaction in a block or one that waits; one that nobody can spend is not",
        examples: [false]
      }),
      script,
      value: Amount
    })
  ),
  positionInBlock: Schema.Int.annotate({ description: "-1 for one that waits", examples: [7] }),
  recipients: moved.annotate({ description: "Each address that is paid, with all that it gets" }),
  senders: moved.annotate({ description: "Each address whose coins are spent, with all of them" }),
  timestamp: Timestamp.annotate({ description: "Of the block, or when the node saw one that waits" }),
  minedInBlock: MinedInBlock.annotate({ description: "Without a hash and at height -1 for one that waits" }),
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      expiryHeight: Schema.Int.annotate({ examples: [2_800_040] }),
      overwintered: Schema.Boolean.annotate({ examples: [true] }),
      valueBalance: Amount.annotate({ description: "What Sapling reveals, or hides where it is negative" }),
      versionGroupId: Schema.String.annotate({ examples: ["892f2085"] })
    })
  ).annotate({ description: "On zcash" })
}).annotate({ identifier: "UtxoTransaction" })

const ofBlock = [...chainErrors, Failures.blockNotFound, ...nodeErrors] as const
const ofTransaction = [...chainErrors, Failures.transactionNotFound, ...nodeErrors] as const
const blocks = "/blocks/utxo/:blockchain/:network"
const transactions = "/transactions/utxo/:blockchain/:network"
const families = ["utxo"] as const
const byHash = { ...chainParams, blockHash: HashParam.annotate({ description: "Hash of the block" }) }
const byHeight = { ...chainParams, blockHeight: HeightText }
const byId = { ...chainParams, transactionHash: HashParam.annotate({ description: "Id of the transaction" }) }
const example = { coinbase: undefined, blockchainSpecific: undefined, "fee.amount": "0.00000282" }

export const utxoBlockEndpoints = [
  HttpApiEndpoint.get("utxoByHash", `${blocks}/hash/:blockHash/details`, {
    params: byHash,
    query: context,
    success: item(UtxoBlockDetails),
    error: ofBlock
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-last-block")
    .annotate(OpenApi.Summary, "Read a block of a UTXO chain by its hash"),
  HttpApiEndpoint.get("utxoByHeight", `${blocks}/height/:blockHeight/details`, {
    params: byHeight,
    query: context,
    success: item(UtxoBlockDetails),
    error: ofBlock
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-last-block")
    .annotate(OpenApi.Summary, "Read a block of a UTXO chain by its height"),
  HttpApiEndpoint.get("utxoLatest", `${blocks}/latest/details`, {
    params: chainParams,
    query: context,
    success: item(UtxoBlock),
    error: [...chainErrors, ...nodeErrors]
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-last-block")
    .annotate(OpenApi.Summary, "Read the last mined block of a UTXO chain"),
  HttpApiEndpoint.get("utxoNewest", `${blocks}/latest`, {
    params: chainParams,
    query: { ...context, ...countQuery },
    success: wholeList(NewestUtxoBlock),
    error: [...chainErrors, ...nodeErrors]
  })
    .annotate(Families, families)
    .annotate(Listing, "whole")
    .annotate(Price, "utxo-last-block")
    .annotate(OpenApi.Summary, "List the last mined blocks of a UTXO chain, newest first"),
  HttpApiEndpoint.get("utxoTransactionsByHash", `${blocks}/hash/:blockHash/transactions`, {
    params: byHash,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(UtxoTransaction),
    error: [...ofBlock, ...pageErrors, Failures.conflict]
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "utxo-last-block")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "List the transactions of a block of a UTXO chain, by its hash"),
  HttpApiEndpoint.get("utxoTransactionsByHeight", `${blocks}/height/:blockHeight/transactions`, {
    params: byHeight,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(UtxoTransaction),
    error: [...ofBlock, ...pageErrors, Failures.conflict]
  })
    .annotate(Families, families)
    .annotate(Listing, "offset")
    .annotate(Price, "utxo-last-block")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "List the transactions of a block of a UTXO chain, by its height")
] as const

export const utxoTransactionEndpoints = [
  HttpApiEndpoint.get("utxoTransaction", `${transactions}/:transactionHash`, {
    params: byId,
    query: context,
    success: item(UtxoTransaction),
    error: [...ofTransaction, Failures.conflict]
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-transaction")
    .annotate(ExampleValues, example)
    .annotate(OpenApi.Summary, "Read a transaction of a UTXO chain"),
  HttpApiEndpoint.get("utxoRaw", `${transactions}/:transactionHash/raw-data`, {
    params: byId,
    query: context,
    success: item(
      Schema.Struct({
        transactionHex: Schema.String.annotate({ description: "As it stands in its block", examples: ["0200000001"] })
      })
    ),
    error: ofTransaction
  })
    .annotate(Families, families)
    .annotate(Price, "utxo-transaction")
    .annotate(OpenApi.Summary, "Read the bytes of a transaction of a UTXO chain")
] as const
