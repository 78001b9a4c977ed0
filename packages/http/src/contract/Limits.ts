/** How much of the service an account may take, and how much of that it has. */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { context } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"

const maximum = Schema.Int.annotate({ description: "The most that is allowed", examples: [10_000] })
const used = Schema.Int.annotate({ description: "What the account has of it", examples: [12] })

const of = <S extends Schema.Struct.Fields>(fields: S, description: string) =>
  Schema.Struct(fields).annotate({ description })

export const AccountLimits = Schema.Struct({
  subscriptions: of({ maximum, used }, "Subscriptions of the account, over all chains"),
  duplicates: of(
    { maximum },
    "Subscriptions of the account to one event of one address, of one transaction, or of a chain's blocks, wherever they are sent"
  ),
  waitingCallbacks: of(
    { maximum, used },
    "Callbacks of the account that wait for their receivers, counted up to the maximum: beyond it what happens at addresses with many subscriptions is kept, and told when they are fewer"
  ),
  heldCallbacks: of(
    { maximum },
    "Callbacks of one subscription that wait for the verification of their host: beyond it the oldest expire"
  ),
  domains: of({ maximum, used }, "Hosts of callbacks that the account has added"),
  verificationsAnHour: of({ maximum, used }, "Verifications of domains in the present hour of the clock"),
  wallets: of({ maximum, used }, "HD wallets that the account has synced, over all chains"),
  addresses: of({ maximum, used }, "Single addresses that the account has synced, over all chains"),
  listedAddresses: of({ maximum, used }, "Addresses in the lists of the account's subscriptions, over all chains"),
  bulkRequests: of({ maximum, used }, "Requests of the account for many subscriptions in the last seven days"),
  callbackCopies: of({ maximum, used }, "Subscriptions whose callbacks are being sent to another URL"),
  nodeCalls: of({ maximum }, "Calls of a chain's node for one request, as for the assets of a wallet"),
  streams: of(
    { maximum, used },
    "Readers of the account's feed that stay connected to one daemon, by server-sent events or WebSocket"
  )
}).annotate({ identifier: "AccountLimits" })

export class LimitsGroup extends HttpApiGroup.make("limits")
  .add(
    HttpApiEndpoint.get("get", "/", {
      query: context,
      success: item(AccountLimits),
      error: [Failures.invalidData]
    }).annotate(OpenApi.Summary, "Read the account's limits, and what is left of them")
  )
  .prefix("/limits")
  .annotateMerge(
    OpenApi.annotations({ title: "Limits", description: "How much of the service the account may take" })
  ) {}
