/** What has happened at an address, or of a block, as a commit has left it to the steps behind it. */
import type { EventKind } from "@headwater/core/events/EventKinds"
import { type EventType, eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as LeftMatches from "../LeftMatches.ts"

const classes = ["coin", "token", "internal", "log", "transaction", "block"] as const
const eventsOf = new Map(classes.map((name) => [name, eventsOfClass(name)]))

/** Whether subscriptions to an event are told of matches of a class. */
export const isOfClass = (event: EventType, name: EventKind["class"]) => eventsOf.get(name)!.has(event)

export interface MatchedRow extends Omit<Row<"matched">, "occurrences"> {
  readonly matches: ReadonlyArray<LeftMatches.Match>
  /** The events that the matches are, of any subscription. */
  readonly events: ReadonlyArray<EventType>
}

const toMatchedRow = ({ occurrences, ...rest }: Row<"matched">): MatchedRow => {
  const matches = LeftMatches.decode(occurrences)
  return { ...rest, matches, events: [...new Set(matches.flatMap((match) => [...eventsOf.get(match.class)!]))] }
}

/** Rows that are read again and again, one account after another. */
const remembered = 32

/** Of the texts that are read at a time, unless one alone is longer: those of most rows have some hundred bytes. */
const mostBytes = 1_000_000

/** The bytes of the text that a row of `fan_out` is of. */
export const bytes = sql<number>`
  (select octet_length(occurrences) from matched where matched.id = fan_out.matched)`.as("bytes")

/** The first turns that have no more than may be read at a time, and one at least. */
export const readTogether = <A extends { readonly bytes: number }>(turns: ReadonlyArray<A>): ReadonlyArray<A> => {
  let left = mostBytes
  const end = turns.findIndex(({ bytes }, i) => {
    left -= bytes
    return i > 0 && left < 0
  })
  return end < 0 ? turns : turns.slice(0, end)
}

/** Rows by their ids. The last few are remembered. */
export const make = () => {
  const known = new Map<number, MatchedRow>()
  const read = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
    const { numbers, query } = yield* Database
    const found = new Map(known)
    const others = ids.filter((id) => !known.has(id))
    if (others.length === 0) return found
    const rows = yield* query((db) =>
      db
        .selectFrom("matched")
        .selectAll()
        .where(sql<boolean>`id in ${numbers(others)}`)
    )
    for (const row of rows) {
      if (known.size >= remembered) known.delete(known.keys().next().value!)
      const made = toMatchedRow(row)
      known.set(row.id, made)
      found.set(row.id, made)
    }
    return found
  })
  return { read, forget: (id: number) => known.delete(id) }
}
