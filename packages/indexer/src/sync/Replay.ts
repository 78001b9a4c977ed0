/**
 * Enters a range of committed blocks again, along the way that they came: the node's block, decoded, written. How far it
 * has come is a row, so that a replay which was killed goes on where it was.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { BlockMissing } from "../families/node/NodeError.ts"
import type { MinedOutputs } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as ReplayProgress from "../store/chain/ReplayProgress.ts"
import * as SkippedBlocks from "../store/chain/SkippedBlocks.ts"
import * as StoredBlocks from "../store/chain/StoredBlocks.ts"
import { Retention } from "../store/subscriptions/Outbox.ts"
import * as Availability from "./Availability.ts"
import * as BlocksInOrder from "./internal/BlocksInOrder.ts"
import * as SubscribedInputs from "./SubscribedInputs.ts"
import * as TokenNames from "./TokenNames.ts"

export type { Range } from "../store/chain/ReplayProgress.ts"

/** The range cannot be replayed. */
export class CannotReplay extends Schema.TaggedError<CannotReplay>()("CannotReplay", { message: Schema.String }) {}

export interface Options {
  /** Blocks fetched at the same time. */
  readonly concurrency: number
  /** As in `ChainStore.reprocess`. */
  readonly internalFrom: number | undefined
  /** Add callbacks also for blocks so old that what was delivered for them has been forgotten, and goes out again. */
  readonly forgotten: boolean
  /** Asked what inputs spend, where callbacks are added and the node's blocks do not show that. */
  readonly minedOutputs?: MinedOutputs | undefined
  /** Runs after each block, with the number of callbacks that it added. */
  readonly onReplayed?: (callbacks: number) => Effect.Effect<void>
}

/** Blocks between two notes of the position: a block that is replayed a second time after a kill changes nothing. */
const noteEvery = 32

/** The replay of a chain that was begun and has not ended, and the next height that it is for. */
export const interrupted = Effect.fn("Replay.interrupted")(ReplayProgress.find)

/**
 * Notes that this range is to be replayed; the height at which it begins or, if it was begun before, goes on. Another
 * range that was begun is given up.
 */
export const begin = Effect.fn("Replay.begin")(function* (chain: Chain.Chain, range: ReplayProgress.Range) {
  const { callbacks, from, to } = range
  const name = Chain.nameOf(chain)
  const { first, last, time } = yield* StoredBlocks.of(chain)
  if (first === undefined || last === undefined || time === undefined) {
    return yield* new CannotReplay({ message: `Nothing of ${name} is stored yet` })
  }
  if (from < first || Math.max(from, to) > last) {
    return yield* new CannotReplay({
      message:
        `Blocks ${from} to ${to} cannot be replayed: blocks ${first} to ${last} of ${name} are stored` +
        (from < first ? `; to begin lower, rewind the chain to block ${from - 1}` : "")
    })
  }
  if (from > to) {
    return yield* new CannotReplay({ message: `A range of blocks cannot end before its begin: ${from} to ${to}` })
  }
  const skipped = (yield* SkippedBlocks.of(chain)).find((range) => range.from <= to && range.to >= from)
  if (skipped !== undefined) {
    return yield* new CannotReplay({ message: `Blocks ${from} to ${to}: ${SkippedBlocks.describe(chain, skipped)}` })
  }
  const before = yield* interrupted(chain)
  if (before !== undefined && before.from === from && before.to === to && before.callbacks === callbacks) {
    return before.next
  }
  yield* ReplayProgress.begin(chain, { ...range, next: from })
  return from
})

/** That the nodes have a block no more, which they name by its hash: from where on they have blocks. */
const forgotten = (source: Source, height: number, to: number) =>
  Effect.fnUntraced(function* ({ message }: BlockMissing) {
    const first = yield* Effect.orElseSucceed(Availability.firstAbove(source, height, to), () => undefined)
    return yield* new CannotReplay({
      message:
        `Block ${height} cannot be replayed: ${message}` +
        (first === undefined ? "" : `; the nodes have blocks from ${first} on`)
    })
  })

/**
 * Replays a range that has begun from `next` on, and notes that it has ended; the callbacks that were added, and the
 * blocks that were too old to add any.
 */
export const run = Effect.fn("Replay.run")(function* (
  source: Source,
  store: ChainStore,
  range: ReplayProgress.Range,
  next: number,
  options: Options
) {
  const { callbacks, to } = range
  const { finishedMillis } = yield* Retention
  const added = yield* Ref.make(0)
  const without = yield* Ref.make(0)
  const reprocess = Effect.fnUntraced(function* (block: Block) {
    // What is forgotten while a long replay goes on is too old from then on.
    const oldest = (yield* Clock.currentTimeMillis) - finishedMillis
    const tooOld = callbacks && !options.forgotten && block.time * 1000 < oldest
    if (tooOld) yield* Ref.update(without, (count) => count + 1)
    return yield* TokenNames.withTokens(source, store, [block], (learned) =>
      store.reprocess(block, { callbacks: callbacks && !tooOld, internalFrom: options.internalFrom, learned })
    )
  })
  const withInputs = SubscribedInputs.make(source.chain, options.minedOutputs)
  const blockAt = Effect.fnUntraced(function* (height: number) {
    const block = yield* Effect.catchTag(source.blockAt(height), "BlockMissing", forgotten(source, height, to))
    if (!callbacks || !SubscribedInputs.isIncomplete(block)) return block
    return (yield* withInputs(block)).block
  })
  yield* BlocksInOrder.fetch(source, blockAt, { first: next, last: to, concurrency: options.concurrency }).pipe(
    Stream.runForEach(
      Effect.fnUntraced(function* (block) {
        const found = yield* reprocess(block)
        yield* Ref.update(added, (count) => count + found)
        if (block.height % noteEvery === 0) yield* ReplayProgress.advance(source.chain, range, block.height + 1)
        if (options.onReplayed !== undefined) yield* options.onReplayed(found)
      })
    )
  )
  yield* ReplayProgress.end(source.chain, range)
  return { callbacks: yield* Ref.get(added), blocksWithoutCallbacks: yield* Ref.get(without) }
})
