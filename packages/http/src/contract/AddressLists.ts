/** Subscriptions on lists of addresses: how one is made, and how its list is edited and read. */
import { AddressDerivation } from "@headwater/core/events/CallbackItem"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType } from "@headwater/core/events/EventType"
import { TokenFilter } from "@headwater/core/events/Filter"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { bulkBodyBytes, maxItems } from "./Bulk.ts"
import {
  AddressText,
  body,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  pageErrors,
  referenceIdParam
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { IsLongAnswer, LargestBody } from "./MessageSize.ts"
import { bulkQuery, cursorPage } from "./Paging.ts"
import { Price } from "./Price.ts"
import { RequestedChain } from "./RequestedChain.ts"
import {
  coinFilter,
  eachConfirmation,
  NewBlockSubscription,
  receiveCallbackOn,
  SubscriptionDetails
} from "./SubscriptionItems.ts"

/** Events of coins and tokens that addresses move. */
const ListEvent = Schema.Literals(
  EventType.literals.filter((event) => {
    const { class: eventClass, seenIn } = eventKinds[event]
    return ["coin", "token", "internal"].includes(eventClass) && seenIn !== "reorganisation"
  })
).annotate({ description: "An event of addresses: any but what a contract logs" })

/** A second list is no duplicate of the first: both are empty when they are made. */
const { allowDuplicates: _, ...told } = NewBlockSubscription.fields

/** What a subscription on many addresses says beside them. */
export const newList = {
  eventType: ListEvent,
  ...told,
  ...receiveCallbackOn,
  filter: Schema.optionalKey(TokenFilter),
  confirmationsCount: Schema.optionalKey(eachConfirmation.confirmationsCount)
}

const addresses = Schema.Array(AddressText)
  .check(Schema.isBetweenLength(1, maxItems, { message: `must have 1 to ${maxItems} items` }))
  .annotate({ description: `1 to ${maxItems} addresses, in any form that the blockchain knows` })

const edited = (changed: string, description: string) =>
  item(
    Schema.Struct({
      [changed]: Schema.Int.annotate({ description, examples: [2] }),
      total: Schema.Int.annotate({ description: "Addresses of the list after that", examples: [120_000] })
    })
  )

const one = { params: { ...chainParams, ...referenceIdParam }, query: context }
const values = { eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: undefined, transactionId: undefined }
const editErrors = [...chainErrors, Failures.resourceNotFound, Failures.conflict, ...bodyErrors] as const

export class AddressListsGroup extends HttpApiGroup.make("addressLists")
  .add(
    HttpApiEndpoint.post("create", "/address-lists", {
      params: chainParams,
      query: context,
      payload: body(newList),
      success: item(SubscriptionDetails).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, Failures.callbacksLimitReached, ...bodyErrors, Failures.unimplemented]
    })
      .annotate(Price, "subscription-create")
      .annotate(ExampleValues, { ...values, filter: coinFilter, confirmationsCount: undefined })
      .annotate(OpenApi.Summary, "Subscribe to a list of addresses, which is empty at first"),
    HttpApiEndpoint.post("add", "/:referenceId/addresses", {
      ...one,
      payload: body({ addresses }),
      success: edited("added", "Addresses of the request that the list did not have before").pipe(
        HttpApiSchema.status(201)
      ),
      error: [...editErrors, Failures.callbacksLimitReached]
    })
      .annotate(Price, "subscription-create")
      .annotate(LargestBody, bulkBodyBytes)
      .annotate(OpenApi.Summary, "Add addresses to the list of a subscription, from the next block on"),
    HttpApiEndpoint.post("remove", "/:referenceId/addresses/remove", {
      ...one,
      payload: body({ addresses }),
      success: edited("removed", "Addresses of the request that the list had before"),
      error: editErrors
    })
      .annotate(LargestBody, bulkBodyBytes)
      .annotate(OpenApi.Summary, "Take addresses out of the list of a subscription, from the next block on"),
    HttpApiEndpoint.get("list", "/:referenceId/addresses", {
      params: one.params,
      query: { ...context, ...bulkQuery },
      success: cursorPage(
        Schema.Struct({
          address: AddressText,
          derivation: Schema.optionalKey(
            AddressDerivation.annotate({
              description: "Where the address is below the subscription's extended public key"
            })
          )
        })
      ),
      error: [...chainErrors, Failures.resourceNotFound, Failures.conflict, ...pageErrors]
    })
      .annotate(IsLongAnswer, true)
      .annotate(ExampleValues, { limit: 1_000, sortingOrder: undefined, derivation: undefined })
      .annotate(OpenApi.Summary, "Read the addresses of a subscription's list by a cursor")
  )
  .middleware(RequestedChain)
  .prefix("/blockchain-events/:blockchain/:network")
  .annotateMerge(
    OpenApi.annotations({
      title: "Lists of addresses",
      description: "Subscriptions to an event of up to a million addresses, which are edited while blocks come"
    })
  ) {}
