/** The two ways in which lists are paged: by offset, and by an opaque cursor. */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { success } from "./Envelope.ts"

/**
 * How the list that an endpoint answers is paged, as an annotation on the endpoint: `whole` is one page with everything.
 * Undefined where the answer is one item.
 */
export const Listing = Context.Reference<"offset" | "cursor" | "whole" | undefined>(
  "@headwater/http/contract/Paging/Listing",
  { defaultValue: () => undefined }
)

/** The size of a page where a request does not say, as an annotation on the endpoint of a list. */
export const DefaultLimit = Context.Reference<number>("@headwater/http/contract/Paging/DefaultLimit", {
  defaultValue: () => 50
})

/**
 * How many numbers a position in a list that is paged by cursor has, as an annotation on the endpoint. Lists of transfers are in
 * the order of block height, place in the block, place in the transaction.
 */
export const PositionLength = Context.Reference<number>("@headwater/http/contract/Paging/PositionLength", {
  defaultValue: () => 3
})

/** The largest page. */
const maxLimit = 50

/** A whole number in a query string: digits only, so that `1e1` and ` 1` are refused. */
export const Count = Schema.String.check(
  Schema.isPattern(/^\d{1,15}$/, { message: "must be a whole number of at most 15 digits" })
).pipe(Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString))

/** As {@link Count}, of any length: what no number holds is above every bound. */
const BoundedCount = Schema.String.check(Schema.isPattern(/^\d+$/, { message: "must be a whole number" })).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform({
      decode: (text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER),
      encode: (count) => String(count)
    })
  )
)

const limit = (byDefault: number, most = maxLimit) =>
  BoundedCount.check(
    Schema.isGreaterThanOrEqualTo(1, { message: "must be at least 1" }),
    Schema.isLessThanOrEqualTo(most, { message: `must be at most ${most}` })
  )
    .annotate({ description: `Largest number of items, 1 to ${most}; ${byDefault} if not given` })
    .pipe(Schema.optionalKey)

/** A height in a path. */
export const HeightText = Count.annotate({ description: "Height of the block", examples: [21_000_000] })

/** A moment in a path. */
export const TimestampText = Count.annotate({
  description: "Seconds since the Unix epoch: what is in blocks of that moment and later ones is listed",
  examples: [1_764_158_400]
})

/** How many of the newest things are listed where a request does not say. */
export const newestByDefault = 10

/** Query of a list of the newest things. */
export const countQuery = {
  count: BoundedCount.check(
    Schema.isGreaterThanOrEqualTo(1, { message: "must be at least 1" }),
    Schema.isLessThanOrEqualTo(maxLimit, { message: `must be at most ${maxLimit}` })
  )
    .annotate({
      description: `How many are wanted, 1 to ${maxLimit}; ${newestByDefault} if not given`,
      examples: [newestByDefault]
    })
    .pipe(Schema.optionalKey)
}

/** Query of a list that is paged by offset. */
export const offsetQuery = (defaultLimit: number) => ({
  limit: limit(defaultLimit),
  offset: Schema.optionalKey(
    Count.annotate({
      description:
        "Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come " +
        "twice; in a list by a cursor none is"
    })
  )
})

const offsetFields = <S extends Schema.Top>(item: S) => ({
  limit: Schema.Int,
  offset: Schema.Int,
  total: Schema.Int.annotate({ description: "Items on all pages" }),
  items: Schema.Array(item)
})

/** Answer of a list that is paged by offset. */
export const offsetPage = <S extends Schema.Top>(item: S) => success(Schema.Struct(offsetFields(item)))

/** Answer of a list that has one page. */
export const wholeList = offsetPage

export const SortingOrder = Schema.Literals(["ASCENDING", "DESCENDING"])
export type SortingOrder = typeof SortingOrder.Type

const AnyCase = Schema.String.check(
  Schema.isPattern(/^(ascending|descending)$/i, { message: "must be ASCENDING or DESCENDING" })
).pipe(
  Schema.decodeTo(
    SortingOrder,
    SchemaTransformation.transform({
      decode: (text) => (/^a/i.test(text) ? ("ASCENDING" as const) : ("DESCENDING" as const)),
      encode: (order) => order
    })
  )
)

