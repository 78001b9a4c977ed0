/** A program that changes the key of the callback secrets, as the command does. Argument: as for `Open.ts`. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { MinimumLogLevel } from "effect/References"
import { change, nextKeys } from "./secretStory.ts"

const [store] = process.argv.slice(2) as [string]

const location = store.startsWith("postgres")
  ? nextKeys({
      ...{ kind: "postgres", url: Redacted.make(store), connections: 2 },
      secretKeys: Redacted.make(process.env.SECRET_KEYS!)
    })
  : ({ kind: "sqlite", file: store } as const)

// What it prints are statements alone.
await change(location).pipe(
  Effect.provide(Database.layer(location)),
  Effect.scoped,
  Effect.provideService(MinimumLogLevel, "None"),
  Effect.runPromise
)
