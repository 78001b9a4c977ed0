/** From the query of a list to its answer, for both ways of paging. */
import * as Effect from "effect/Effect"
import type { SortingOrder } from "../contract/Paging.ts"
import type { CursorPage, CursorRequest, Grounds, OffsetPage, OffsetRequest } from "../operations/Operations.ts"
import * as Cursor from "./Cursor.ts"

/** What an answer says of its grounds. */
const said = ({ answeredFrom, completeFrom }: Grounds) => ({
  ...(completeFrom === undefined ? {} : { completeFrom }),
  ...(answeredFrom === undefined ? {} : { answeredFrom })
})

export interface OffsetQuery {
  readonly limit?: number
  readonly offset?: number
}

/** Answers a list that is paged by offset. */
export const byOffset = <A, E, R>(
  query: OffsetQuery,
  defaultLimit: number,
  read: (request: OffsetRequest) => Effect.Effect<OffsetPage<A>, E, R>
) => {
  const { limit = defaultLimit, offset = 0 } = query
  return Effect.map(read({ limit, offset }), ({ items, total, ...grounds }) => ({
    ...{ limit, offset, total },
    ...said(grounds),
    items
  }))
}

export interface CursorQuery {
  readonly limit?: number
  readonly sortingOrder?: SortingOrder
  readonly startingAfter?: string
}

/** Answers a list that is paged by cursor. `numbers`: how many numbers a position in the list has. */
export const byCursor = Effect.fnUntraced(function* <A, E, R>(
  list: Cursor.List,
  numbers: number,
  query: CursorQuery,
  read: (request: CursorRequest) => Effect.Effect<CursorPage<A>, E, R>
) {
  const { limit = 50, sortingOrder = "DESCENDING", startingAfter } = query
  const ordered = [...list, sortingOrder]
  const after = startingAfter === undefined ? undefined : yield* Cursor.decode(ordered, startingAfter, numbers)
  const { items, next, ...grounds } = yield* read({ limit, sortingOrder, after })
  return {
    limit,
    ...(startingAfter === undefined ? {} : { startingAfter }),
    hasMore: next !== undefined,
    ...(next === undefined ? {} : { nextStartingAfter: Cursor.encode(ordered, next) }),
    sortingOrder,
    ...said(grounds),
    items
  }
})

/** Rows of a list that has one order, that of their ids; and what the answer says of the page beside them. */
export const byId = Effect.fnUntraced(function* <A extends { readonly id: number }, E, R>(
  list: Cursor.List,
  query: Omit<CursorQuery, "sortingOrder">,
  defaultLimit: number,
  read: (page: { readonly after: number; readonly limit: number }) => Effect.Effect<ReadonlyArray<A>, E, R>
) {
  const { limit = defaultLimit, startingAfter } = query
  const [after = 0] = startingAfter === undefined ? [] : yield* Cursor.decode(list, startingAfter, 1)
  const found = yield* read({ after, limit: limit + 1 })
  const rows = found.slice(0, limit)
  const hasMore = found.length > limit
  return {
    rows,
    page: {
      ...{ limit, hasMore },
      ...(startingAfter === undefined ? {} : { startingAfter }),
      ...(hasMore ? { nextStartingAfter: Cursor.encode(list, [rows.at(-1)!.id]) } : {})
    }
  }
})
