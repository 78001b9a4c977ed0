/** Preparation of payments on the XRP Ledger, which the hosted service has none of. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AddressText, Amount, body, bodyErrors, chainErrors, context, networkParam } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { NewTransaction, priority } from "./Transactions.ts"

const hex = (description: string) => Schema.String.annotate({ description, examples: ["1200002280000000240441C0D1"] })

const Tag = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }, { message: "must be a number of 32 bits" })
).annotate({ examples: [4711] })

const Sequence = Schema.Int.annotate({ examples: [71_550_321] })

export const PreparedPayment = Schema.Struct({
  sender: AddressText,
  recipient: AddressText,
  destinationTag: Schema.optionalKey(Tag),
  value: Amount,
  fee: Amount,
  sequence: Sequence,
  lastLedgerSequence: Sequence.annotate({
    description: "The last ledger that may have the payment; behind that it can never be executed",
    examples: [90_000_020]
  }),
  reservedUntil: Schema.optionalKey(Schema.Int).annotate({
    description: "Until then, in seconds since the Unix epoch, no other payment is prepared with this sequence",
    examples: [1_764_159_000]
  }),
  transactionHex: hex("The payment without its signature"),
  signingData: hex("What an Ed25519 key signs"),
  sighash: Schema.String.annotate({
    description: "What a secp256k1 key signs: the first half of SHA-512 of `signingData`",
    examples: ["9D21F1A2C3B74E0D8F5E6A7B8C9D0E1F2A3B4C5D6E7F8091A2B3C4D5E6F70819"]
  })
}).annotate({ identifier: "PreparedPayment" })

export class XrpPreparationGroup extends HttpApiGroup.make("xrpPreparation")
  .add(
    HttpApiEndpoint.post("preparePayment", "/xrp/:network/payments", {
      params: networkParam,
      query: context,
      payload: body({
        additionalData: NewTransaction.additionalData.annotate({
          description: "A memo of the payment: at most 1,019 bytes of UTF-8"
        }),
        amount: NewTransaction.amount.annotate({ description: "Amount in XRP", examples: ["25.5"] }),
        destinationTag: Schema.optionalKey(Tag).annotate({
          description: "Whom the recipient is to credit; an X-address as `recipient` may have the tag instead"
        }),
        fee: Schema.optionalKey(
          Schema.Struct({
            exactAmount: Schema.optionalKey(
              NewTransaction.amount.annotate({
                description: "The whole fee in drops, before `priority`; at most what may be broadcast (`maximumFee`)",
                examples: ["12"]
              })
            ),
            priority: Schema.optionalKey(priority).annotate({
              description:
                "How soon the payment is to be validated, by what the open ledger asks; `standard` if not given"
            })
          })
        ).annotate({ description: "What the sender offers for the payment; `standard` if not given" }),
        publicKey: Schema.String.check(
          Schema.isPattern(/^(ED|02|03)[0-9A-F]{64}$/i, {
            message: "must be 33 bytes in hexadecimal: a compressed key of secp256k1, or ED and a key of Ed25519"
          })
        ).annotate({
          description: "The key that will sign: a part of what is signed",
          examples: ["0330E7FC9D56BB25D6893BA3F317AE5BCF33B3291BD63DB32654A313222F7FD020"]
        }),
        recipient: NewTransaction.recipient,
        reserve: Schema.optionalKey(Schema.Boolean).annotate({
          description:
            "Whether the sequence is kept for this payment for about as long as it may be validated (`reservedUntil`), so that no other " +
            "one is prepared with it: it is if nothing is said. With `true` what the payment costs is kept as well, and those with other " +
            "sequences have that much less to spend",
          examples: [true]
        }),
        sender: NewTransaction.sender,
        sequence: Schema.optionalKey(
          Schema.Int.check(
            Schema.isBetween({ minimum: 1, maximum: 0xffff_ffff }, { message: "must be a positive number of 32 bits" })
          ).annotate({ description: "The next available one if not given", examples: [71_550_321] })
        )
      }),
      success: item(PreparedPayment).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, Failures.conflict, ...bodyErrors, Failures.unimplemented, Failures.nodeUnavailable]
    })
      .annotate(Price, "prepare")
      .annotate(Families, ["xrp"])
      .annotate(ExampleValues, {
        ...FamilyExample.values("xrp"),
        ...{ "fee.amount": "0.00001", "value.amount": "25.5", "fee.exactAmount": undefined }
      })
      .annotate(OpenApi.Summary, "Prepare a payment of XRP for signing")
  )
  .middleware(RequestedChain)
  .prefix("/prepare-transactions")
  .annotateMerge(
    OpenApi.annotations({ title: "Payments of XRP", description: "Payments on the XRP Ledger, prepared for signing" })
  ) {}
