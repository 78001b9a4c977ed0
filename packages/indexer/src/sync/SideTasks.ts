/**
 * Tasks beside a chain's blocks: callbacks that are written in steps, transactions that were broadcast, unconfirmed coins, movements in doubt, what addresses and wallets had before they were
 * watched, transactions that were mined before anybody subscribed to them, payments to extended public keys beyond their windows, missing parts of blocks, old internal transactions.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ConnectedNode } from "../families/Family.ts"
import * as ChainReader from "../store/chain/ChainReader.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as InternalRetention from "../store/chain/InternalRetention.ts"
import * as WaitingWork from "../store/chain/WaitingWork.ts"
import * as AccountSync from "./AccountSync.ts"
import * as AddressSync from "./AddressSync.ts"
import * as BroadcastFollow from "./BroadcastFollow.ts"
import * as CoinSync from "./CoinSync.ts"
import * as EventResolution from "./EventResolution.ts"
import * as FanOutTask from "./FanOutTask.ts"
import * as MempoolWatch from "./MempoolWatch.ts"
import * as MissingPartSync from "./MissingPartSync.ts"
import * as PastPaymentSync from "./PastPaymentSync.ts"
import * as PastTransactionSync from "./PastTransactionSync.ts"
import * as UnusedProof from "./UnusedProof.ts"

export interface Options extends InternalRetention.Options {
  readonly pollMillis: number
  readonly gapLimit: number
  /** Blocks fetched at the same time. */
  readonly parallel: number
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
  const { accounts, broadcasting, coinSearch, mempool, minedOutputs, past, unusedAt, wholeBlockAt } = sideSources
  const { gapLimit, pollMillis } = options
  const coinInterval = Duration.millis(Math.min(pollMillis, coinMillis))
  const waitingWork = yield* WaitingWork.WaitingWork
  const paceOf = (kind: WaitingWork.Kind) => ({ pollInterval: coinInterval, wanted: waitingWork.next(chain, kind) })
  yield* Effect.forkScoped(FanOutTask.run(chain, store, waitingWork.next(chain, "fanOut")))
  const pastPayments = PastPaymentSync.make(source, store, paceOf("pastPayments"))
  yield* Effect.forkScoped(pastPayments.run)
  if (broadcasting !== undefined) {
    const follow = yield* BroadcastFollow.make(chain, broadcasting, paceOf("broadcasts"))
    yield* Effect.forkScoped(follow.run)
    const transactions = yield* PastTransactionSync.make(source, broadcasting, paceOf("pastTransactions"))
    yield* Effect.forkScoped(transactions.run)
  }
  if (minedOutputs !== undefined) {
    const resolution = yield* EventResolution.make(source, minedOutputs, store, {
      pollInterval: coinInterval
    })
    yield* Effect.forkScoped(resolution.run)
  }
  if (mempool !== undefined) {
    const watch = yield* MempoolWatch.make(chain, mempool, { pollInterval: coinInterval })
    yield* Effect.forkScoped(watch.run)
  }
  if (coinSearch !== undefined) {
    const coins = yield* CoinSync.make(source, coinSearch, store, {
      ...{ pollInterval: coinInterval, gapLimit }
    })
    yield* Effect.forkScoped(coins.run)
  }
  if (accounts !== undefined) {
    const wallets = yield* AccountSync.make(accounts, { pollInterval: Duration.millis(pollMillis), gapLimit })
    yield* Effect.forkScoped(wallets.run)
  }
  if (unusedAt !== undefined) {
    const proof = yield* UnusedProof.make(source, unusedAt, store, paceOf("unusedProof"))
    yield* Effect.forkScoped(proof.run)
  }
  if (past !== undefined) {
    const addresses = yield* AddressSync.make(source, past, store, {
      ...paceOf("pastReading"),
      concurrency: options.parallel
    })
    yield* Effect.forkScoped(addresses.run)
  }
  if (wholeBlockAt !== undefined) {
    const parts = yield* MissingPartSync.make(source, wholeBlockAt, store, paceOf("missingParts"))
    yield* Effect.forkScoped(parts.run)
  }
  if (options.internalTransactions) yield* InternalRetention.run(yield* ChainReader.make(chain), options)
})
