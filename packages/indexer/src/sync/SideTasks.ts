/** Tasks beside a chain's blocks: unconfirmed coins, what wallets had before they were synced, old internal transactions. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ConnectedNode } from "../families/Family.ts"
import * as ChainReader from "../store/chain/ChainReader.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as InternalRetention from "../store/chain/InternalRetention.ts"
import { Outbox } from "../store/subscriptions/Outbox.ts"
import * as AccountSync from "./AccountSync.ts"
import * as MempoolWatch from "./MempoolWatch.ts"
import * as WalletSync from "./WalletSync.ts"

export interface Options extends InternalRetention.Options {
  readonly pollMillis: number
  readonly gapLimit: number
  /** Whether internal transactions are recorded. */
  readonly internalTransactions: boolean
}

/** The longest time between two looks at a mempool or for coins, in milliseconds. */
const coinMillis = 2_000

/**
 * Starts a task in the surrounding scope for each side source that the node has. A failure of a task never stops the
 * chain.
 */
export const run = Effect.fnUntraced(function* (
  { sideSources, source }: ConnectedNode,
  store: ChainStore,
  options: Options
) {
  const { chain } = source
  const { accounts, coinSearch, mempool } = sideSources
  const { gapLimit, pollMillis } = options
  const coinInterval = Duration.millis(Math.min(pollMillis, coinMillis))
  if (mempool !== undefined) {
    const outbox = yield* Outbox
    const watch = yield* MempoolWatch.make(chain, mempool, { pollInterval: coinInterval, onRecorded: outbox.wakeup })
    yield* Effect.forkScoped(watch.run)
  }
  if (coinSearch !== undefined) {
    const wallets = yield* WalletSync.make(source, coinSearch, store, { pollInterval: coinInterval, gapLimit })
    yield* Effect.forkScoped(wallets.run)
  }
  if (accounts !== undefined) {
    const wallets = yield* AccountSync.make(accounts, { pollInterval: Duration.millis(pollMillis), gapLimit })
    yield* Effect.forkScoped(wallets.run)
  }
  if (options.internalTransactions) yield* InternalRetention.run(yield* ChainReader.make(chain), options)
})