/** Query of a list that is paged by cursor (interface section 4.13). */
export const cursorQueryOf = (defaultLimit: number) => ({
  limit: limit(defaultLimit),
  sortingOrder: Schema.optionalKey(
    AnyCase.annotate({
      description: "ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given"
    })
  ),
  startingAfter: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[A-Za-z0-9_-]{1,200}$/, { message: "must be a nextStartingAfter of this list" })
    ).annotate({ description: "The `nextStartingAfter` of the page before" })
  )
})

export const cursorQuery = cursorQueryOf(50)

/** Query of a list of very many items, in one order. */
export const bulkQuery = { limit: limit(1_000, 1_000), startingAfter: cursorQuery.startingAfter }

const cursorFields = <S extends Schema.Top>(item: S) => ({
  limit: Schema.Int,
  startingAfter: Schema.optionalKey(Schema.String),
  hasMore: Schema.Boolean,
  nextStartingAfter: Schema.optionalKey(Schema.String),
  sortingOrder: Schema.optionalKey(SortingOrder),
  items: Schema.Array(item)
})

/** What a list rests on. */
export const AnsweredFrom = Schema.Literals(["record", "node"]).annotate({
  description: "`record`: what this server has recorded; `node`: what the chain's node has, recorded or not",
  examples: ["record"]
})

/** The first block from which on a list that rests on the record is whole. */
export const CompleteFrom = Schema.Int.annotate({
  description:
    "Height of the block from which on the list is whole; earlier items may be missing. Absent where none is",
  examples: [20_000_000]
})

/** As {@link offsetPage}, of a whole list that rests on the record. */
export const recordedList = <S extends Schema.Top>(item: S) =>
  success(Schema.Struct({ ...offsetFields(item), completeFrom: Schema.optionalKey(CompleteFrom) }))

/** Answer of a list that is paged by cursor. */
export const cursorPage = <S extends Schema.Top>(item: S) => success(Schema.Struct(cursorFields(item)))

/** As {@link cursorPage}, of a list that rests on the record. */
export const recordedPage = <S extends Schema.Top>(item: S) =>
  success(Schema.Struct({ ...cursorFields(item), completeFrom: Schema.optionalKey(CompleteFrom) }))

/** As {@link recordedPage}, of a list that rests on the record or on the node. */
export const answeredPage = <S extends Schema.Top>(item: S) =>
  success(
    Schema.Struct({
      ...cursorFields(item),
      completeFrom: Schema.optionalKey(CompleteFrom),
      answeredFrom: Schema.optionalKey(AnsweredFrom)
    })
  )

/** As {@link answeredPage}, paged by offset. */
export const answeredList = <S extends Schema.Top>(item: S) =>
  success(
    Schema.Struct({
      ...offsetFields(item),
      completeFrom: Schema.optionalKey(CompleteFrom),
      answeredFrom: Schema.optionalKey(AnsweredFrom)
    })
  )

/** What stands for a place in a feed: a number, with what tells whether the number is of this feed and store. */
const FeedCursor = Schema.String.check(
  Schema.isPattern(/^\d{1,15}-[0-9a-f]{12}-[0-9a-f]{8}$/, {
    message: "must be a nextStartingAfter of this feed, or a number"
  })
)

/** Query of a numbered feed, which is read in the order of the numbers. */
export const feedQuery = {
  limit: limit(50),
  startingAfter: Schema.optionalKey(
    Schema.Union([Count, FeedCursor]).annotate({
      description:
        "The `nextStartingAfter` of the page before, or the number after which to begin; 0 if not given. A place that was " +
        "known before the server's store was restored, or that is beyond the last number, is refused with 409",
      examples: ["16-5f0d3a9b71c2-e19ac04d"]
    })
  )
}

export const feedPageFields = <S extends Schema.Top>(item: S) => ({
  limit: Schema.Int,
  startingAfter: Schema.optionalKey(Schema.String),
  hasMore: Schema.Boolean,
  nextStartingAfter: Schema.optionalKey(Schema.String.annotate({ description: "The place of the last item" })),
  items: Schema.Array(item)
})

/** Answer of a numbered feed. */
export const feedPage = <S extends Schema.Top>(item: S) => success(Schema.Struct(feedPageFields(item)))
