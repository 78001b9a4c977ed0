/** Signed transactions, sent to the nodes of a chain, and what became of them (wider interface, *Broadcast*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { body, bodyErrors, chainErrors, chainParams, context, HashText, MinedInBlock, Timestamp } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { LargestBody } from "./MessageSize.ts"
import { Price } from "./Price.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { callbackSecretKey, callbackUrl } from "./SubscriptionItems.ts"
import { signedExample, transactionBodyBytes, transactionHex } from "./TransactionHex.ts"

const signedTransactionHex = transactionHex.annotate({
  description: "The signed transaction as the chain serialises it, with or without `0x`",
  examples: [signedExample]
})

const transactionId = HashText.annotate({ description: "The transaction's id, on an account chain its hash" })

const Outcome = Schema.Literals(["unknown", "sent", "mined", "failed", "replaced", "dropped"]).annotate({
  description:
    "`unknown`: given to the nodes, none of which has answered yet; `sent`: a node has it; `mined`: a block has it; `failed`: " +
    "refused by the nodes, or in a block as failed; `replaced`: another transaction with its nonce, sequence or inputs is in " +
    "a block; `dropped`: no node has it any more, or its time is over",
  examples: ["mined"]
})

export const BroadcastOutcome = Schema.Struct({
  createdTimestamp: Timestamp.annotate({ description: "When it was broadcast first, in seconds since the Unix epoch" }),
  errorMessage: Schema.optionalKey(
    Schema.String.annotate({ description: "Why it is failed, replaced or dropped", examples: ["nonce too low"] })
  ),
  minedInBlock: Schema.optionalKey(MinedInBlock),
  outcome: Outcome,
  transactionId,
  updatedTimestamp: Timestamp.annotate({
    description: "When the outcome last changed, in seconds since the Unix epoch"
  })
}).annotate({ identifier: "BroadcastOutcome" })

const id = Schema.String.check(
  Schema.isPattern(/^(0x)?[0-9a-fA-F]{64}$/, { message: "must be 64 hexadecimal digits" })
).annotate({ description: "Id of a transaction that the account has broadcast" })

export class BroadcastsGroup extends HttpApiGroup.make("broadcasts")
  .add(
    HttpApiEndpoint.post("broadcast", "/", {
      params: chainParams,
      query: context,
      payload: body({
        callbackSecretKey: Schema.optionalKey(callbackSecretKey),
        callbackUrl: Schema.optionalKey(callbackUrl),
        signedTransactionHex
      }),
      success: item(Schema.Struct({ transactionId })),
      error: [...chainErrors, Failures.conflict, ...bodyErrors, Failures.unimplemented, Failures.nodeUnavailable]
    })
      .annotate(Price, "broadcast")
      .annotate(LargestBody, transactionBodyBytes)
      .annotate(OpenApi.Summary, "Send a signed transaction to the nodes of its chain"),
    HttpApiEndpoint.get("broadcastOutcome", "/:transactionId", {
      params: { ...chainParams, transactionId: id },
      query: context,
      success: item(BroadcastOutcome),
      error: [...chainErrors, Failures.resourceNotFound, Failures.unimplemented]
    })
      .annotate(ExampleValues, { errorMessage: undefined })
      .annotate(OpenApi.Summary, "Read what became of a transaction that was broadcast")
  )
  .middleware(RequestedChain)
  .prefix("/broadcast-transactions/:blockchain/:network")
  .annotateMerge(
    OpenApi.annotations({
      title: "Broadcast",
      description: "Signed transactions: sent, and followed until they are mined"
    })
  ) {}
