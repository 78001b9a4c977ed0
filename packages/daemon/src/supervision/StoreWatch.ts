/**
 * Writes to the store every few seconds, so that `/ready`, the metrics and the log say when that fails; and sees whether a
 * newer program has made the store one that this program may not run on.
 */
import { Database, type StoreTooNew } from "@headwater/indexer/store/database/Database"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { OwnOutages } from "./OwnOutages.ts"

export const StoreWatchOptions = Context.Reference("@headwater/daemon/supervision/StoreWatch/Options", {
  defaultValue: () => ({
    /** Milliseconds between two looks, and how long the store may take to answer one. */
    everyMillis: 4_000,
    answerMillis: 4_000
  })
})

/** What is done where the store has become too new for this program: the daemon ends. */
export const OnTooNew = Context.Reference("@headwater/daemon/supervision/StoreWatch/OnTooNew", {
  defaultValue: () => (error: StoreTooNew) => Effect.logError(error.message)
})

const messageOf = (cause: Cause.Cause<unknown>) => {
  const failure = Cause.squash(cause)
  return failure instanceof Error ? failure.message : String(failure)
}

/** Never returns. */
const run = Effect.gen(function* () {
  const outages = yield* OwnOutages
  const { compatible, damage } = yield* Database
  const onTooNew = yield* OnTooNew
  const { answerMillis, everyMillis } = yield* StoreWatchOptions
  let look: Fiber.Fiber<void, unknown> | undefined
  while (true) {
    // One look at a time: a store that has vanished answers none of them.
    look ??= yield* StoreHealth.works.pipe(
      Effect.andThen(compatible),
      Effect.catchTag("StoreTooNew", onTooNew),
      Effect.forkChild
    )
    const looked = yield* Effect.timeoutOption(Fiber.await(look), answerMillis)
    const damaged = yield* damage
    if (damaged !== undefined) yield* outages.begin("store", `the file is damaged: ${damaged}`)
    else if (Option.isNone(looked)) yield* outages.begin("store", `no answer within ${answerMillis / 1000} s`)
    else if (Exit.isFailure(looked.value)) yield* outages.begin("store", messageOf(looked.value.cause))
    else yield* outages.end("store")
    if (Option.isSome(looked)) look = undefined
    yield* Effect.sleep(everyMillis)
  }
})

/** Watches the store as long as the layer lives. */
export const layer: Layer.Layer<never, never, OwnOutages | Database> = Layer.effectDiscard(Effect.forkScoped(run))
