/** The number of an account's next transaction (wider interface, *Address latest*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AddressText, chainErrors, chainParams, context, networkParam } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

const error = [...chainErrors, Failures.unimplemented, Failures.nodeUnavailable] as const
const address = AddressText.annotate({ description: "Address of the sender" })

export class NextNonceGroup extends HttpApiGroup.make("nextNonce")
  .add(
    HttpApiEndpoint.get("nextNonce", "/evm/:blockchain/:network/:address/next-available-nonce", {
      params: { ...chainParams, address },
      query: context,
      success: item(
        Schema.Struct({
          nextAvailableNonce: Schema.Int.annotate({
            description: "Behind the transactions that wait for a block",
            examples: [7]
          })
        })
      ),
      error
    })
      .annotate(Price, "next-nonce")
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Show the nonce of an address's next transaction"),
    HttpApiEndpoint.get("nextSequence", "/xrp/:network/:address/next-available-sequence", {
      params: { ...networkParam, address: AddressText.annotate({ description: "Address of the account" }) },
      query: context,
      success: item(
        Schema.Struct({
          nextAvailableSequence: Schema.Int.annotate({
            description: "Behind the transactions that wait for a ledger",
            examples: [71_550_321]
          })
        })
      ),
      error: [...error, Failures.resourceNotFound]
    })
      .annotate(Price, "next-nonce")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Show the sequence of an account's next transaction")
  )
  .middleware(RequestedChain)
  .prefix("/addresses-latest")
  .annotateMerge(
    OpenApi.annotations({ title: "Next transactions", description: "The number of an account's next transaction" })
  ) {}
