/** Preparation of transfers of tokens (wider interface, *Prepare*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AddressText, body, bodyErrors, chainErrors, chainParams, context } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { NewTransaction, PreparedTransaction, priority } from "./Transactions.ts"

const {
  expirationTimestamp,
  fee: preparedFee,
  gasLimit,
  inputData,
  nonce,
  reservedUntil,
  sender,
  sighash,
  type
} = PreparedTransaction.fields

export const PreparedTokenTransfer = Schema.Struct({
  inputData: inputData.annotate({
    description: "The call of the token's contract; on tron the `raw_data` of the transaction"
  }),
  nonce,
  recipient: AddressText.annotate({ description: "The token's contract, which the transaction calls" }),
  sender,
  sigHash: sighash,
  value: Schema.Struct({
    amount: Schema.String.annotate({ description: "Coins that the transaction moves: none", examples: ["0"] })
  }),
  fee: preparedFee,
  gasLimit,
  type,
  expirationTimestamp,
  reservedUntil
}).annotate({ identifier: "PreparedTokenTransfer" })

const { amount, recipient } = NewTransaction

const transfer = {
  contract: recipient.annotate({
    description: "Address of the token's contract",
    examples: ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
  }),
  nonce: NewTransaction.nonce,
  recipient,
  reserve: NewTransaction.reserve,
  sender: NewTransaction.sender,
  fee: Schema.Struct({
    exactAmount: Schema.optionalKey(
      amount.annotate({
        description:
          "The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`). On tron refused",
        examples: ["900000000000000"]
      })
    ),
    priority
  }).annotate({ description: "What the sender offers for the transaction, in the chain's coins" }),
  type: NewTransaction.type
}

const answers = {
  params: chainParams,
  query: context,
  success: item(PreparedTokenTransfer).pipe(HttpApiSchema.status(201)),
  error: [...chainErrors, Failures.conflict, ...bodyErrors, Failures.unimplemented, Failures.nodeUnavailable]
} as const

const examples = {
  ...{
    "fee.unit": "Wei",
    total: undefined,
    reservedUntil: undefined,
    expirationTimestamp: undefined,
    exactAmount: undefined,
    priority: "standard"
  },
  type: "gas-fee-market-transaction"
}

export class TokenPreparationGroup extends HttpApiGroup.make("tokenPreparation")
  .add(
    HttpApiEndpoint.post("prepareFungible", "/evm/:blockchain/:network/fungible-tokens", {
      ...answers,
      payload: body({
        amount: amount.annotate({
          description: "Amount in whole tokens, by the contract's decimals",
          examples: ["2.5"]
        }),
        ...transfer
      })
    })
      .annotate(Price, "prepare")
      .annotate(ExampleValues, examples)
      .annotate(OpenApi.Summary, "Prepare a transfer of fungible tokens (ERC-20) for signing"),
    HttpApiEndpoint.post("prepareNonFungible", "/evm/:blockchain/:network/non-fungible-tokens", {
      ...answers,
      payload: body({
        ...transfer,
        tokenId: Schema.String.check(Schema.isPattern(/^\d{1,78}$/, { message: "must be a whole number" })).annotate({
          description: "Id of the token that is moved, in decimal digits",
          examples: ["4711"]
        })
      })
    })
      .annotate(Price, "prepare")
      .annotate(ExampleValues, examples)
      .annotate(OpenApi.Summary, "Prepare a transfer of a non-fungible token (ERC-721) for signing")
  )
  .middleware(RequestedChain)
  .annotateEndpoints(Families, ["evm", "tron"])
  .prefix("/prepare-transactions")
  .annotateMerge(
    OpenApi.annotations({ title: "Transfers of tokens", description: "Transfers of tokens, prepared for signing" })
  ) {}
