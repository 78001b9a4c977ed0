/** What blocks of each chain lack, and which were skipped, for the console: looked up in the store, and kept for a few seconds. */
import * as Chain from "@headwater/core/chains/Chain"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as SkippedBlocks from "@headwater/indexer/store/chain/SkippedBlocks"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Settings from "../settings/Settings.ts"

/** How long what was found is shown: the store has to count the blocks, and the page asks every second. */
const kept = "5 seconds"

/** What is missing, by the name of each chain that lacks something; empty where the store does not say. */
export const make = Effect.gen(function* () {
  const chains = Settings.chains(yield* Settings.Settings)
  const database = yield* Database
  const look = Effect.gen(function* () {
    const found = new Map<string, string>()
    for (const { chain } of chains) {
      const missing = yield* MissingParts.missingInternal(chain)
      const texts = [
        ...(missing === undefined ? [] : [MissingParts.describe(chain, missing)]),
        ...(yield* SkippedBlocks.of(chain)).map((skipped) => SkippedBlocks.describe(chain, skipped))
      ]
      if (texts.length > 0) found.set(Chain.nameOf(chain), texts.join(". "))
    }
    return found
  })
  return yield* Effect.cachedWithTTL(
    look.pipe(
      Effect.provideService(Database, database),
      Effect.orElseSucceed((): ReadonlyMap<string, string> => new Map())
    ),
    kept
  )
})
