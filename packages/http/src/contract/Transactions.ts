/** Transactions (wider interface, *Transactions*), their logs, and preparation (interface sections 4.12 and 4.15). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { InternalTransaction, TokenTransfer } from "./Addresses.ts"
import {
  AddressText,
  Amount,
  body,
  bodyErrors,
  CarriedText,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  HashText,
  nodeErrors,
  PrefixedHashParam,
  pageErrors,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { SingleEvmTransaction, singleValues } from "./EvmBlocks.ts"
import { ExampleValues } from "./internal/Example.ts"
import { Listing, offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { utxoTransactionEndpoints } from "./UtxoBlocks.ts"
import { xrpTransactionEndpoint } from "./XrpLedgers.ts"

export const Log = Schema.Struct({
  address: AddressText,
  data: Schema.String.annotate({ examples: ["0x000000000000000000000000000000000000000000000000000000000ee6b280"] }),
  isRemoved: Schema.Boolean.annotate({ examples: [false] }),
  name: Schema.optionalKey(Schema.String.annotate({ examples: ["Transfer(address,address,uint256)"] })),
  topics: Schema.Array(
    Schema.String.annotate({ examples: ["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"] })
  )
}).annotate({ identifier: "Log" })

export const PreparedTransaction = Schema.Struct({
  inputData: Schema.String.annotate({ examples: ["0x"] }),
  nonce: Schema.Int.annotate({ examples: [7] }),
  recipient: AddressText,
  sender: AddressText,
  sighash: HashText.annotate({ description: "The hash to sign" }),
  value: Amount,
  fee: Schema.Struct({
    gasPrice: Schema.Int.annotate({ description: "Wei; 0 for a gas-fee-market-transaction", examples: [0] }),
    maxFeePerGas: Schema.Int.annotate({ examples: [31_000_000_000] }),
    maxPriorityFeePerGas: Schema.Int.annotate({ examples: [1_000_000_000] }),
    unit: UnitText,
    total: Schema.optionalKey(Schema.Int).annotate({
      description: "On tron: all that the transfer burns, for bandwidth, the activation of the recipient and the memo"
    })
  }),
  gasLimit: Schema.Int.annotate({ description: "On tron: points of bandwidth", examples: [21_000] }),
  type: Schema.String.annotate({ examples: ["gas-fee-market-transaction"] }),
  reservedUntil: Schema.optionalKey(Schema.Int).annotate({
    description: "Where `reserve` was given: until then, in seconds since the Unix epoch, the nonce is kept"
  }),
  expirationTimestamp: Schema.optionalKey(Schema.Int).annotate({
    description: "On tron: when the transaction can no longer be sent, in seconds since the Unix epoch"
  })
}).annotate({ identifier: "PreparedTransaction" })

const decimal = Schema.String.check(
  Schema.isPattern(/^\d{1,78}(\.\d{1,36})?$/, { message: "must be a decimal number without sign and exponent" })
)

/** How soon a prepared transaction is to be mined. */
export const priority = Schema.Literals(["slow", "standard", "fast"]).annotate({
  description: "How soon the transaction is to be mined, by what others pay at present; the same fee for all on tron"
})

const substractFromAmount = Schema.optionalKey(Schema.Boolean).annotate({
  description: "Whether the fee is taken out of `amount`, so that the sender pays no more than that; false if not given"
})

export const NewTransaction = {
  additionalData: Schema.optionalKey(
    CarriedText.check(Schema.isMaxLength(2048, { message: "must be at most 2048 characters" })).annotate({
      description:
        "Text that the transaction carries as its data, in UTF-8, for everybody to read. Hexadecimal digits are text too: " +
        "no contract is called by them. On tron at most 512 bytes",
      examples: ["invoice 4711"]
    })
  ),
  amount: decimal.annotate({ description: "Amount in whole coins", examples: ["0.25"] }),
  nonce: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^\d{1,15}$/, { message: "must be a whole number" })).annotate({
      description:
        "The sender's next one if not given, behind the transactions of the sender that wait for a block; that of one of these " +
        "prepares what takes its place. Tron has no nonces",
      examples: ["7"]
    })
  ),
  recipient: Schema.String.check(Schema.isBetweenLength(1, 200)).annotate({
    description: "Address that is paid, in any form that the blockchain knows"
  }),
  reserve: Schema.optionalKey(Schema.Boolean).annotate({
    description:
      "Keeps the nonce for this transaction for a while (`reservationSeconds`), with what it may cost and the tokens that it moves: " +
      "none that is prepared with `reserve` meanwhile gets the nonce, and those with other nonces have that much less to spend. " +
      "One that the request names is kept where it is kept already, for this transaction in place of the other. Without `reserve` " +
      "the nonce is the next one of the chain, however often one is prepared. Tron has no nonces",
    examples: [false]
  }),
  sender: Schema.String.check(Schema.isBetweenLength(1, 200)).annotate({
    description: "Address that pays amount and fee, and whose key is to sign"
  }),
  fee: Schema.optionalKey(
    Schema.Struct({
      exactAmount: Schema.optionalKey(decimal).annotate({
        description:
          "The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`). On tron refused"
      }),
      priority,
      substractFromAmount: substractFromAmount.annotate({
        description: "The same as `substractFromAmount` beside `fee`, which is read first"
      })
    })
  ).annotate({ description: "What the sender offers for the transaction. Required except on tron" }),
  substractFromAmount,
  type: Schema.optionalKey(
    Schema.Literals(["legacy-transaction", "access-list-transaction", "gas-fee-market-transaction"])
  ).annotate({
    description:
      "By default gas-fee-market-transaction where the chain has EIP-1559, else legacy-transaction; on tron refused"
  })
}

