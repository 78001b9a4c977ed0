/**
 * Follows one chain: catches up with parallel fetches and ordered commits, stays at the head, and undoes what a
 * reorganisation has orphaned. Backfill and live are one path with one cursor.
 */
import type { Block } from "@headwater/core/Block"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ChainStatus } from "../families/node/ChainStatus.ts"
import { type NodeError, NodeInconsistent } from "../families/node/NodeError.ts"
import type { Head, Source } from "../families/Source.ts"
import type { ChainStore, Committed, Cursor, NotNext } from "../store/chain/ChainStore.ts"
import * as MissingParts from "../store/chain/MissingParts.ts"
import type { DatabaseError } from "../store/database/Database.ts"
import * as BlockTrace from "./BlockTrace.ts"
import * as SyncMetrics from "./SyncMetrics.ts"

/** The node's chain has left ours below what can or may be undone; an operator has to rewind the chain. */
export class UnrecoverableFork extends Schema.TaggedError<UnrecoverableFork>()("UnrecoverableFork", {
  message: Schema.String
}) {}

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

type SyncError = NodeError | NotNext | DatabaseError | UnrecoverableFork

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

/** What may share a commit: blocks, and moves of all of them, so that whoever else writes does not wait for long. */
const maxBlocks = 32
const maxMoves = 5_000
/** Far behind, blocks are let gather: a commit costs more than a small block in it does. */
const gathering = Effect.sleep("10 millis")

/** The first of these blocks, and those after it that may share its commit. */
const sharingCommit = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  let moves = 0
  const end = blocks.findIndex(({ spends, transfers }, i) => {
    moves += transfers.length + spends.length
    return i > 0 && moves > maxMoves
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

/** Waits between failed attempts: doubling from half a second, at most 15 seconds. */
const backoff = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("15 seconds")])

export interface Follow {
  /** One look at the node: commits what is new, undoes what is orphaned. */
  readonly step: Effect.Effect<void, SyncError>
  /**
   * Steps until it is interrupted, or fails with {@link UnrecoverableFork}. Everything else that goes wrong is told in
   * {@link ChainStatus} and tried again.
   */
  readonly run: Effect.Effect<never, UnrecoverableFork>
}

export const make = Effect.fn("Follow.make")(function* (source: Source, store: ChainStore, options: Options) {
  const statuses = yield* ChainStatus
  const { chain } = source
  const metrics = yield* SyncMetrics.make(chain)
  const trace = yield* BlockTrace.make(chain)
  const tell = (change: Parameters<typeof statuses.update>[1]) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, change, now))

  const inconsistent = (method: string, message: string) =>
    new NodeInconsistent({ node: nameOf(chain), method, message })

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
      const committed = yield* trace.committing(blocks, store.commit(blocks))
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
        Effect.andThen(commit(blocks), head.height - blocks.at(-1)!.height > maxBlocks ? gathering : Effect.void)
      )
    )

  /** Whether the node's chain has our block at the cursor. */
  const agrees = (cursor: Cursor, head?: Head) =>
    cursor.hash === undefined
      ? Effect.succeed(true)
      : Effect.map(head?.height === cursor.height ? Effect.succeed(head.hash) : source.hashAt(cursor.height), (hash) =>
          same(hash, cursor.hash!)
        )

  /**
   * The last block that the node's chain shares with ours. The node's word for one height is not enough: what it says
   * of the fork's child must fit, and its chain must reach as high as ours.
   */
  const findFork = Effect.fnUntraced(function* (cursor: Cursor) {
    const final = (yield* store.final) ?? -1
    for (let height = cursor.height - 1; cursor.height - height <= options.undoDepth; height--) {
      const ours = yield* store.hashAt(height)
      // Below the first block that was ever committed there is nothing to compare, and nothing to undo.
      if (ours === undefined) return height
      if (!same(ours, yield* source.hashAt(height))) continue
      if (height < final) {
        return yield* new UnrecoverableFork({
          message: `The node now disagrees with block ${height + 1}, although block ${final} was final`
        })
      }
      const child = yield* source.blockAt(height + 1)
      if (!same(child.parent, ours)) {
        return yield* inconsistent("blockAt", `block ${height + 1} does not have the parent that the node shows`)
      }
      return height
    }
    return yield* new UnrecoverableFork({
      message: `The node's chain differs from ours for more than ${options.undoDepth} blocks below ${cursor.height}`
    })
  })

  const reorganise = Effect.fnUntraced(function* (cursor: Cursor) {
    const fork = yield* findFork(cursor)
    yield* Effect.logWarning(`Reorganisation: leaving blocks ${fork + 1} to ${cursor.height}`)
    yield* store.undo(fork)
    metrics.reorganised(cursor.height - fork)
    yield* tell({ height: fork })
    return fork
  })

  const step: Follow["step"] = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const head = yield* source.head
    const cursor = yield* store.cursor
    if (cursor === undefined) {
      yield* tell({ head: head.height })
      return yield* catchUp(options.start === "latest" ? head.height : options.start, head)
    }
    if (head.height < cursor.height) {
      const ours = yield* store.hashAt(head.height)
      const fits = ours !== undefined && same(ours, head.hash)
      const message = `The node went back to block ${head.height}; block ${cursor.height} is committed`
      return yield* tell({
        head: head.height,
        state: "failing",
        message: fits ? message : `${message}, and block ${head.height} is not ours: waiting until it passes our height`
      })
    }
    if (!(yield* agrees(cursor, head))) {
      const fork = yield* reorganise(cursor)
      return yield* catchUp(fork + 1, head)
    }
    // What is final at the node is final here only where both have the same block.
    if (head.final !== undefined) yield* store.setFinal(Math.min(head.final, cursor.height))
    const behind = head.height - cursor.height
    yield* tell({
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
            if (error.height === reached.height + 1 && (yield* agrees(reached))) {
              return yield* inconsistent("blockAt", `block ${error.height} does not follow block ${reached.height}`)
            }
          })
        )
      )
    }
    yield* tell({ state: "following", message: undefined, atHeadAt: startedAt })
  })

  const tellFailure = Effect.fnUntraced(function* (error: SyncError) {
    const stopped = error._tag === "UnrecoverableFork"
    yield* tell({ state: stopped ? "stopped" : "failing", message: error.message })
    yield* stopped ? Effect.logError(error.message) : Effect.logWarning(error.message)
  })

  const poll = Effect.sleep(options.pollInterval)
  const rest = source.announced === undefined ? poll : Effect.raceFirst(poll, source.announced)

  const run: Follow["run"] = Effect.gen(function* () {
    yield* tell({ state: "starting" })
    return yield* step.pipe(
      Effect.tapError(tellFailure),
      Effect.retry({ schedule: backoff, while: (error) => error._tag !== "UnrecoverableFork" }),
      Effect.andThen(rest),
      Effect.forever
    )
  }).pipe(
    Effect.catchIf(
      (error): error is Exclude<SyncError, UnrecoverableFork> => error._tag !== "UnrecoverableFork",
      (error) => Effect.die(error)
    ),
    Effect.annotateLogs({ chain: nameOf(chain) })
  )

  return { step, run } satisfies Follow
})
