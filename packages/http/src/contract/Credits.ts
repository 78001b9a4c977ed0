/** The account's credits: the balance, and the entries of the ledger. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { context, pageErrors, Timestamp } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { cursorPage, cursorQuery } from "./Paging.ts"

export const CreditBalance = Schema.Struct({
  available: Schema.Int.annotate({ description: "Credits left", examples: [985_420] })
}).annotate({ identifier: "CreditBalance" })

export const CreditEntry = Schema.Struct({
  key: Schema.String.annotate({
    description: "Names the cause of the entry; no two entries have the same",
    examples: ["request:6f1b0a4c9d3e57812fa06b3c"]
  }),
  kind: Schema.Literals(["grant", "request", "daily", "callback"]).annotate({ examples: ["request"] }),
  amount: Schema.Int.annotate({ description: "Credits, negative for a charge", examples: [-30] }),
  results: Schema.Int.annotate({
    description: "Results, subscriptions or callbacks that the entry pays for",
    examples: [1]
  }),
  detail: Schema.String.annotate({
    description: "The operation, or the chain and day",
    examples: ["subscriptions.get"]
  }),
  timestamp: Timestamp
}).annotate({ identifier: "CreditEntry" })

export class CreditsGroup extends HttpApiGroup.make("credits")
  .add(
    HttpApiEndpoint.get("balance", "/balance", {
      query: context,
      success: item(CreditBalance),
      error: [Failures.invalidData]
    }).annotate(OpenApi.Summary, "Read the credits that are left"),
    HttpApiEndpoint.get("statement", "/statement", {
      query: { ...context, ...cursorQuery },
      success: cursorPage(CreditEntry),
      error: [Failures.invalidData, ...pageErrors]
    }).annotate(OpenApi.Summary, "List the entries of the account's ledger")
  )
  .prefix("/credits")
  .annotateMerge(OpenApi.annotations({ title: "Credits", description: "The account's own ledger" })) {}
