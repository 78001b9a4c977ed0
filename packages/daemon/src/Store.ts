/** The store that the settings name. */
import { Database } from "@headwater/indexer/store/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "./Settings.ts"

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, (settings) => Database.layer(Settings.storeLocation(settings)))
)
