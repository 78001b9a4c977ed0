/** Signed and unsigned transactions in their wire format, decoded by rules alone (wider interface, *Utilities*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  body,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  HashText,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { IsLongAnswer, LargestBody } from "./MessageSize.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { signedExample, transactionBodyBytes, transactionHex } from "./TransactionHex.ts"

const Hex = Schema.String.annotate({ examples: ["0x"] })
const wei = Schema.String.annotate({ examples: ["31000000000"] })

export const DecodedEvmTransaction = Schema.Struct({
  id: HashText,
  gasLimit: Schema.Int.annotate({ description: "On tron: points of bandwidth", examples: [21_000] }),
  gasPaidForData: Schema.Int.annotate({ description: "Gas for the bytes of the input data (EIP-2028)", examples: [0] }),
  inputData: Hex.annotate({ description: "On tron: the call of a contract, else the memo" }),
  nonce: Schema.Int.annotate({ examples: [7] }),
  r: Hex.annotate({ description: "Empty where there is no signature, as `s`" }),
  recipient: AddressText.annotate({ description: "Empty where the transaction creates a contract" }),
  s: Hex,
  sender: AddressText.annotate({
    description: "By the signature; empty where there is none. On tron whom the transaction names"
  }),
  type: Schema.Int.annotate({
    description: "Of EIP-2718; 0 is a legacy transaction. On tron the number of the contract's type",
    examples: [2]
  }),
  v: Schema.String.annotate({
    description: "A decimal number: of a legacy transaction as signed, else the parity",
    examples: ["0"]
  }),
  fee: Schema.Struct({
    approximateAmount: Schema.String.annotate({
      description:
        "If all of the gas is taken, at the highest price that the transaction allows; on tron the most that it may burn " +
        "for energy",
      examples: ["0.000651"]
    }),
    approximateMinimumRequiredAmount: Schema.String.annotate({
      description:
        "For the gas that the transaction takes at the least; on tron 0: what an account has for free may do",
      examples: ["0.000651"]
    }),
    unit: UnitText,
    aproximateAmount: Schema.String.annotate({ description: "As `approximateAmount`", examples: ["0.000651"] })
  }),
  gasPrice: Amount.annotate({
    description: "The highest price of a unit of gas; on tron 0: the chain sets its prices"
  }),
  value: Amount,
  expirationTimestamp: Schema.optionalKey(Schema.Int).annotate({
    description: "On tron: when the transaction can no longer be sent, in seconds since the Unix epoch"
  }),
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      fee: Schema.optionalKey(Schema.Struct({ maxFeePerGas: wei, maxPrioriryFeePerGas: wei, unit: UnitText }))
    })
  )
}).annotate({ identifier: "DecodedEvmTransaction" })

/** Without signatures, which a transaction to decode may lack. */
const utxoExample =
  "02000000013ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a0000000000fdffffff01" +
  "40787d0100000000160014751e76e8199196d454941c45d1b3a323f1433bd600000000"

const script = Schema.Struct({
  asm: Schema.String.annotate({ examples: ["0 751e76e8199196d454941c45d1b3a323f1433bd6"] }),
  hex: Schema.String.annotate({ examples: ["0014751e76e8199196d454941c45d1b3a323f1433bd6"] }),
  type: Schema.String.annotate({ examples: ["witness_v0_keyhash"] })
})

const output = Schema.Struct({
  address: Schema.optionalKey(AddressText),
  script,
  value: Schema.optionalKey(Amount)
})

const count = (description: string) => Schema.Int.annotate({ description, examples: [0] })

