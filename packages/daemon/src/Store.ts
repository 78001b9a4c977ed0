/** The store that the settings name. */
import { Database } from "@headwater/indexer/store/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Settings from "./Settings.ts"

/** The store could not be opened at the start. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  message: Schema.String
}) {}

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, (settings) => {
    const location = Settings.storeLocation(settings)
    const name = location.kind === "sqlite" ? `the SQLite file ${location.file}` : "PostgreSQL"
    return Database.layer(location).pipe(
      Layer.catchTag("DatabaseError", (error) =>
        Layer.effect(Database, new StoreUnavailable({ message: `Cannot open ${name}: ${error.message}` }))
      )
    )
  })
)
