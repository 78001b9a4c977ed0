/** Rows of what prepared transactions use: coins, and nonces of senders. */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"

/** No setting reserves for more than a day: a time further off than two was set by a clock that was wrong. */
const longestMillis = 2 * 24 * 60 * 60 * 1_000

/** Whether a reservation with this end holds. */
export const holds = (until: RawBuilder<number>, now: number) =>
  sql<boolean>`${until} > ${now} and ${until} <= ${now + longestMillis}`

/** The same of one that does not. */
export const isOver = (until: RawBuilder<number>, now: number) =>
  sql<boolean>`(${until} <= ${now} or ${until} > ${now + longestMillis})`

/** Reservations that are over and are removed beside a new one. */
const removedAtOnce = 1_000

/** Removes some of those that are over, in the transaction of a new one. */
export const removeOver = Effect.fnUntraced(function* (now: number) {
  const { forUpdateSkipLocked, query } = yield* Database
  yield* query((db) =>
    db
      .with(
        (of) => of("over").materialized(),
        (from) =>
          from
            .selectFrom("reserved_coin")
            .select(["account", "chain", "source", "number"])
            .where("until", "<=", now)
            .orderBy("until")
            .limit(removedAtOnce)
            .modifyEnd(forUpdateSkipLocked)
      )
      .deleteFrom("reserved_coin")
      .where(sql<boolean>`(account, chain, source, number) in (select account, chain, source, number from over)`)
  )
})
