/** What an account consumed and was granted on each of the last 30 days, from the newest entries of its ledger. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"

/** Days of the chart, today included. */
const dayCount = 30
/** Entries that the chart sums up, the newest. */
const entryLimit = 20_000
const dayMillis = 86_400_000

const sums = Effect.fnUntraced(function* (account: string) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom((from) =>
        from
          .selectFrom("credit_entry")
          .select(["at", "amount"])
          .where("account", "=", (of) => of.selectFrom("account").select("id").where("name", "=", account))
          .orderBy("id", "desc")
          .limit(entryLimit)
          .as("entry")
      )
      .select(sql<number>`(at - at % ${sql.raw(String(dayMillis))}) / ${sql.raw(String(dayMillis))}`.as("day"))
      .select(sql<number | string>`sum(case when amount < 0 then -amount else 0 end)`.as("consumed"))
      .select(sql<number | string>`sum(case when amount > 0 then amount else 0 end)`.as("granted"))
      .select(sql<number | string>`count(*)`.as("entries"))
      .groupBy("day")
  )
})

/** The days, the oldest first, each by its begin in milliseconds; `complete` where no entry was left out. */
export const read = Effect.fnUntraced(function* (account: string) {
  const first = Math.floor((yield* Clock.currentTimeMillis) / dayMillis) - dayCount + 1
  const rows = yield* sums(account)
  const byDay = new Map(rows.map((row) => [Number(row.day), row]))
  const days = Array.from({ length: dayCount }, (_, i) => {
    const row = byDay.get(first + i)
    return {
      day: (first + i) * dayMillis,
      consumed: Number(row?.consumed ?? 0),
      granted: Number(row?.granted ?? 0)
    }
  })
  const summed = rows.reduce((sum, { entries }) => sum + Number(entries), 0)
  return { days, complete: summed < entryLimit }
})
