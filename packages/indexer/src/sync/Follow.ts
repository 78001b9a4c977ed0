/**
 * Follows one chain: catches up with parallel fetches and ordered commits, stays at the head, and undoes what a
 * reorganisation has orphaned. Backfill and live are one path with one cursor.
 */

import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { ChainStatus } from "../families/node/ChainStatus.ts"
import { type NodeError, NodeInconsistent } from "../families/node/NodeError.ts"
import type { Head, Source } from "../families/Source.ts"
import type { ChainStore, Committed, Cursor, NotNext } from "../store/chain/ChainStore.ts"
import * as MissingParts from "../store/chain/MissingParts.ts"
import type { TokensUnknown } from "../store/chain/Tokens.ts"
import type { DatabaseError } from "../store/database/Database.ts"
import * as BlockTrace from "./BlockTrace.ts"
import * as Fork from "./Fork.ts"
import * as SyncMetrics from "./SyncMetrics.ts"
import * as TokenNames from "./TokenNames.ts"

export { UnrecoverableFork } from "./Fork.ts"

export interface Options {
  /** Where a new chain begins. */
  readonly start: number | "latest"
  readonly pollInterval: Duration.Duration
  /** Blocks fetched at the same time while catching up. */
  readonly concurrency: number
  /** Blocks that a reorganisation may undo. */
  readonly undoDepth: number
  /** Runs after each commit, outside its transaction. */
  readonly onCommitted?: (blocks: ReadonlyArray<Block>, committed: Committed) => Effect.Effect<void>
}

type SyncError = NodeError | NotNext | TokensUnknown | DatabaseError | Fork.UnrecoverableFork

/** What may share a commit: blocks, and transfers of all of them, so that others who write do not wait for long. */
const maxBlocks = 32
const maxTransfers = 5_000
/** A pause after each commit, far behind: the commit of several blocks costs little more than that of one small block. */
const batchDelay = Effect.sleep("10 millis")

/** The first of these blocks, and those after it that may share its commit. */
const sharingCommit = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  let sum = 0
  const end = blocks.findIndex(({ spends, transfers }, i) => {
    sum += transfers.length + spends.length
    return i > 0 && sum > maxTransfers
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

/** Waits between failed attempts: doubling from half a second, at most 15 seconds. */
const backoff = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("15 seconds")])

export interface Follow {
  /** One look at the node: commits what is new, undoes what is orphaned. */
  readonly step: Effect.Effect<void, SyncError>
  /**
   * Steps until it is interrupted, or fails with `UnrecoverableFork`. Every other failure is shown in {@link ChainStatus}
   * and tried again.
   */
  readonly run: Effect.Effect<never, Fork.UnrecoverableFork>
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
export const make = Effect.fn("Follow.make")(function* (source: Source, store: ChainStore, options: Options) {
  const statuses = yield* ChainStatus
  const { chain } = source
  const metrics = yield* SyncMetrics.make(chain)
  const trace = yield* BlockTrace.make(chain)
  const report = (change: Parameters<typeof statuses.update>[1]) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, change, now))

  const warnOfMissing = (blocks: ReadonlyArray<Block>) => {
    const lacking = blocks.filter(({ missing }) => missing !== undefined)
    const [first] = lacking
    if (first === undefined) return Effect.void
    const gap = { blocks: lacking.length, from: first.height, to: lacking.at(-1)!.height }
    return Effect.logWarning(`Committed, but ${MissingParts.tell(chain, gap, first.missing?.[0]?.reason)}`)
  }

  const commit = Effect.fnUntraced(function* (fetched: ReadonlyArray<Block>) {
    let rest = fetched
    while (rest.length > 0) {
      const blocks = sharingCommit(rest)
      const committed = yield* trace.committing(
        blocks,
        TokenNames.withTokens(source, store, blocks, (learned) => store.commit(blocks, learned))
      )
      const entered = rest.slice(0, committed.blocks)
      const last = entered.at(-1)!
      rest = rest.slice(committed.blocks)
      metrics.committed(committed.blocks)
      yield* warnOfMissing(entered)
      const now = yield* Clock.currentTimeMillis
      statuses.update(chain, { height: last.height, committedAt: now, blockTime: last.time }, now)
      if (options.onCommitted !== undefined) yield* options.onCommitted(entered, committed)
    }
  })

