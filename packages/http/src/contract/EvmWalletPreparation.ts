/** The request and the answer of a transaction of an EVM wallet that is prepared for signing (wider interface, *HD wallets*). */
import * as Schema from "effect/Schema"
import { NewTransaction, PreparedTransaction, priority } from "./Transactions.ts"

const { additionalData, amount, nonce, recipient, reserve, sender } = NewTransaction

export const NewWalletTransaction = {
  ...{ additionalData, amount, nonce, recipient, reserve },
  sender: sender.annotate({
    description: "The address of the wallet that pays",
    examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
  }),
  fee: Schema.Struct({
    exactAmount: Schema.optionalKey(amount).annotate({
      description: "The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`)"
    }),
    priority: Schema.optionalKey(priority).annotate({
      description:
        "How soon the transaction is to be mined, by what others pay at present, `standard` if not given; the same fee for all on tron"
    })
  }).annotate({ description: "What the sender offers for the transaction" }),
  transactionType: NewTransaction.type
}

const prepared = PreparedTransaction.fields
const price = Schema.Int.annotate({ examples: [31_000_000_000] })

export const PreparedWalletTransaction = Schema.Struct({
  change: Schema.Int.annotate({ description: "0 for a receiving address, 1 for change", examples: [0] }),
  derivationIndex: Schema.Int.annotate({ description: "Index of the sender in its branch", examples: [3] }),
  ...{ inputData: prepared.inputData, nonce: prepared.nonce, recipient: prepared.recipient, sender: prepared.sender },
  sigHash: prepared.sighash,
  value: Schema.Struct({
    amount: Schema.Union([Schema.Int, Schema.String]).annotate({
      description:
        "In Wei, on tron in sun: a number up to 2^53 - 1, above that its decimal digits as text, which lose nothing",
      examples: ["250000000000000000"]
    }),
    unit: Schema.String.annotate({ examples: ["Wei"] })
  }),
  fee: Schema.Struct({
    gasLimit: prepared.gasLimit,
    gasPrice: Schema.Int.annotate({ description: "0 for a gas-fee-market-transaction", examples: [0] }),
    unit: Schema.String.annotate({ examples: ["Wei"] }),
    maxFeePerGas: Schema.optionalKey(price),
    maxPriorityFeePerGas: Schema.optionalKey(price.annotate({ examples: [1_000_000_000] })),
    total: prepared.fee.fields.total
  }),
  type: prepared.type,
  gasLimit: prepared.gasLimit.annotate({ description: "As in `fee`" }),
  gasPrice: Schema.Int.annotate({ description: "As in `fee`", examples: [0] }),
  ...{ reservedUntil: prepared.reservedUntil, expirationTimestamp: prepared.expirationTimestamp }
}).annotate({ identifier: "PreparedWalletTransaction" })
