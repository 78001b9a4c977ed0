/** Prices of transactions at the moment, and the gas that a transfer takes (wider interface, *Fees*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { body, bodyErrors, chainErrors, chainParams, context, DecimalText, networkParam, UnitText } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { Count } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { NewTransaction } from "./Transactions.ts"

const weiText = (example: string) => Schema.String.annotate({ examples: [example] })

const levels = <F extends Schema.Struct.Fields>(of: () => Schema.String, more: F) =>
  Schema.Struct({ fast: of(), slow: of(), standard: of(), unit: UnitText, ...more })

/** What one unit of a transaction's size or work costs, by how soon the transaction is wanted in a block. */
const prices = <F extends Schema.Struct.Fields>(more: F) =>
  levels(() => DecimalText.annotate({ examples: ["0.00001"] }), more)

export const MarketFees = Schema.Struct({
  lastBlock: Schema.Int.annotate({ description: "Height of the newest block", examples: [21_000_000] }),
  baseFeePerGas: Schema.Struct({ unit: UnitText, value: weiText("15000000000") }).annotate({
    description: "Of the next block"
  }),
  maxFeePerGas: levels(() => weiText("31000000000"), {}),
  maxPriorityFeePerGas: levels(() => weiText("1000000000"), {})
}).annotate({ identifier: "MarketFees" })

const GasLimit = Schema.Struct({
  gasLimit: Schema.Int.annotate({
    description:
      "Gas, with room for a contract to take more; on tron points of bandwidth of a plain transfer, energy of a call",
    examples: [21_000]
  })
}).annotate({ identifier: "GasLimit" })

const decimal = NewTransaction.amount
const { recipient } = NewTransaction
const sender = NewTransaction.sender.annotate({ description: "Address that pays the amount; nothing is signed" })

/** The names of standards as clients of the hosted service send them, in upper case. */
const contractTypes = /^ERC-?(20|721)$/i

const errors = [...chainErrors, Failures.unimplemented, Failures.nodeUnavailable] as const
const asked = { params: chainParams, query: context, error: errors } as const
/** Of a transfer that the node runs. */
const tried = { ...asked, error: [...errors, Failures.conflict, ...bodyErrors] } as const

export class FeesGroup extends HttpApiGroup.make("fees")
  .add(
    HttpApiEndpoint.get("marketFees", "/evm/:blockchain/:network/eip-1559", {
      ...asked,
      success: item(MarketFees)
    })
      .annotate(Families, ["evm", "tron"])
      .annotate(ExampleValues, { unit: "Wei" })
      .annotate(OpenApi.Summary, "Show the prices of gas by EIP-1559"),
    HttpApiEndpoint.get("gasPrices", "/evm/:blockchain/:network/mempool", {
      ...asked,
      success: item(
        prices({
          bandwidthPrice: Schema.optionalKey(weiText("1000")).annotate({
            description: "On tron: sun for a point of bandwidth; the others are sun for a unit of energy"
          })
        })
      )
    })
      .annotate(Families, ["evm", "tron"])
      .annotate(ExampleValues, {
        bandwidthPrice: undefined,
        slow: "14000000000",
        standard: "15000000000",
        fast: "18000000000",
        unit: "Wei"
      })
      .annotate(OpenApi.Summary, "Show whole prices of gas, as legacy transactions name them"),
    HttpApiEndpoint.post("nativeGas", "/evm/:blockchain/:network/estimate-native-coin-transfer-gas-limit", {
      ...tried,
      payload: body({
        additionalData: NewTransaction.additionalData,
        amount: decimal.annotate({ description: "Amount in whole coins", examples: ["0.25"] }),
        recipient,
        sender
      }),
      success: item(GasLimit)
    })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Estimate the gas that a transfer of native coins takes"),
    HttpApiEndpoint.post("tokenGas", "/evm/:blockchain/:network/estimate-token-transfer-gas-limit", {
      ...tried,
      payload: body({
        amount: decimal.annotate({
          description: "Amount in whole tokens; of ERC-721 the token's id",
          examples: ["2.5"]
        }),
        contract: recipient.annotate({
          description: "Address of the token's contract",
          examples: ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
        }),
        contractType: Schema.String.check(
          Schema.isPattern(contractTypes, { message: "must be ERC-20 or ERC-721" })
        ).annotate({ description: "Standard of the token: ERC-20 or ERC-721", examples: ["ERC-20"] }),
        recipient,
        sender
      }),
      success: item(GasLimit)
    })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Estimate the gas that a transfer of tokens takes"),
    HttpApiEndpoint.get("utxoFees", "/utxo/:blockchain/:network/mempool", {
      ...asked,
      success: item(prices({}))
    })
      .annotate(Families, ["utxo"])
      .annotate(ExampleValues, FamilyExample.values("utxo"))
      .annotate(OpenApi.Summary, "Show what transactions of a UTXO chain pay for a virtual byte"),
    HttpApiEndpoint.get("smartFee", "/utxo/:blockchain/:network/smart", {
      ...asked,
      query: {
        ...context,
        confirmationTarget: Schema.optionalKey(
          Count.check(
            Schema.isBetween({ minimum: 1, maximum: 1_008 }, { message: "must be between 1 and 1008" })
          ).annotate({
            description: "Blocks within which the transaction is to be mined; 6 if not given",
            examples: [6]
          })
        ),
        estimateMode: Schema.optionalKey(
          Schema.String.check(
            Schema.isPattern(/^(economical|conservative)$/i, { message: "must be economical or conservative" })
          ).annotate({ description: "`conservative` if not given", examples: ["economical"] })
        )
      },
      success: item(
        Schema.Struct({
          confirmationTarget: Schema.Int.annotate({ description: "Blocks that the estimate is for", examples: [6] }),
          feeRate: DecimalText.annotate({ description: "Coins for 1,000 virtual bytes", examples: ["0.00012345"] }),
          unit: UnitText
        })
      )
    })
      .annotate(Families, ["utxo"])
      .annotate(ExampleValues, FamilyExample.values("utxo"))
      .annotate(OpenApi.Summary, "Show a node's own estimate of a fee (estimatesmartfee)"),
    HttpApiEndpoint.get("ledgerFees", "/xrp/:network/mempool", {
      ...asked,
      params: networkParam,
      success: item(
        prices({
          feeCushionMultiplier: Schema.String.annotate({
            description: "By which `fast` is above `standard`, for an open ledger that fills up meanwhile",
            examples: ["1.2"]
          })
        })
      )
    })
      .annotate(Families, ["xrp"])
      .annotate(ExampleValues, { unit: "XRP" })
      .annotate(OpenApi.Summary, "Show the fees of transactions on the XRP Ledger")
  )
  .middleware(RequestedChain)
  .annotateEndpoints(Price, "fees")
  .prefix("/blockchain-fees")
  .annotateMerge(
    OpenApi.annotations({ title: "Fees", description: "Prices of transactions, and the gas they take" })
  ) {}
