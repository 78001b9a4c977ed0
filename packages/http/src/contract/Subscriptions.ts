/** Callback subscriptions (interface sections 4.1 to 4.3), and how a subscription is deleted and activated again. */
import { type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import type { EventType } from "@headwater/core/events/EventType"
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { bodyErrors, chainErrors, chainParams, context, emptyBody, pageErrors, referenceIdParam } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { offsetPage, offsetQuery } from "./Paging.ts"
import { Price } from "./Price.ts"
import { RequestedChain } from "./RequestedChain.ts"
import {
  ChangedSubscription,
  coinFilter,
  type FormOf,
  formOf,
  SubscriptionDetails,
  SubscriptionListItem
} from "./SubscriptionItems.ts"

/** Filters in examples, by the class of the event. */
const filterExamples = {
  coin: coinFilter,
  internal: coinFilter,
  token: { ...coinFilter, contractAddress: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
  log: { abi: "event Transfer(address indexed from, address indexed to, uint256 value)" },
  transaction: undefined,
  block: undefined
} as const

const create = <Path extends string, Request extends Schema.Top, Answer extends Schema.Top>(
  path: Path,
  { class: eventClass, families, words }: Pick<EventKind, "class" | "families" | "words">,
  eventType: string,
  { answer, request }: { readonly request: Request; readonly answer: Answer }
) =>
  HttpApiEndpoint.post(path, `/${path}`, {
    params: chainParams,
    query: context,
    payload: Schema.Struct({ ...context, data: Schema.Struct({ item: request }) }),
    success: item(answer).pipe(HttpApiSchema.status(201)),
    error: [
      ...chainErrors,
      Failures.alreadyExists,
      Failures.callbacksLimitReached,
      ...bodyErrors,
      Failures.unimplemented
    ]
  })
    .annotate(Price, "subscription-create")
    .annotate(ExampleValues, {
      ...FamilyExample.values(families.includes("evm") ? "evm" : families[0]!),
      ...{ eventType, filter: filterExamples[eventClass] }
    })
    .annotate(OpenApi.Summary, `Subscribe to ${words}`)

type Create<K extends EventKind> = K extends unknown
  ? ReturnType<typeof create<K["path"], FormOf<K>["request"], FormOf<K>["answer"]>>
  : never

/** The operations that make subscriptions, one for each event. */
const creates = Object.entries(eventKinds).map(([event, kind]) =>
  create<string, Schema.Top, Schema.Top>(kind.path, kind, event, formOf(kind))
) as ReadonlyArray<unknown> as NonEmptyReadonlyArray<Create<(typeof eventKinds)[EventType]>>

const one = { params: { ...chainParams, ...referenceIdParam }, query: context }

/** A subscription that is active, and about an address and all that happens there. */
const active = { transactionId: undefined, filter: undefined, eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED" }

export class SubscriptionsGroup extends HttpApiGroup.make("subscriptions")
  .add(...creates)
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: chainParams,
      query: { ...context, ...offsetQuery(10) },
      success: offsetPage(SubscriptionListItem),
      error: [...chainErrors, ...pageErrors]
    })
      .annotate(Price, "subscription-list")
      .annotate(ExampleValues, { ...active, limit: 10 })
      .annotate(OpenApi.Summary, "List the subscriptions on a chain, oldest first"),
    HttpApiEndpoint.get("get", "/:referenceId", {
      ...one,
      success: item(SubscriptionDetails),
      error: [...chainErrors, Failures.resourceNotFound]
    })
      .annotate(Price, "subscription-get")
      .annotate(ExampleValues, active)
      .annotate(OpenApi.Summary, "Read a subscription"),
    HttpApiEndpoint.delete("delete", "/:referenceId", {
      ...one,
      success: item(ChangedSubscription),
      error: [...chainErrors, Failures.resourceNotFound]
    })
      .annotate(ExampleValues, { ...active, transactionId: "" })
      .annotate(OpenApi.Summary, "Delete a subscription with its pending callbacks"),
    HttpApiEndpoint.post("activate", "/:referenceId/activate", {
      ...one,
      payload: emptyBody,
      success: item(ChangedSubscription).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, Failures.resourceNotFound, Failures.conflict, ...bodyErrors]
    })
      .annotate(Price, "subscription-activate")
      .annotate(ExampleValues, { ...active, transactionId: "" })
      .annotate(OpenApi.Summary, "Activate a subscription and send its parked callbacks")
  )
  .middleware(RequestedChain)
  .prefix("/blockchain-events/:blockchain/:network")
  .annotateMerge(
    OpenApi.annotations({
      title: "Blockchain events",
      description: "Callback subscriptions: an HTTPS URL that is called when something happens on a chain"
    })
  ) {}
