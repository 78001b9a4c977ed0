/** The store that the settings name, and how long it keeps callbacks. */
import { Database } from "@headwater/indexer/store/database/Database"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Settings from "./settings/Settings.ts"

/** The store could not be opened at the start. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  message: Schema.String
}) {}

const dayMillis = 86_400_000

const retention = ({ callbacks: { heldCount, heldDays, keepDays } }: Settings.Settings["Service"]) =>
  Layer.succeed(Retention, {
    finishedMillis: keepDays * dayMillis,
    parkedMillis: heldDays * dayMillis,
    parkedCount: heldCount
  })

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, (settings) => {
    const location = Settings.storeLocation(settings)
    const name = location.kind === "sqlite" ? `the SQLite file ${location.file}` : "PostgreSQL"
    return Database.layer(location).pipe(
      Layer.catchTag("DatabaseError", (error) =>
        Layer.effect(Database, new StoreUnavailable({ message: `Cannot open ${name}: ${error.message}` }))
      ),
      Layer.merge(retention(settings))
    )
  })
)
