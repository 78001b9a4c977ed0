/** Blocks and transactions of EVM chains, and the endpoints for blocks (wider interface, *Blocks*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AnyInteger } from "./AnyInteger.ts"
import {
  AddressText,
  Amount,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  HashText,
  MinedInBlock,
  nodeErrors,
  PrefixedHashParam,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { countQuery, HeightText, Listing, offsetPage, offsetQuery, wholeList } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"

export const EvmBlock = Schema.Struct({
  extraData: Schema.String.annotate({ examples: ["0x546974616e"] }),
  gasLimit: Schema.Int.annotate({ description: "On tron 0: a block has no limit", examples: [36_000_000] }),
  gasUsed: Schema.Int.annotate({ description: "On tron energy", examples: [17_412_904] }),
  hash: HashText,
  height: Schema.Int.annotate({ description: "Blocks before this one", examples: [21_000_000] }),
  minedInSeconds: Schema.Int.annotate({ description: "Since the block before; 0 in the first block", examples: [12] }),
  nextBlockHash: Schema.optionalKey(HashText).annotate({
    description: "Empty in the newest block; absent where the newest blocks are asked for"
  }),
  nonce: AnyInteger.annotate({ description: "A whole number, which may be above 2^53; 0 where the chain has none" }),
  previousBlockHash: HashText.annotate({
    examples: ["0x96cfa0fb5e50b0a3f6cc76f3299cfbf48f17e8b41798d1394474e67ec8a97e9f"]
  }),
  size: Schema.Int.annotate({ description: "Bytes", examples: [92_341] }),
  timestamp: Timestamp,
  totalDifficulty: AnyInteger.annotate({
    description: "A whole number, which may be above 2^53; 0 where the node keeps none"
  }),
  transactionsCount: Schema.Int.annotate({ examples: [182] }),
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      bandwidthUsed: Schema.Int.annotate({
        description: "Points of bandwidth from stakes and the free allowance; those that were paid for are in the fees"
      }),
      energyUsed: Schema.Int.annotate({ description: "All energy that calls of contracts took" }),
      burnedTRX: Schema.optionalKey(DecimalText).annotate({
        description: "What the transactions paid as fees, in TRX; absent where the newest blocks are listed"
      })
    })
  ).annotate({ description: "On tron" })
}).annotate({ identifier: "EvmBlock" })

const bandwidth = Schema.Int.annotate({
  description: "On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee`"
})

const energy = Schema.Int.annotate({ description: "On tron: all energy that the call of a contract took" })
const energyUsed = Schema.String.annotate({ description: "As `energy`, as text" })

/** What Tron has beside gas, by each of the names that clients know. */
export const resourceFields = { bandwidth, bandwidthUsed: bandwidth, energy, energyUsed }

const transactionFields = {
  contract: AddressText.annotate({
    description: "The contract that is created, or called as far as there is one at present; else empty"
  }),
  fee: Amount.annotate({
    description: "All that the transaction has cost: gas, blobs (EIP-4844), and what rollups pay to the chain below"
  }),
  gasLimit: Schema.Int.annotate({
    description: "On tron the most that a call may burn for energy (`fee_limit`), in sun; 0 of what is no call",
    examples: [65_000]
  }),
  gasUsed: Schema.Int.annotate({ description: "On tron energy", examples: [51_000] }),
  hash: HashText,
  inputData: Schema.String.annotate({ examples: ["0x"] }),
  positionInBlock: Schema.Int.annotate({ examples: [7] }),
  recipient: AddressText.annotate({ description: "Or the contract that is created" }),
  sender: AddressText,
  status: Schema.Literals(["success", "failed"]),
  timestamp: Timestamp,
  gasPrice: Amount.annotate({
    description: "What a unit of gas has cost; on tron a unit of energy, and 0 where stakes gave all of it"
  }),
  minedInBlock: MinedInBlock,
  nonce: Schema.Int.annotate({ description: "On tron 0: there is none", examples: [7] }),
  value: Amount,
  blockchainSpecific: Schema.optionalKey(Schema.Struct(resourceFields)).annotate({ description: "On tron" })
}

export const EvmTransaction = Schema.Struct(transactionFields).annotate({ identifier: "EvmTransaction" })

