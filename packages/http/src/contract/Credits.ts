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
  available: Schema.Int.annotate({ description: "Credits left" })
}).annotate({ identifier: "CreditBalance" })

export const CreditEntry = Schema.Struct({
  key: Schema.String.annotate({ description: "Names the cause of the entry; no two entries have the same" }),
  kind: Schema.Literals(["grant", "request", "daily", "callback"]),
  amount: Schema.Int.annotate({ description: "Credits, negative for a charge" }),
  results: Schema.Int.annotate({ description: "Results, subscriptions or callbacks that the entry pays for" }),
  detail: Schema.String.annotate({ description: "The operation, or the chain and day" }),
  timestamp: Timestamp
}).annotate({ identifier: "CreditEntry" })

export class CreditsGroup extends HttpApiGroup.make("credits")
  .add(
    HttpApiEndpoint.get("balance", "/balance", {
      query: context,
      success: item(CreditBalance),
      error: [Failures.invalidData]
    }).annotateMerge(OpenApi.annotations({ summary: "Read the credits that are left" })),
    HttpApiEndpoint.get("statement", "/statement", {
      query: { ...context, ...cursorQuery },
      success: cursorPage(CreditEntry),
      error: [Failures.invalidData, ...pageErrors]
    }).annotateMerge(OpenApi.annotations({ summary: "List the entries of the account's ledger" }))
  )
  .prefix("/credits")
  .annotateMerge(OpenApi.annotations({ title: "Credits", description: "The account's own ledger" })) {}