  /** Commits everything from `first` to the head, fetching ahead; what has come since the last commit shares the next. */
  const catchUp = (first: number, head: Head) =>
    Stream.range(first, head.height).pipe(
      Stream.mapEffect((height) => trace.fetching(height, source.blockAt(height)), {
        concurrency: options.concurrency
      }),
      Stream.buffer({ capacity: maxBlocks }),
      Stream.runForEachArray((blocks) =>
        Effect.andThen(commit(blocks), head.height - blocks.at(-1)!.height > maxBlocks ? batchDelay : Effect.void)
      )
    )

  const reorganise = Effect.fnUntraced(function* (cursor: Cursor) {
    const fork = yield* Fork.find(source, store, cursor, options.undoDepth)
    yield* Effect.logWarning(`Reorganisation: leaving blocks ${fork + 1} to ${cursor.height}`)
    yield* store.undo(fork)
    metrics.reorganised(cursor.height - fork)
    yield* report({ height: fork })
    return fork
  })

  const step: Follow["step"] = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const head = yield* source.head
    const cursor = yield* store.cursor
    if (cursor === undefined) {
      yield* report({ head: head.height })
      return yield* catchUp(options.start === "latest" ? head.height : options.start, head)
    }
    if (head.height < cursor.height) {
      const ours = yield* store.hashAt(head.height)
      const fits = ours !== undefined && Bytes.equal(ours, head.hash)
      const message = `The node went back to block ${head.height}; block ${cursor.height} is committed`
      return yield* report({
        head: head.height,
        state: "failing",
        message: fits ? message : `${message}, and block ${head.height} is not ours: waiting until it passes our height`
      })
    }
    if (!(yield* Fork.agrees(source, cursor, head))) {
      const fork = yield* reorganise(cursor)
      return yield* catchUp(fork + 1, head)
    }
    // What is final at the node is final here only where both have the same block.
    if (head.final !== undefined) yield* store.setFinal(Math.min(head.final, cursor.height))
    const behind = head.height - cursor.height
    yield* report({
      head: head.height,
      height: cursor.height,
      state: behind > 2 ? "syncing" : "following",
      message: undefined
    })
    if (behind > 0) {
      yield* catchUp(cursor.height + 1, head).pipe(
        Effect.catchTag(
          "NotNext",
          Effect.fnUntraced(function* (error) {
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
        )
      )
    }
    yield* report({ state: "following", message: undefined, atHeadAt: startedAt })
  })

  const reportFailure = Effect.fnUntraced(function* (error: SyncError) {
    const stopped = error._tag === "UnrecoverableFork"
    yield* report({ state: stopped ? "stopped" : "failing", message: error.message })
    yield* stopped ? Effect.logError(error.message) : Effect.logWarning(error.message)
  })

  const poll = Effect.sleep(options.pollInterval)
  const rest = source.announced === undefined ? poll : Effect.raceFirst(poll, source.announced)

  const run: Follow["run"] = Effect.gen(function* () {
    yield* report({ state: "starting" })
    return yield* step.pipe(
      Effect.tapError(reportFailure),
      Effect.retry({ schedule: backoff, while: (error) => error._tag !== "UnrecoverableFork" }),
      Effect.andThen(rest),
      Effect.forever
    )
  }).pipe(
    Effect.catchIf(
      (error): error is Exclude<SyncError, Fork.UnrecoverableFork> => error._tag !== "UnrecoverableFork",
      (error) => Effect.die(error)
    ),
    Effect.annotateLogs({ chain: nameOf(chain) })
  )

  return { step, run } satisfies Follow
})