/** As {@link EvmTransaction}, with the function that is called, of which clients of lists know nothing. */
export const SingleEvmTransaction = Schema.Struct({
  ...transactionFields,
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      signatureData: Schema.optionalKey(
        Schema.Struct({
          signature: Schema.optionalKey(Schema.String).annotate({
            description: "The first four bytes of the call of a contract",
            examples: ["0xa9059cbb"]
          })
        })
      ),
      bandwidth: Schema.optionalKey(bandwidth),
      bandwidthUsed: Schema.optionalKey(bandwidth),
      energy: Schema.optionalKey(energy),
      energyUsed: Schema.optionalKey(energyUsed)
    })
  )
}).annotate({ identifier: "SingleEvmTransaction" })

/** As {@link EvmTransaction}, with a field of clients that know the time by this name. */
export const EvmTransactionAtHeight = Schema.Struct({
  ...transactionFields,
  timestapm: Timestamp.annotate({ description: "As `timestamp`" })
}).annotate({ identifier: "EvmTransactionAtHeight" })

const blocks = "/blocks/evm/:blockchain/:network"
const errors = [...chainErrors, Failures.blockNotFound, ...nodeErrors] as const
const families = ["evm", "tron"] as const
/** A block of Ethereum, as the others of this page. */
const blockValues = { nonce: 0, totalDifficulty: 17_179_869_184, blockchainSpecific: undefined }
/** Amounts of the fields for fees, as those of coins are. */
const feeValues = { "fee.amount": "0.00063", "gasPrice.amount": "0.0000000125" }
/** Nothing that Tron has alone. */
export const listedValues = { ...feeValues, blockchainSpecific: undefined }
export const singleValues = {
  ...feeValues,
  ...{ bandwidth: undefined, bandwidthUsed: undefined, energy: undefined, energyUsed: undefined }
}

const byHash = {
  ...chainParams,
  blockHash: PrefixedHashParam.annotate({ description: "Hash of the block" })
}
const byHeight = { ...chainParams, blockHeight: HeightText }

export const evmBlockEndpoints = [
  HttpApiEndpoint.get("evmByHash", `${blocks}/hash/:blockHash/details`, {
    params: byHash,
    query: context,
    success: item(EvmBlock),
    error: errors
  })
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, blockValues)
    .annotate(OpenApi.Summary, "Read a block of an EVM chain by its hash"),
  HttpApiEndpoint.get("evmByHeight", `${blocks}/height/:blockHeight/details`, {
    params: byHeight,
    query: context,
    success: item(EvmBlock),
    error: errors
  })
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, blockValues)
    .annotate(OpenApi.Summary, "Read a block of an EVM chain by its height"),
  HttpApiEndpoint.get("evmLatest", `${blocks}/latest/details`, {
    params: chainParams,
    query: context,
    success: item(EvmBlock),
    error: errors
  })
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, { ...blockValues, nextBlockHash: undefined })
    .annotate(OpenApi.Summary, "Read the last mined block of an EVM chain"),
  HttpApiEndpoint.get("evmNewest", `${blocks}/latest`, {
    params: chainParams,
    query: { ...context, ...countQuery },
    success: wholeList(EvmBlock),
    error: [...chainErrors, ...nodeErrors]
  })
    .annotate(Listing, "whole")
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, { ...blockValues, nextBlockHash: undefined })
    .annotate(OpenApi.Summary, "List the last mined blocks of an EVM chain, newest first"),
  HttpApiEndpoint.get("evmTransactionsByHash", `${blocks}/hash/:blockHash/transactions`, {
    params: byHash,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(EvmTransaction),
    error: [...errors, ...pageErrors]
  })
    .annotate(Listing, "offset")
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, listedValues)
    .annotate(OpenApi.Summary, "List the transactions of a block of an EVM chain, by its hash"),
  HttpApiEndpoint.get("evmTransactionsByHeight", `${blocks}/height/:blockHeight/transactions`, {
    params: byHeight,
    query: { ...context, ...offsetQuery(50) },
    success: offsetPage(EvmTransactionAtHeight),
    error: [...errors, ...pageErrors]
  })
    .annotate(Listing, "offset")
    .annotate(Price, "evm-block")
    .annotate(Families, families)
    .annotate(ExampleValues, listedValues)
    .annotate(OpenApi.Summary, "List the transactions of a block of an EVM chain, by its height")
] as const
