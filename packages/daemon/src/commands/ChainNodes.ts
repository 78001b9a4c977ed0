/** The nodes of a configured chain, for commands that read blocks again. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Settings from "../settings/Settings.ts"

/** Connects to the nodes, whose blocks are read by as many threads as the settings say. */
export const open = Effect.fnUntraced(function* (chain: Chain, settings: Settings.ChainSettings) {
  // Loaded here only, with the sources of every family.
  const ChainConnection = yield* Effect.promise(() => import("@headwater/indexer/sync/ChainConnection"))
  const ReaderThreads = yield* Effect.promise(() => import("@headwater/indexer/sync/ReaderThreads"))
  return yield* Effect.provideServiceEffect(
    ChainConnection.open(chain, settings),
    ReaderThreads.Current,
    ReaderThreads.make({ threads: Settings.threads(yield* Settings.Settings) })
  )
})
