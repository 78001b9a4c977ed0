/**
 * When recurring work is due that one daemon of a store is to do. The times are rows: after a restart no provider of market
 * data is asked again that was asked a minute ago, and of several daemons on one store one does the work.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"

export class RecurringTasks extends Context.Service<
  RecurringTasks,
  {
    /** Claims work that is done every so many milliseconds: 0 where the caller is to do the work, else the time to wait. */
    readonly claim: (name: string, everyMillis: number) => Effect.Effect<number, DatabaseError>
    /** Makes the work due after so many milliseconds, for every daemon. */
    readonly postpone: (name: string, millis: number) => Effect.Effect<void, DatabaseError>
    /**
     * Does work that is done every so many milliseconds where this process is to do the work, which no other begins
     * meanwhile; the time to wait then. Where one process has the store, that is always so.
     */
    readonly whenDue: <E, R>(
      name: string,
      everyMillis: number,
      work: Effect.Effect<unknown, E, R>
    ) => Effect.Effect<number, E | DatabaseError, R>
  }
>()("@headwater/indexer/store/database/RecurringTasks") {
  static readonly layer = Layer.effect(
    RecurringTasks,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const { exclusive, query } = yield* Database

  const claim: RecurringTasks["Service"]["claim"] = Effect.fn("RecurringTasks.claim")(function* (name, everyMillis) {
    const now = yield* Clock.currentTimeMillis
    const due = now + everyMillis
    // A time further off than two intervals was set under another interval, or by a clock that was wrong. Beyond one it may be
    // another daemon's claim of this moment, whose clock is ahead.
    const taken = yield* query((db) =>
      db
        .insertInto("market_task")
        .values({ name, due })
        .onConflict((on) =>
          on
            .column("name")
            .doUpdateSet({ due })
            .where(sql<boolean>`market_task.due <= ${now} or market_task.due > ${due + everyMillis}`)
        )
        .returning("due")
    )
    if (taken.length > 0) return 0
    const [task] = yield* query((db) => db.selectFrom("market_task").select("due").where("name", "=", name))
    return Math.max(1, (task?.due ?? due) - now)
  })

  const postpone = Effect.fn("RecurringTasks.postpone")(function* (name: string, millis: number) {
    const due = (yield* Clock.currentTimeMillis) + millis
    yield* query((db) =>
      db
        .insertInto("market_task")
        .values({ name, due })
        .onConflict((on) => on.column("name").doUpdateSet({ due }))
    )
  })

  const whenDue: RecurringTasks["Service"]["whenDue"] = Effect.fnUntraced(function* (name, everyMillis, work) {
    const wait = exclusive ? 0 : yield* claim(name, everyMillis)
    if (wait > 0) return wait
    // Long work is claimed again while it lasts; what a killed process has begun is due when its claim is over.
    const claimed = postpone(name, everyMillis).pipe(Effect.ignore, Effect.delay(everyMillis / 2), Effect.forever)
    yield* exclusive ? work : Effect.raceFirst(work, claimed)
    return everyMillis
  })

  return RecurringTasks.of({ claim, postpone, whenDue })
})
