/** What is followed of a UTXO chain beside its blocks: unconfirmed coins, and what wallets had before they were synced. */
import type { UtxoSource } from "@headwater/indexer/families/utxo/UtxoSource"
import type { ChainStore } from "@headwater/indexer/store/chain/ChainStore"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as WalletSync from "@headwater/indexer/sync/WalletSync"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ChainSettings } from "../settings/Settings.ts"

/** The longest time between two looks, in milliseconds. */
const mempoolMillis = 2_000

/** Runs in the surrounding scope; what fails here never stops the chain. */
export const run = Effect.fnUntraced(function* (source: UtxoSource, store: ChainStore, settings: ChainSettings) {
  const outbox = yield* Outbox
  const pollInterval = Duration.millis(Math.min(settings.pollMillis, mempoolMillis))
  const mempool = yield* MempoolWatch.make(source.chain, source.mempool, { pollInterval, onRecorded: outbox.wakeup })
  yield* Effect.forkScoped(mempool.run)
  const wallets = yield* WalletSync.make(source, source.search, store, { pollInterval, gapLimit: settings.gapLimit })
  yield* Effect.forkScoped(wallets.run)
})
