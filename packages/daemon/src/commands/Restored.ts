/** `headwater restored`: the store was put back from a copy that the store cannot tell from itself. */
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as WithSettings from "./WithSettings.ts"

export const restored = Command.make(
  "restored",
  { config: WithSettings.config },
  Effect.fnUntraced(function* () {
    const epoch = yield* StoreEpoch.renew
    yield* Console.log(`The store has the epoch ${epoch} now: readers of feeds are told that it was restored`)
  })
).pipe(
  Command.withDescription(
    "Say that the store was put back from a snapshot, a physical backup or a copied file: the feeds then refuse positions " +
      "from before, whose numbers may stand for other callbacks. Not needed after a copy by `headwater backup` or a dump by " +
      "`pg_dump`, which the store recognizes by itself"
  ),
  Command.withShortDescription("Say that the store was put back from a snapshot or a copied file"),
  Command.provide((input) => WithSettings.withStore(input))
)
