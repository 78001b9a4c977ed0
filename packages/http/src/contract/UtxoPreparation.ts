/** The request and the answer of a transaction of a UTXO wallet that is prepared for signing (wider interface, *HD wallets*). */
import * as Schema from "effect/Schema"
import { AddressText, Amount, CarriedText, HashText } from "./Common.ts"

const decimal = Schema.String.check(
  Schema.isPattern(/^\d{1,78}(\.\d{1,36})?$/, { message: "must be a decimal number without sign and exponent" })
)
const address = Schema.String.check(Schema.isBetweenLength(1, 200)).annotate({
  examples: ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"]
})

/** Nodes relay no transaction with many more. */
const maxRecipients = 2_000

/** Of a request with so many recipients, in bytes: an address and an amount have 315 characters at the most. */
export const preparationBodyBytes = maxRecipients * 400

export const NewUtxoTransaction = {
  additionalData: Schema.optionalKey(
    CarriedText.check(Schema.isMaxLength(80, { message: "must be at most 80 characters" })).annotate({
      description: "Text that an output of its own (`OP_RETURN`) makes public for ever: at most 80 bytes",
      examples: ["invoice 4711"]
    })
  ),
  locktime: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }, { message: "must be a number of 32 bits" })
    ).annotate({
      description: "The transaction is not mined before this height, or this time from 500,000,000 on; 0 if not given",
      examples: [0]
    })
  ),
  fee: Schema.Struct({
    address: Schema.optionalKey(address).annotate({
      description:
        "Where the change goes, an address of the wallet; by default its next unused change address, and where the wallet has " +
        "none of these (`bip32`) the address of the largest coin that is spent: unused ones may have been given out"
    }),
    exactAmount: Schema.optionalKey(decimal).annotate({
      description:
        "The whole fee in coins, before `priority`; change that would be dust is added to it. At most what may be broadcast",
      examples: ["0.00001"]
    }),
    priority: Schema.optionalKey(Schema.Literals(["slow", "standard", "fast"])).annotate({
      description:
        "By the node's estimate for 24, 6 or 2 blocks, else by what waits in its mempool; `standard` if not given. On zcash " +
        "all are ZIP-317's fee, by what the node says that an action costs"
    })
  }).annotate({ description: "What is paid for the transaction, and where the change goes" }),
  parentTransactionId: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/, { message: "must be 64 lower-case hex digits" }))
  ).annotate({
    description:
      "A transaction that waits for a block and pays the wallet, its own change or not: its largest such output is spent, " +
      "though it is not mined yet, and the fee is raised by what it and all that it waits for pay below the rate (child pays " +
      "for parent). With `exactAmount` the fee is that",
    examples: ["8a6f0d7f3b0f4d0a3d0c1f0e7a9b5c2d4e6f8a0b1c3d5e7f9a0b2c4d6e8f0a1b"]
  }),
  prepareStrategy: Schema.optionalKey(Schema.Literals(["none", "minimize-dust", "optimize-size"])).annotate({
    description:
      "By default the coins that waste least, by Bitcoin Core's metric. `minimize-dust`: small coins beside those while " +
      "fees are low; `optimize-size`: the fewest inputs; `none`: the oldest coins first"
  }),
  recipients: Schema.Array(
    Schema.Struct({
      address: address.annotate({ description: "Address that is paid, in any form that the blockchain knows" }),
      amount: decimal.annotate({ description: "In coins", examples: ["0.25"] })
    })
  )
    .check(
      Schema.isMinLength(1, { message: "must name a recipient" }),
      Schema.isMaxLength(maxRecipients, { message: `must be at most ${maxRecipients}` })
    )
    .annotate({ description: "Who is paid, an output each, in this order" }),
  replaceable: Schema.optionalKey(Schema.Boolean).annotate({
    description:
      "Whether one that pays more may replace the transaction (BIP-125); by default as the chain's nodes allow it"
  })
}

const script = Schema.String.annotate({
  description: "Locking script, in hex",
  examples: ["0014751e76e8199196d454941c45d1b3a323f1433bd6"]
})
const satoshis = Schema.Int.annotate({ description: "In the smallest unit", examples: [25_000_000] })

export const PreparedUtxoTransaction = Schema.Struct({
  additionalData: Schema.String.annotate({ examples: ["invoice 4711"] }),
  locktime: Schema.Int.annotate({ examples: [0] }),
  size: Schema.Int.annotate({
    description: "Bytes of the signed transaction as fees count them, with signatures of the greatest length",
    examples: [141]
  }),
  version: Schema.Int.annotate({ examples: [2] }),
  fee: Amount,
  feePerByte: Amount,
  inputs: Schema.Array(
    Schema.Struct({
      address: AddressText,
      change: Schema.Int.annotate({ description: "0 for a receiving address, 1 for change", examples: [0] }),
      derivationIndex: Schema.Int.annotate({ examples: [3] }),
      outputIndex: Schema.Int.annotate({ examples: [1] }),
      ...{ satoshis, script },
      sighash: HashText.annotate({
        description: "The hash to sign: SIGHASH_ALL, by default of taproot, and with FORKID on bitcoin-cash"
      }),
      transactionId: HashText,
      sequence: Schema.Int.annotate({ examples: [0xffff_fffd] })
    })
  ),
  outputs: Schema.Array(
    Schema.Struct({
      address: AddressText.annotate({ description: "Empty where the output has none" }),
      ...{ satoshis, script }
    })
  ),
  psbt: Schema.optionalKey(Schema.String).annotate({
    description:
      "The transaction for a signer (BIP-174, base64). Absent on zcash, and where the node does not show the transactions " +
      "that legacy inputs spend, or they are more than four megabytes",
    examples: ["cHNidP8BAHEC…"]
  }),
  reservedUntil: Schema.Int.annotate({
    description: "Until then, in seconds since the Unix epoch, no other transaction is prepared with these coins",
    examples: [1_764_159_000]
  }),
  blockchainSpecific: Schema.optionalKey(
    Schema.Struct({
      replaceable: Schema.optionalKey(Schema.Boolean).annotate({ description: "On bitcoin, litecoin and zcash" }),
      vout: Schema.optionalKey(Schema.Array(Schema.Struct({ address: AddressText, satoshis, script }))).annotate({
        description: "On bitcoin-cash: the outputs"
      }),
      consensusBranchId: Schema.optionalKey(Schema.Int).annotate({ description: "On zcash (ZIP-200)" }),
      expiryHeight: Schema.optionalKey(Schema.Int).annotate({ description: "On zcash (ZIP-203)" }),
      versionGroupId: Schema.optionalKey(Schema.Int).annotate({ description: "On zcash (ZIP-225)" })
    })
  )
}).annotate({ identifier: "PreparedUtxoTransaction" })
