/** What the record of each chain lacks, for the console: looked up in the store, and kept for a few seconds. */
import * as Chain from "@headwater/core/chains/Chain"
import type { Status } from "@headwater/indexer/families/node/ChainStatus"
import { Database } from "@headwater/indexer/store/database/Database"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Effect from "effect/Effect"
import * as Settings from "../settings/Settings.ts"

/** How long what was found is shown: the store has to count the blocks, and the page asks every second. */
const kept = "5 seconds"

const none: GapReport.GapReport = { skipped: [], missing: undefined, notUnderstood: undefined, unresolved: undefined }

/** Tells the gaps of a chain whose status is given; where the store does not say, only what the status shows. */
export const make = Effect.gen(function* () {
  const chains = Settings.chains(yield* Settings.Settings)
  const database = yield* Database
  const look = Effect.forEach(chains, ({ chain }) =>
    Effect.map(GapReport.of(chain), (gaps) => [Chain.nameOf(chain), gaps] as const)
  )
  const found = yield* Effect.cachedWithTTL(
    look.pipe(
      Effect.map((all): ReadonlyMap<string, GapReport.GapReport> => new Map(all)),
      Effect.provideService(Database, database),
      Effect.orElseSucceed((): ReadonlyMap<string, GapReport.GapReport> => new Map())
    ),
    kept
  )
  return (chain: Chain.Chain, status: Status | undefined) =>
    Effect.map(found, (gaps) => GapReport.list(gaps.get(Chain.nameOf(chain)) ?? none, status?.unproven))
})
