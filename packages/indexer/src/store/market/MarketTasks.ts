/**
 * When recurring work on market data is due. The times are rows: after a restart no provider is asked again that was
 * asked a minute ago, and of several daemons on one store one does the work.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"

export class MarketTasks extends Context.Service<
  MarketTasks,
  {
    /** Claims work that is done every so many milliseconds: 0 where the caller is to do the work, else the time to wait. */
    readonly claim: (name: string, everyMillis: number) => Effect.Effect<number, DatabaseError>
    /** Makes the work due after so many milliseconds, for every daemon. */
    readonly postpone: (name: string, millis: number) => Effect.Effect<void, DatabaseError>
  }
>()("@headwater/indexer/store/market/MarketTasks") {
  static readonly layer = Layer.effect(
    MarketTasks,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const { query } = yield* Database

  const claim: MarketTasks["Service"]["claim"] = Effect.fn("MarketTasks.claim")(function* (name, everyMillis) {
    const now = yield* Clock.currentTimeMillis
    const due = now + everyMillis
    // A time further off than the interval was set under another interval, or by a clock that was wrong.
    const taken = yield* query((db) =>
      db
        .insertInto("market_task")
        .values({ name, due })
        .onConflict((on) =>
          on
            .column("name")
            .doUpdateSet({ due })
            .where(sql<boolean>`market_task.due <= ${now} or market_task.due > ${due}`)
        )
        .returning("due")
    )
    if (taken.length > 0) return 0
    const [task] = yield* query((db) => db.selectFrom("market_task").select("due").where("name", "=", name))
    return Math.max(1, (task?.due ?? due) - now)
  })

  const postpone = Effect.fn("MarketTasks.postpone")(function* (name: string, millis: number) {
    const due = (yield* Clock.currentTimeMillis) + millis
    yield* query((db) =>
      db
        .insertInto("market_task")
        .values({ name, due })
        .onConflict((on) => on.column("name").doUpdateSet({ due }))
    )
  })

  return MarketTasks.of({ claim, postpone })
})
