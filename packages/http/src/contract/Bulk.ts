/** Subscriptions in bulk: made and deleted by thousands, and listed by a cursor. */
import { EventType } from "@headwater/core/events/EventType"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  body,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  HashText,
  pageErrors,
  printable,
  Timestamp
} from "./Common.ts"
import { ErrorBody, success } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { IsLongAnswer, LargestBody } from "./MessageSize.ts"
import { bulkQuery, cursorPage } from "./Paging.ts"
import { Price } from "./Price.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { filter, NewItem, ReferenceText, SubscriptionListItem, UrlText } from "./SubscriptionItems.ts"

/** The most items of one request. */
export const maxItems = 10_000

/** The largest body of a request that has many items. */
export const bulkBodyBytes = 4 * 1024 * 1024

const referenceId = ReferenceText.annotate({ description: "Reference id of a subscription" })

const count = Schema.isBetweenLength(1, maxItems, { message: `must have 1 to ${maxItems} items` })

const idempotencyKey = Schema.String.check(
  Schema.isBetweenLength(1, 200, { message: "must have 1 to 200 characters" }),
  ...printable
).annotate({
  description:
    "Any text of the caller's, another one for each request. The same key with the same items is answered the same for " +
    "seven days, and goes on where an interrupted request broke off; with other items it is refused with 409",
  examples: ["import-2026-11-23-part-1"]
})

const NewSubscription = Schema.Struct({
  eventType: EventType.annotate({ description: "The event, whose operation says which of the fields it takes" }),
  ...NewItem.fields
})

/** Described, and read item by item: what is wrong with one is its own result. */
const Item = Schema.Json.check(
  Schema.makeFilter(() => true, {
    representation: {
      id: "@headwater/http/contract/Bulk/Item",
      payload: null,
      schemas: [NewSubscription.ast]
    },
    toJsonSchema: ({ schemas: [schema] }) => schema!
  })
)

const NewItems = Schema.Array(Item)
  .check(count)
  .annotate({
    description:
      `1 to ${maxItems} subscriptions: \`eventType\`, and the fields that the operation of that event takes. Each has a ` +
      "result of its own, and costs what the operation costs",
    examples: [
      [
        {
          eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
          address: "0x52908400098527886E0F7030069857D2E4169EE7",
          callbackUrl: "https://example.com/callbacks",
          receiveCallbackOn: 3
        }
      ]
    ]
  })

/** A result is what was asked for, or the error in its place. */
const result = <S extends Schema.Top>(item: S) => ({
  item: Schema.optionalKey(item),
  error: Schema.optionalKey(ErrorBody.annotate({ description: "Why there is no `item`" }))
})

export const BulkCreated = Schema.Struct(
  result(
    Schema.Struct({
      address: Schema.optionalKey(AddressText),
      callbackUrl: UrlText,
      confirmationsCount: Schema.optionalKey(Schema.Int),
      createdTimestamp: Timestamp,
      eventType: EventType,
      filter,
      isActive: Schema.Boolean,
      receiveCallbackOn: Schema.optionalKey(Schema.Int),
      referenceId,
      transactionId: Schema.optionalKey(HashText)
    }).annotate({ description: "The subscription as it was made, without its secret" })
  )
).annotate({ identifier: "BulkCreated" })

export const BulkDeleted = Schema.Struct(result(Schema.Struct({ referenceId }))).annotate({ identifier: "BulkDeleted" })

const listOf = <S extends Schema.Top>(item: S) =>
  success(
    Schema.Struct({ items: Schema.Array(item).annotate({ description: "A result for each item, in their order" }) })
  )

const values = { eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", error: undefined }

export class BulkGroup extends HttpApiGroup.make("bulk")
  .add(
    HttpApiEndpoint.post("create", "/", {
      params: chainParams,
      query: context,
      payload: body({ idempotencyKey, items: NewItems }),
      success: listOf(BulkCreated).pipe(HttpApiSchema.status(201)),
      error: [...chainErrors, Failures.callbacksLimitReached, Failures.conflict, ...bodyErrors]
    })
      .annotate(Price, "subscription-create")
      .annotate(LargestBody, bulkBodyBytes)
      .annotate(ExampleValues, {
        ...values,
        confirmationsCount: undefined,
        filter: undefined,
        transactionId: undefined
      })
      .annotate(OpenApi.Summary, "Make up to 10,000 subscriptions"),
    HttpApiEndpoint.post("delete", "/delete", {
      params: chainParams,
      query: context,
      payload: body({
        referenceIds: Schema.Array(referenceId)
          .check(count)
          .annotate({ description: `Reference ids of 1 to ${maxItems} subscriptions` })
      }),
      success: listOf(BulkDeleted),
      error: [...chainErrors, ...bodyErrors]
    })
      .annotate(LargestBody, bulkBodyBytes)
      .annotate(ExampleValues, values)
      .annotate(OpenApi.Summary, "Delete up to 10,000 subscriptions with their pending callbacks"),
    HttpApiEndpoint.get("list", "/", {
      params: chainParams,
      query: { ...context, ...bulkQuery },
      success: cursorPage(SubscriptionListItem),
      error: [...chainErrors, ...pageErrors]
    })
      .annotate(Price, "subscription-list")
      .annotate(IsLongAnswer, true)
      .annotate(ExampleValues, { ...values, limit: 1_000, sortingOrder: undefined, transactionId: undefined })
      .annotate(OpenApi.Summary, "List the subscriptions on a chain by a cursor, oldest first, up to 1,000 at a time")
  )
  .middleware(RequestedChain)
  .prefix("/blockchain-events/:blockchain/:network/bulk")
  .annotateMerge(
    OpenApi.annotations({ title: "Blockchain events in bulk", description: "Many subscriptions at a time" })
  ) {}
