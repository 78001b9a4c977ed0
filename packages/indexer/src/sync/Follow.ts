/**
 * Follows one chain: catches up with parallel fetches and ordered commits, stays at the head, and undoes what a
 * reorganisation has orphaned. Backfill and live are one path with one cursor.
 */

import * as Bytes from "@headwater/core/Bytes"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ChainStatus } from "../families/node/ChainStatus.ts"
import { NodeInconsistent } from "../families/node/NodeError.ts"
import type { Head, Source } from "../families/Source.ts"
import type { ChainStore, Cursor, NotNext } from "../store/chain/ChainStore.ts"
import * as Fence from "../store/database/Fence.ts"
import * as CatchingUp from "./CatchingUp.ts"
import * as Fork from "./Fork.ts"
import * as AnnouncedBlock from "./internal/AnnouncedBlock.ts"
import * as CatchUp from "./internal/CatchUp.ts"
import * as Finality from "./internal/Finality.ts"
import * as NextLook from "./internal/NextLook.ts"
import { isStoreAway, longestWaitMillis } from "./internal/StoreAway.ts"
import * as SyncFailure from "./internal/SyncFailure.ts"
import * as SyncMetrics from "./SyncMetrics.ts"

export { FollowedElsewhere } from "../store/database/Fence.ts"
export { UnrecoverableFork } from "./Fork.ts"

export interface Options extends CatchUp.Options {
  /** Where a new chain begins. */
  readonly start: number | "latest"
  readonly pollInterval: Duration.Duration
  /** Blocks that a reorganisation may undo. */
  readonly undoDepth: number
  /** Runs when blocks were undone, or may have been. */
  readonly onUndone?: Effect.Effect<void>
}

/** How often the log tells how far a chain is that catches up. */
const progressInterval = "30 seconds"

/** Whether another try may help: unless another daemon follows the chain, or an operator has to act. */
const isPassing = (
  error: SyncFailure.SyncError | Fence.FollowedElsewhere
): error is Exclude<SyncFailure.SyncError, Fork.UnrecoverableFork> =>
  error._tag !== "FollowedElsewhere" && error._tag !== "UnrecoverableFork"

/** The first wait after a failure, and the longest, where it is not the store that is away: in milliseconds. */
const firstWait = 500
const longestWait = 15_000

/** How long is waited after so many failures in a row, between which no block was committed. */
const waitAfter = (failures: number, error: SyncFailure.SyncError): Duration.Duration =>
  Duration.millis(Math.min(firstWait * 2 ** (failures - 1), isStoreAway(error) ? longestWaitMillis : longestWait))

export interface Follow {
  /** One look at the node: commits what is new, undoes what is orphaned. */
  readonly step: Effect.Effect<void, SyncFailure.SyncError>
  /**
   * Steps until it is interrupted, or fails where another try is of no use: with `UnrecoverableFork`, or with
   * `FollowedElsewhere` under a {@link Fence}. Every other failure is shown in {@link ChainStatus} and tried again.
   */
  readonly run: Effect.Effect<never, Fork.UnrecoverableFork | Fence.FollowedElsewhere>
}

/**
 * Follows the chain of a source into its part of the store.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
 * import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
 * import { Database } from "@headwater/indexer/store/database/Database"
 * import * as Follow from "@headwater/indexer/sync/Follow"
 * import * as Duration from "effect/Duration"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const hashOf = (height: number) => new Uint8Array(32).fill(height + 1)
 * const blockOf = (height: number) => ({
 *   ...{ height, hash: hashOf(height), parent: hashOf(height - 1), time: height },
 *   ...{ transactions: [], transfers: [], spends: [] }
 * })
 * const followed = Effect.gen(function* () {
 *   const chain = yield* Effect.fromResult(Chain.find("ethereum", "devnet"))
 *   const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
 *   const source = {
 *     chain,
 *     head: Effect.succeed({ height: 9, hash: hashOf(9), final: undefined }),
 *     hashAt: (height: number) => Effect.succeed(hashOf(height)),
 *     blockAt: (height: number) => Effect.succeed(blockOf(height)),
 *     capabilities: Effect.succeed([])
 *   }
 *   const options = { start: 0, pollInterval: Duration.seconds(2), concurrency: 4, undoDepth: 64 }
 *   const { step } = yield* Follow.make(source, store, options)
 *   yield* step
 *   return (yield* store.cursor)?.height
 * })
 * const file = join(mkdtempSync(join(tmpdir(), "headwater-")), "store.db")
 * const layer = Layer.merge(ChainStatus.layer, Database.layer({ kind: "sqlite", file }))
 * await Effect.runPromise(followed.pipe(Effect.scoped, Effect.provide(layer))) // => 9
 * ```
 */
