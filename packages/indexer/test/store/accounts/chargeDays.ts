/** A program that does the daily charges of a store and ends: for the tests that kill it. Arguments: store, time. */
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [store, time] = process.argv.slice(2) as [string, string]

const location: Location = store.startsWith("postgres")
  ? { kind: "postgres", url: Redacted.make(store), connections: 2 }
  : { kind: "sqlite", file: store }

const program = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const { chargeDays } = yield* Credits
  yield* Effect.provideService(chargeDays, Clock.Clock, {
    ...clock,
    currentTimeMillisUnsafe: () => Number(time),
    currentTimeMillis: Effect.succeed(Number(time))
  })
})

Effect.runFork(Effect.provide(program, Credits.layer.pipe(Layer.provideMerge(Database.layer(location)))))