const families = ["evm", "tron"] as const
const byHash = {
  ...chainParams,
  transactionHash: PrefixedHashParam.annotate({ description: "Hash of the transaction" })
}
const ofTransaction = [...chainErrors, Failures.transactionNotFound, ...nodeErrors] as const

const { operationId, operationType, recipient, sender, timestamp, value } = InternalTransaction.fields
export const InternalTransfer = Schema.Struct({
  ...{ operationId, operationType, recipient, sender, timestamp, value }
}).annotate({ identifier: "InternalTransfer" })

export const TokenMove = Schema.Struct({
  recipient,
  sender,
  tokenData: Schema.Struct({
    ...TokenTransfer.fields.tokenData.fields,
    fungibleValues: Schema.Struct({
      amount: DecimalText,
      decimals: Schema.optionalKey(Schema.Int).annotate({
        description: "Absent where the contract does not say them: the amount is in the smallest unit then",
        examples: [6]
      })
    })
  })
}).annotate({ identifier: "TokenMove" })

export class TransactionsGroup extends HttpApiGroup.make("transactions")
  .add(
    HttpApiEndpoint.get("evmTransaction", "/transactions/evm/:blockchain/:network/:transactionHash", {
      params: byHash,
      query: context,
      success: item(SingleEvmTransaction),
      error: ofTransaction
    })
      .annotate(Price, "evm-transaction")
      .annotate(ExampleValues, singleValues)
      .annotate(Families, families)
      .annotate(OpenApi.Summary, "Read a mined transaction of an EVM chain"),
    HttpApiEndpoint.get("evmInternal", "/transactions/evm/:blockchain/:network/:transactionHash/internal", {
      params: byHash,
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(InternalTransfer),
      error: [...ofTransaction, ...pageErrors]
    })
      .annotate(Price, "internal-transactions")
      .annotate(Listing, "offset")
      .annotate(Families, families)
      .annotate(OpenApi.Summary, "List the internal transactions of a transaction"),
    HttpApiEndpoint.get("evmTokens", "/transactions/evm/:blockchain/:network/:transactionHash/tokens-transfers", {
      params: byHash,
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(TokenMove),
      error: [...ofTransaction, ...pageErrors]
    })
      .annotate(Price, "transaction-tokens")
      .annotate(ExampleValues, { nonFungibleValues: undefined })
      .annotate(Listing, "offset")
      .annotate(Families, families)
      .annotate(OpenApi.Summary, "List the token transfers of a transaction"),
    HttpApiEndpoint.get("logs", "/transactions/evm/:blockchain/:network/:transactionHash/logs", {
      params: byHash,
      query: { ...context, ...offsetQuery(50) },
      success: offsetPage(Log),
      error: [...ofTransaction, ...pageErrors]
    })
      .annotate(Price, "evm-logs")
      .annotate(Listing, "offset")
      .annotate(Families, families)
      .annotate(OpenApi.Summary, "List the logs of a transaction"),
    HttpApiEndpoint.post("prepare", "/prepare-transactions/evm/:blockchain/:network/native-coins", {
      params: chainParams,
      query: {
        ...context,
        type: NewTransaction.type.annotate({ description: "The same as `type` in the body, which is read first" })
      },
      payload: body(NewTransaction),
      success: item(PreparedTransaction).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, Failures.conflict, ...bodyErrors, ...nodeErrors]
    })
      .annotate(Price, "prepare")
      .annotate(ExampleValues, {
        ...{
          "fee.unit": "Wei",
          total: undefined,
          expirationTimestamp: undefined,
          reservedUntil: undefined,
          exactAmount: undefined
        },
        ...{ amount: "0.25", priority: "standard", substractFromAmount: false, type: "gas-fee-market-transaction" }
      })
      .annotate(Families, families)
      .annotate(OpenApi.Summary, "Prepare a transaction of native coins for signing"),
    ...utxoTransactionEndpoints,
    xrpTransactionEndpoint
  )
  .middleware(RequestedChain)
  .annotateMerge(
    OpenApi.annotations({ title: "Transactions", description: "Mined transactions, and new ones of EVM chains" })
  ) {}
