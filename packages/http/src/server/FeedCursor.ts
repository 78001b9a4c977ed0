/**
 * Cursors of the feeds: a number, the epoch of the store that has given it, and a mark of the feed, so that a cursor of
 * another feed is refused instead of misread. Who knows a number alone, as from a header, may ask by that.
 */
import { createHash } from "node:crypto"
import type { FeedPosition, PositionRefused } from "@headwater/indexer/store/subscriptions/FeedPosition"
import * as Effect from "effect/Effect"
import { Conflict, InvalidPagination } from "../contract/Errors.ts"
import type { List } from "./Cursor.ts"

const markOf = (feed: List) => createHash("sha256").update(JSON.stringify(feed)).digest("hex").slice(0, 8)

export const encode = (feed: List, number: number, epoch: string): string => `${number}-${epoch}-${markOf(feed)}`

const form = /^(\d{1,15})(-([0-9a-f]{12})-([0-9a-f]{8}))?$/
const rule = "must be a nextStartingAfter of this feed, or a number"
const invalid = new InvalidPagination({
  message: `startingAfter: ${rule}`,
  details: [{ attribute: "startingAfter", message: rule }]
})

/** The position that the caller asks for; the beginning where none is given. */
export const decode = (
  feed: List,
  startingAfter: number | string | undefined
): Effect.Effect<FeedPosition, InvalidPagination> => {
  if (typeof startingAfter !== "string") return Effect.succeed({ after: startingAfter ?? 0 })
  // A header, unlike the query, has not been checked for its form.
  const [, number, cursor, epoch, mark] = form.exec(startingAfter) ?? []
  if (number === undefined || (cursor !== undefined && mark !== markOf(feed))) return Effect.fail(invalid)
  return Effect.succeed({ after: Number(number), epoch })
}

/** The error of a position that is none of the feed any more. */
export const refused = ({ message }: PositionRefused) =>
  Effect.fail(new Conflict({ message, details: [{ attribute: "startingAfter", message }] }))
