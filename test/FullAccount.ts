/** An account of whose callbacks one waits, in a store that no daemon has yet. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const make = (location: Location, name: string) =>
  Effect.gen(function* () {
    const { insertMany } = yield* Database
    const { id } = yield* (yield* Accounts).create(name)
    yield* insertMany("callback", [
      {
        ...{
          subscription: 1_000_000,
          host: "busy.test",
          account: id,
          chain: 1_000_000,
          height: 1,
          event: "E",
          body: "{}"
        },
        ...{ idempotency_key: name, state: "held" as const, due: 1, created: 1 }
      }
    ])
  }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provideMerge(Database.layer(location)))), Effect.orDie)
