/** Domains of callback URLs: before callbacks are sent to a domain, the account proves to own it. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { body, bodyErrors, context, emptyBody, pageErrors, Timestamp } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { offsetPage, offsetQuery } from "./Paging.ts"

export const Domain = Schema.Struct({
  domain: Schema.String.annotate({ examples: ["example.com"] }),
  token: Schema.String.annotate({
    description:
      "Publish it as the DNS TXT record `_headwater-challenge.<domain>` or at `https://<domain>/.well-known/headwater-challenge.txt`",
    examples: ["Yk3vR1pU8s0ZqJx7cH2mT5bN9wLfE4aGdK6oQiVtXzA"]
  }),
  isVerified: Schema.Boolean,
  createdTimestamp: Timestamp,
  verifiedTimestamp: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Domain" })

const name = Schema.String.check(Schema.isBetweenLength(1, 253, { message: "must have 1 to 253 characters" }))

export class DomainsGroup extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.post("add", "/", {
      query: context,
      payload: body({ domain: name.annotate({ description: "Host of callback URLs", examples: ["example.com"] }) }),
      success: item(Domain).pipe(HttpApiSchema.status(201)),
      error: [Failures.invalidData, Failures.conflict, ...bodyErrors]
    }).annotate(OpenApi.Summary, "Ask for a token that proves a domain"),
    HttpApiEndpoint.get("list", "/", {
      query: { ...context, ...offsetQuery(10) },
      success: offsetPage(Domain),
      error: [Failures.invalidData, ...pageErrors]
    }).annotate(OpenApi.Summary, "List the domains of the account"),
    HttpApiEndpoint.post("verify", "/:domain/verify", {
      params: { domain: name.annotate({ description: "Host of callback URLs", examples: ["example.com"] }) },
      query: context,
      payload: emptyBody,
      success: item(Domain),
      error: [
        Failures.invalidData,
        Failures.resourceNotFound,
        Failures.conflict,
        Failures.requestLimitReached,
        ...bodyErrors,
        Failures.unimplemented
      ]
    }).annotate(OpenApi.Summary, "Verify the domain by its token")
  )
  .prefix("/domains")
  .annotateMerge(OpenApi.annotations({ title: "Domains", description: "Hosts that callbacks may be sent to" })) {}
