/**
 * Fills in the parts that committed blocks lack, once one of the chain's nodes can give them, beside the blocks that come
 * and holding up none. Events that become known so get their callbacks, under the keys that they would have had.
 *
 * The nodes are asked about a few blocks at a time: the next ones in turn, and the newest, whose state a node keeps the
 * longest. As long as blocks are filled in, the next ones follow at once; else the waits grow. The rows of the missing
 * parts are all that has to be known: after a kill, and beside a reorganisation, a replay or another daemon, each block is
 * filled in once.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import type { SideSources } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as SteadyTime from "../SteadyTime.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as MissingParts from "../store/chain/MissingParts.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import { Retention } from "../store/subscriptions/Outbox.ts"
import { type Pace, retryForever } from "./RetryForever.ts"
import * as TokenNames from "./TokenNames.ts"

export interface Options extends Pace {
  /** The longest wait after a look that filled in nothing, unless the look itself took long; 1 minute by default. */
  readonly longestWait?: Duration.Duration
}

export interface MissingPartSync {
  /** One look at blocks that lack a part. Asks no node where there are none, or none that is to be asked for now. */
  readonly step: Effect.Effect<void, DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Blocks that nodes are asked about where nothing shows yet that they can give the part, and from then on. */
const [fewBlocks, moreBlocks] = [4, 16]
/** Blocks fetched at the same time, beside those that the chain itself fetches. */
const concurrency = 4
/** After a look that filled in nothing, nodes are left alone for so many times as long as the look took, at most … */
const restShare = 10
/** … this long. */
const longestRestMillis = 600_000

const filledBlocks = Metric.counter("headwater_missing_parts_filled_total", {
  description: "Blocks whose missing internal transactions were filled in",
  incremental: true
})

export const make = Effect.fn("MissingPartSync.make")(function* (
  source: Source,
  wholeBlockAt: NonNullable<SideSources["wholeBlockAt"]>,
  store: ChainStore,
  options: Options
) {
  const database = yield* Database
  const { finishedMillis } = yield* Retention
  const { chain } = source
  const filledMetric = Metric.withAttributes(filledBlocks, { chain: Chain.nameOf(chain) })
  const longestWait = Duration.toMillis(options.longestWait ?? Duration.minutes(1))
  const shortestWait = Math.min(Duration.toMillis(options.pollInterval), longestWait)
  /** The last block that was asked for in its turn. */
  let asked = -1
  /** When nodes are asked next, and the wait after that. */
  let again = { at: 0, wait: shortestWait }

  /** The block, where a node can give all of it. */
  const fetch = (height: number): Effect.Effect<ReadonlyArray<Block>> =>
    Effect.matchEffect(wholeBlockAt(height), {
      onSuccess: (block) =>
        block.missing === undefined
          ? Effect.succeed([block])
          : Effect.as(Effect.logDebug(`Block ${height}: ${block.missing[0]?.reason}`), []),
      onFailure: (error) => Effect.as(Effect.logDebug(`Block ${height}: ${error.message}`), [])
    })

  /**
   * The callbacks to add: of internal transactions, none of which can have been told. Where traces show coins as well, those
   * that have no callback, as long as the record of what was delivered is kept.
   */
  const callbacksOf = (block: Block, now: number) =>
    chain.evm?.retryables === true && block.time * 1000 >= now - finishedMillis ? true : "internal"

  /** Whether the block was entered; not so where it has left the chain. */
  const enter = Effect.fnUntraced(function* (block: Block) {
    const callbacks = callbacksOf(block, yield* Clock.currentTimeMillis)
    yield* TokenNames.withTokens(source, store, [block], (learned) =>
      // Internal transactions that the record did not lack stay as they are.
      store.reprocess(block, { callbacks, internalFrom: Number.MAX_SAFE_INTEGER, learned })
    )
    return true
  })

  const enterIfRecorded = (block: Block) =>
    Effect.catchIf(
      enter(block),
      (error) => error._tag !== "DatabaseError",
      (error) => Effect.as(Effect.logDebug(`Block ${block.height}: ${error.message}`), false)
    )

  /** How many of the blocks were filled in. None waits for another one that takes long. */
  const fill = Effect.fnUntraced(function* (heights: ReadonlyArray<number>) {
    const entered = yield* Stream.fromIterable(heights).pipe(
      Stream.mapEffect(fetch, { concurrency, unordered: true }),
      Stream.flattenIterable,
      Stream.mapEffect(enterIfRecorded),
      Stream.runCollect
    )
    const filled = entered.filter((one) => one).length
    yield* Metric.update(filledMetric, filled)
    return filled
  })

  /**
   * Fills in blocks upwards from where the last look ended, and then from the lowest one on, until none can be filled in.
   * How many, and those that could not.
   */
  const upwards = Effect.gen(function* () {
    let [all, filled, limit] = [0, 0, fewBlocks]
    let last: ReadonlyArray<number> = []
    do {
      const next = yield* MissingParts.heights(chain, { above: asked }, limit)
      const heights = next.length > 0 || asked < 0 ? next : yield* MissingParts.heights(chain, { above: -1 }, limit)
      last = heights
      if (heights.length === 0) break
      filled = yield* fill(heights)
      asked = heights.at(-1)!
      all += filled
      limit = moreBlocks
    } while (filled > 0)
    return { filled: all, last: new Set(last) }
  })

  /** Fills in blocks downwards from the newest one, but for those that were just asked for, until none can be filled in. */
  const downwards = Effect.fnUntraced(function* (justAsked: ReadonlySet<number>) {
    let [all, filled, limit, below] = [0, 0, fewBlocks, Number.MAX_SAFE_INTEGER]
    do {
      const heights = yield* MissingParts.heights(chain, { below }, limit)
      if (heights.length === 0) return all
      filled = yield* fill(heights.filter((height) => !justAsked.has(height)))
      below = heights.at(-1)!
      all += filled
      limit = moreBlocks
    } while (filled > 0)
    return all
  })

  const step: MissingPartSync["step"] = Effect.gen(function* () {
    const begun = yield* SteadyTime.millis
    if (begun < again.at) return
    const [any] = yield* MissingParts.heights(chain, { above: -1 }, 1)
    if (any === undefined) {
      again = { at: 0, wait: shortestWait }
      return
    }
    const up = yield* upwards
    const filled = up.filled + (yield* downwards(up.last))
    const now = yield* SteadyTime.millis
    if (filled > 0) {
      const missing = yield* MissingParts.missingInternal(chain)
      const left = missing === undefined ? "no block lacks them any more" : `${missing.blocks} blocks still lack them`
      yield* Effect.logInfo(`The internal transactions of ${filled} blocks have been filled in; ${left}`)
      again = { at: now, wait: shortestWait }
    } else {
      const rest = Math.min((now - begun) * restShare, longestRestMillis)
      again = { at: now + Math.max(again.wait, rest), wait: Math.min(again.wait * 2, longestWait) }
    }
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("MissingPartSync.step"))

  const run: MissingPartSync["run"] = retryForever(chain, "Filling in internal transactions", options, step)

  return { step, run } satisfies MissingPartSync
})
