/** Transactions run on top of a recent block without being sent (wider interface, *Simulate*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
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
  MinedInBlock,
  Timestamp,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { LargestBody } from "./MessageSize.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { hexBodyBytes } from "./TransactionHex.ts"
import { NewTransaction, TokenMove } from "./Transactions.ts"

/** Bytes; nodes pass on no larger transaction. */
const maxData = 131_072

/** Of a transaction to oneself since Ethereum's Glamsterdam (EIP-2780). Where nothing takes less than 21,000, a node says so. */
const leastGas = 12_000

const wei = Schema.String.check(Schema.isPattern(/^\d{1,78}$/, { message: "must be a whole number of Wei" }))
const price = (description: string) =>
  Schema.optionalKey(
    wei.annotate({ description: `${description}, in Wei for a unit of gas`, examples: ["31000000000"] })
  )

const shownPrice = Schema.Struct({
  amount: Schema.optionalKey(Schema.String.annotate({ examples: ["31000000000"] })),
  unit: UnitText
})

export const SimulatedTransaction = Schema.Struct({
  contract: Schema.optionalKey(AddressText).annotate({ description: "The recipient, where it is a contract" }),
  gasLimit: Schema.Int.annotate({ examples: [65_000] }),
  gasUsed: Schema.optionalKey(
    Schema.Int.annotate({
      description: "Absent where the node does not trace a transaction that fails",
      examples: [51_000]
    })
  ),
  hash: HashText.annotate({ description: "What would be signed" }),
  inputData: Schema.optionalKey(Schema.String.annotate({ examples: ["0x"] })),
  internalTransactions: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        depth: Schema.Int.annotate({ description: "1 for a call of the transaction's own", examples: [1] }),
        operationType: Schema.String.annotate({ examples: ["call"] }),
        recipient: AddressText,
        sender: AddressText,
        value: Amount
      })
    )
  ).annotate({ description: "Absent where the node traces nothing, as `tokenTransfers`" }),
  nonce: Schema.Int.annotate({ examples: [7] }),
  positionInBlock: Schema.Int.annotate({ examples: [0] }),
  status: Schema.Literals(["success", "failed"]),
  timestamp: Timestamp.annotate({ description: "Of the block on top of which the transaction was run" }),
  tokenTransfers: Schema.optionalKey(Schema.Array(TokenMove)),
  fee: Amount.annotate({ description: "For the gas that is used, at the highest price that is allowed" }),
  gasPrice: Schema.Struct({ amount: Schema.Int.annotate({ examples: [31_000_000_000] }), unit: UnitText }),
  maxFeePerGas: Schema.optionalKey(shownPrice),
  maxPriorityFeePerGas: Schema.optionalKey(shownPrice),
  minedInBlock: MinedInBlock.annotate({ description: "The block on top of which the transaction was run" }),
  value: Amount
}).annotate({ identifier: "SimulatedTransaction" })

export class SimulationGroup extends HttpApiGroup.make("simulation")
  .add(
    HttpApiEndpoint.post("simulate", "/evm/:blockchain/:network", {
      params: chainParams,
      query: context,
      payload: body({
        amount: NewTransaction.amount.annotate({ description: "Amount in whole coins", examples: ["0.25"] }),
        gasLimit: Schema.Int.check(
          Schema.isBetween({ minimum: leastGas, maximum: 2 ** 40 }, { message: `must be ${leastGas} or more` })
        ).annotate({ description: "Gas that the transaction may use at most", examples: [65_000] }),
        gasPrice: price("Price of a legacy transaction"),
        inputData: Schema.optionalKey(
          Schema.String.check(
            Schema.isPattern(/^0x([0-9A-Fa-f]{2})*$/, {
              message: "must be 0x and an even number of hexadecimal characters"
            }),
            Schema.isMaxLength(2 * maxData + 2, { message: `must be at most ${maxData} bytes` })
          ).annotate({ description: "Data of the transaction: the call of a contract", examples: ["0x"] })
        ),
        maxFeePerGas: price("Highest price, base fee included"),
        maxPriorityFeePerGas: price("Highest price beside the base fee"),
        recipient: NewTransaction.recipient,
        sender: NewTransaction.sender.annotate({ description: "Address that pays amount and fee; nothing is signed" })
      }),
      success: item(SimulatedTransaction).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, ...bodyErrors, Failures.unimplemented, Failures.nodeUnavailable]
    })
      .annotate(Price, "simulate")
      .annotate(LargestBody, hexBodyBytes(maxData))
      .annotate(Families, ["evm", "tron"])
      .annotate(ExampleValues, {
        ...{ "gasPrice.unit": "Wei", maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
      })
      .annotate(OpenApi.Summary, "Run a transaction on top of the newest block without sending it")
  )
  .middleware(RequestedChain)
  .prefix("/simulate-transactions")
  .annotateMerge(
    OpenApi.annotations({ title: "Simulation", description: "What a transaction would do that nobody has sent" })
  ) {}