export const DecodedUtxoTransaction = Schema.Struct({
  id: HashText,
  size: Schema.Int.annotate({ description: "Bytes", examples: [222] }),
  hash: HashText.annotate({ description: "Of all bytes, the witness too; on zcash the id" }),
  inputs: Schema.Array(
    Schema.Struct({
      address: Schema.optionalKey(AddressText).annotate({
        description: "Of the coin that is spent, where the input shows it"
      }),
      outputIndex: Schema.Int.annotate({ examples: [0] }),
      script,
      sequence: Schema.Int.annotate({ examples: [4_294_967_293] }),
      transactionId: HashText,
      witnesses: Schema.optionalKey(Schema.Array(Schema.String.annotate({ examples: ["3044022047ac"] })))
    })
  ),
  locktime: Schema.Int.annotate({ examples: [0] }),
  outputs: Schema.Array(output),
  version: Schema.Int.annotate({ examples: [2] }),
  vsize: Schema.Int.annotate({ description: "A quarter of the weight, rounded up", examples: [141] }),
  weight: Schema.Int.annotate({ description: "BIP-141; without the part in MWEB", examples: [561] }),
  shielded: Schema.optionalKey(
    Schema.Struct({
      joinSplits: count("Of Sprout"),
      spends: count("Of Sapling"),
      outputs: count("Of Sapling"),
      actions: count("Of Orchard and Ironwood")
    })
  ).annotate({
    description: "On zcash: how many shielded parts there are, whose amounts and addresses nobody can see"
  }),
  mweb: Schema.optionalKey(
    Schema.Struct({
      inputs: count("In MWEB"),
      outputs: count("In MWEB"),
      kernels: count("In MWEB"),
      pegOuts: Schema.Array(output).annotate({ description: "What comes out of MWEB" })
    })
  ).annotate({ description: "On litecoin: how much of it is in MWEB, whose amounts and addresses nobody can see" })
}).annotate({ identifier: "DecodedUtxoTransaction" })

const payload = body({
  rawTransactionHex: transactionHex.annotate({
    description: "The transaction in its wire format, in hexadecimal with or without `0x`",
    examples: [signedExample]
  })
})

export class RawTransactionsGroup extends HttpApiGroup.make("rawTransactions")
  .add(
    HttpApiEndpoint.post("evmDecode", "/evm/:blockchain/:network/decode-raw-transaction", {
      params: chainParams,
      query: context,
      payload,
      success: item(DecodedEvmTransaction),
      error: [...chainErrors, ...bodyErrors, Failures.unimplemented]
    })
      .annotate(Price, "address-form")
      .annotate(LargestBody, transactionBodyBytes)
      .annotate(IsLongAnswer, true)
      .annotate(Families, ["evm", "tron"])
      .annotate(ExampleValues, {
        ...{ expirationTimestamp: undefined, "value.amount": "0.25" },
        ...{ "gasPrice.unit": "Wei", "gasPrice.amount": "31000000000" },
        id: "0x966c511d897b463df3889002d62e41830ffe68add50fe898e511baaaba505723",
        sender: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        r: "0x1848058a9760ed57a536e7083a4b34c32a9073043b90fce77417ffee81c0b1be",
        s: "0x6a8f8957221496c422ce4b0f11bc7061fed44fea100ae9ebd37cd672760f4e3a",
        blockchainSpecific: {
          fee: { maxFeePerGas: "31000000000", maxPrioriryFeePerGas: "1000000000", unit: "Wei" }
        }
      })
      .annotate(OpenApi.Summary, "Decode a raw transaction of an EVM chain"),
    HttpApiEndpoint.post("utxoDecode", "/utxo/:blockchain/:network/decode-raw-transaction", {
      params: chainParams,
      query: context,
      payload,
      success: item(DecodedUtxoTransaction),
      error: [...chainErrors, ...bodyErrors, Failures.unimplemented]
    })
      .annotate(Price, "address-form")
      .annotate(LargestBody, transactionBodyBytes)
      .annotate(IsLongAnswer, true)
      .annotate(Families, ["utxo"])
      .annotate(ExampleValues, { ...FamilyExample.values("utxo"), rawTransactionHex: utxoExample })
      .annotate(OpenApi.Summary, "Decode a raw transaction of a UTXO chain")
  )
  .middleware(RequestedChain)
  .prefix("/utils")
  .annotateMerge(
    OpenApi.annotations({ title: "Raw transactions", description: "Transactions in their wire format, decoded" })
  ) {}
