/** Makes a migrated store of each dialect, which a run's tests copy, and removes them when the run is over. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"

export default async function setup() {
  // Read once the server of the run has its address.
  const { unmigrated } = await import("./Stores.ts")
  const scope = Scope.makeUnsafe()
  for (const { location } of unmigrated) {
    const store = await Effect.runPromise(Scope.provide(location, scope))
    await Effect.runPromise(Effect.scoped(Layer.build(Database.layer(store))))
    if (store.kind === "sqlite") process.env.HEADWATER_MIGRATED_FILE = store.file
    else process.env.HEADWATER_MIGRATED_DATABASE = new URL(Redacted.value(store.url)).pathname.slice(1)
  }
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
