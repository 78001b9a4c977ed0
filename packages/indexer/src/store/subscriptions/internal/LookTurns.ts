/**
 * Whose addresses steps look back for: one account after another, whatever each of them has. Which subscriptions have any
 * is read from time to time alone, since they may have very many addresses.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as SteadyTime from "../../../SteadyTime.ts"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"

/** How long subscriptions that come wait to be known, at most, while others have turns. */
const knownMillis = 5_000

export interface LookTurns {
  /** Reads who has addresses to look back for, where that is not known. */
  readonly refresh: Effect.Effect<void, DatabaseError, Database>
  /** The subscription whose turn it is. */
  readonly next: () => number | undefined
  /** It has no more, as far as that was seen. */
  readonly end: (subscription: number) => void
}

export const make = (chain: number): LookTurns => {
  /** Subscriptions by account, in the order of their turns. */
  let left = new Map<number, ReadonlyArray<number>>()
  let last = -1
  let until = 0

  return {
    refresh: Effect.gen(function* () {
      const now = yield* SteadyTime.millis
      if (left.size > 0 && now < until) return
      const { read } = yield* Database
      const found = yield* read(
        rows(sql<{ readonly account: number; readonly subscription: number }>`
          select distinct s.account, a.subscription
          from listed_address a join subscription s on s.id = a.subscription
          where a.chain + 0 = ${chain} and a.past_from is not null and a.left_revision is null and ${isMatched("s")}
          order by s.account, a.subscription`)
      )
      const [before, behind] = [
        found.filter(({ account }) => account <= last),
        found.filter(({ account }) => account > last)
      ]
      left = new Map(
        [...Map.groupBy([...behind, ...before], ({ account }) => account)].map(([account, own]) => [
          account,
          own.map(({ subscription }) => subscription)
        ])
      )
      until = now + knownMillis
    }),
    next: () => {
      const [first] = left
      if (first === undefined) return undefined
      const [account, [subscription, ...others]] = first
      last = account
      left.delete(account)
      left.set(account, [...others, subscription!])
      return subscription
    },
    end: (subscription) => {
      const own = (left.get(last) ?? []).filter((one) => one !== subscription)
      if (own.length > 0) left.set(last, own)
      else left.delete(last)
    }
  }
}