export const make = Effect.fn("Follow.make")(function* (given: Source, store: ChainStore, options: Options) {
  const statuses = yield* ChainStatus
  const { messageOf, source } = SyncFailure.make(given, store, options.start)
  const { chain } = source
  const metrics = yield* SyncMetrics.make(chain)
  const catchUp = yield* CatchUp.make(source, store, metrics, options)
  const announced = AnnouncedBlock.make(source, store, catchUp)
  const report = (change: Parameters<typeof statuses.update>[1]) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, change, now))

  /** The node's newest block, as last seen. */
  let newest: Head | undefined

  const stateAt = (behind: number) => (behind > CatchingUp.atHead ? "syncing" : "following")
  const isFailing = () => statuses.get(chain)?.state === "failing"

  /** The state with blocks to commit. A chain that fails does so until something succeeds: a commit, or the end of the step. */
  const stateBefore = (behind: number) => (isFailing() ? {} : ({ state: stateAt(behind), message: undefined } as const))

  const begin = Effect.fnUntraced(function* (head: Head) {
    const first = options.start === "latest" ? head.height : options.start
    yield* report({ head: head.height, ...stateBefore(head.height - first) })
    yield* catchUp.from(first, head)
  })

  /** Takes note of what is final by a head, where no commit has. */
  const settle = Effect.fnUntraced(function* (head: Head, cursor: Cursor) {
    const final = yield* Finality.of(store, head, [cursor])
    if (final !== undefined && final > (cursor.final ?? -1)) yield* store.setFinal(final)
  })

  /** The node lags, or shows another chain that is still shorter than ours: in neither case is anything undone. */
  const reportShorterChain = Effect.fnUntraced(function* (cursor: Cursor, head: Head) {
    const ours = yield* store.hashAt(head.height)
    const message = `The node went back to block ${head.height}; block ${cursor.height} is committed`
    const isOther = ours !== undefined && !Bytes.equal(ours, head.hash)
    const final = isOther ? cursor.final : undefined
    const other = `${message}, and the node's block ${head.height} is another one`
    yield* report({
      head: head.height,
      state: "failing",
      message: !isOther
        ? message
        : final === undefined || final < head.height
          ? `${other}: waiting until the node's chain is as long as ours`
          : `${other}, although block ${final} was final. ${yield* Fork.remedy(source, store, head.height)}`
    })
  })

  /** A node that has come to be of another network shows other blocks as well: nothing is undone for these. */
  const refuseOtherNetwork = Effect.gen(function* () {
    const network = yield* source.network ?? Effect.undefined
    if (network === undefined || network.available) return
    return yield* new NodeInconsistent({
      node: nameOf(chain),
      method: "network",
      message: `The node has other blocks than the store, and nothing is undone for them, since ${network.detail}`
    })
  })

  /** Undoes the blocks that the node's chain has left, and enters the node's in their place. */
  const reorganise = Effect.fnUntraced(function* (cursor: Cursor, head: Head) {
    yield* refuseOtherNetwork
    const fork = yield* Fork.find(source, store, cursor, options.undoDepth)
    yield* Effect.logWarning(`Reorganisation: leaving blocks ${fork + 1} to ${cursor.height}`)
    // A store that fails may have undone the blocks all the same.
    yield* Effect.ensuring(store.undo(fork, cursor.hash), options.onUndone ?? Effect.void)
    metrics.reorganised(cursor.height - fork)
    yield* report({ height: fork })
    yield* catchUp.from(fork + 1, head)
  })

  /** Fails where the node's next block does not follow ours although the node's chain has our block. */
  const refuseInconsistent = Effect.fnUntraced(function* (error: NotNext) {
    const reached = (yield* store.cursor)!
    // Otherwise the chain was reorganised meanwhile, which the next step sees.
    if (error.height === reached.height + 1 && (yield* Fork.agrees(source, reached))) {
      return yield* new NodeInconsistent({
        node: nameOf(chain),
        method: "blockAt",
        message: `block ${error.height} does not follow block ${reached.height}`
      })
    }
  })

  /** Goes on from the cursor, whose block the node's chain has. */
  const advance = Effect.fnUntraced(function* (cursor: Cursor, head: Head) {
    const behind = head.height - cursor.height
    yield* report({ head: head.height, height: cursor.height, ...stateBefore(behind) })
    if (behind > 0) yield* Effect.catchTag(catchUp.from(cursor.height + 1, head), "NotNext", refuseInconsistent)
  })

  const reportResting = Effect.flatMap(source.resting ?? Effect.succeed([]), (resting) => report({ resting }))

  const step: Follow["step"] = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const entered = yield* announced.enter
    if (entered !== undefined) {
      newest = entered
      return yield* report({ head: entered.height, state: "following", message: undefined, atHeadAt: startedAt })
    }
    const head = yield* source.head
    yield* announced.noteLook
    newest = head
    const cursor = yield* store.cursor
    if (cursor !== undefined && head.height < cursor.height) {
      if (announced.mayBeAhead()) return
      return yield* reportShorterChain(cursor, head)
    }
    if (cursor === undefined) yield* begin(head)
    else if (yield* Fork.agrees(source, cursor, head)) yield* advance(cursor, head)
    else yield* reorganise(cursor, head)
    // Where there was more than our cursor, a commit has taken note of it.
    if (cursor?.height === head.height) yield* settle(head, cursor)
    yield* report({ state: "following", message: undefined, atHeadAt: startedAt })
  }).pipe(Effect.ensuring(reportResting))

  const reportFailure = Effect.fnUntraced(function* (error: SyncFailure.SyncError) {
    const message = yield* messageOf(error, newest)
    const said = statuses.get(chain)?.message
    yield* report({ state: "failing", message })
    // A store that is away fails often, and alike.
    if (!isStoreAway(error) || message !== said) yield* Effect.logWarning(message)
  })

  const logProgress = Effect.gen(function* () {
    const status = statuses.get(chain)
    const catchingUp = status && CatchingUp.of(status)
    if (catchingUp !== undefined) yield* Effect.logInfo(`Catching up: ${CatchingUp.describe(catchingUp)}`)
  }).pipe(Effect.delay(progressInterval), Effect.forever)

  const nextLook = NextLook.make(options.pollInterval, source.announced)

  const run: Follow["run"] = Effect.gen(function* () {
    // A chain that was observed until now has a state already.
    if (!isFailing() && statuses.get(chain)?.head === undefined) yield* report({ state: "starting" })
    /** Failures in a row, and where the chain stood at the last one: each block that is committed ends the row. */
    let failures = 0
    let failedAt: number | undefined
    const waitBehind = (error: SyncFailure.SyncError) =>
      Effect.suspend(() => {
        const height = statuses.get(chain)?.height
        failures = height === failedAt ? failures + 1 : 1
        failedAt = height
        return Effect.sleep(waitAfter(failures, error))
      })
    const waitForNews = Effect.suspend(() => {
      failures = 0
      return nextLook(newest)
    })
    return yield* step.pipe(
      Effect.andThen(waitForNews),
      Effect.mapError((error) => Fence.refusal(error) ?? error),
      Effect.catchIf(isPassing, (error) => Effect.andThen(reportFailure(error), waitBehind(error))),
      Effect.forever,
      Effect.raceFirst(logProgress)
    )
  }).pipe(Effect.annotateLogs({ chain: nameOf(chain) }))

  return { step, run } satisfies Follow
})
