/** A program that opens a store and ends. Argument: a SQLite file or a PostgreSQL URL. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [store] = process.argv.slice(2) as [string]

const location = store.startsWith("postgres")
  ? ({ kind: "postgres", url: Redacted.make(store), connections: 2 } as const)
  : ({ kind: "sqlite", file: store } as const)

await Effect.runPromise(Effect.scoped(Layer.build(Database.layer(location))))
