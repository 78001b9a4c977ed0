/**
 * Threads that fetch, prove and decode blocks long past, so that a chain that catches up, a replay, and the sync of an
 * address use more than one core. Blocks near the head are read where they are committed, which takes no message.
 *
 * A thread runs the code that the main thread would, by the same settings, on a share of the chain's connections and bytes.
 * It gives blocks and nothing else: whatever it does not give, the main thread reads, so that failures of nodes are judged in
 * one place, and a thread that ends loses nothing.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Capability from "../families/Capability.ts"
import type { ConnectedNode, NodeSettings } from "../families/Family.ts"
import * as BytesInFlight from "../families/node/BytesInFlight.ts"
import type { NodeError } from "../families/node/NodeError.ts"
import * as SteadyTime from "../SteadyTime.ts"
import * as TimeSlice from "../TimeSlice.ts"
import * as BlockMessage from "./internal/BlockMessage.ts"
import type { Question } from "./internal/ReaderMessage.ts"
import * as ReaderThread from "./internal/ReaderThread.ts"

export interface Options {
  /** How many threads there may be. */
  readonly threads: number
}

/** When threads read. */
export const Bounds = Context.Reference("@headwater/indexer/sync/ReaderThreads/Bounds", {
  defaultValue: () => ({
    /** Blocks below the head, as last seen, from which on threads read. */
    distance: 64,
    /**
     * How much CPU the blocks up to the head take at the pace so far, from which on threads read, in milliseconds: a thread
     * that starts loads and compiles what the main thread has, for as much CPU as a few thousand small blocks. By the clock a
     * busy machine or a slow node would start threads, of which neither gets faster.
     */
    worthMillis: 20_000,
    /** Blocks before the pace is judged: the first ones take longest, since their code is compiled. */
    paceBlocks: 64,
    /** The CPU that this process has taken, in milliseconds. */
    cpuMillis: () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1000
    },
    /** How long threads without blocks to read are kept, and how long one may give no sign of life, in milliseconds. */
    idleMillis: 30_000
  })
})

/** The nodes of a chain, connected by these settings, and what was found of them. */
export interface Connected {
  readonly connected: ConnectedNode
  readonly settings: NodeSettings
  readonly capabilities: ReadonlyArray<Capability.Capability>
}

export interface ReaderThreads {
  /** The nodes with sources whose blocks long past the threads read until the scope closes. */
  readonly reading: (chain: Chain.Chain, nodes: Connected) => Effect.Effect<ConnectedNode, never, Scope.Scope>
}

const none: ReaderThreads = { reading: (_, { connected }) => Effect.succeed(connected) }

/** The threads of this process; none unless there is a layer. */
export const Current = Context.Reference<ReaderThreads>("@headwater/indexer/sync/ReaderThreads", {
  defaultValue: () => none
})

/** After a block that a thread could not read the chain is read without threads: twice as long each time, in milliseconds. */
const [firstRestMillis, longestRestMillis] = [1_000, 60_000]

const readByThreads = Metric.counter("headwater_blocks_read_by_threads_total", {
  description: "Blocks that worker threads have read",
  incremental: true
})

/** What decides which parts a block has. */
const decisive: ReadonlySet<Capability.Name> = new Set([
  Capability.network,
  Capability.internalTransactions,
  "prevouts" as const
])

/** Blocks long past that are read in a row, without one near the head or a pause between them. */
interface Run {
  /** The CPU that the process had taken before. */
  readonly cpuMillis: number
  /** When the last one was asked for. */
  until: number
  blocks: number
  isWorth: boolean
}

const areAlike = (ours: ReadonlyArray<Capability.Capability>, others: ReadonlyArray<Capability.Capability>) =>
  ours.every(
    ({ available, name }) =>
      !decisive.has(name) || others.some((other) => other.name === name && other.available === available)
  )

/** Threads until the scope closes; they start with the first block that they may read. */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<ReaderThreads, never, Scope.Scope> {
  if (options.threads === 0) return none
  const { cpuMillis, distance, idleMillis, paceBlocks, worthMillis } = yield* Bounds
  const threads = yield* Effect.forEach(Array.from({ length: options.threads }), ReaderThread.make)
  /** When a thread was last asked. */
  let askedAt = 0
  let isTended = false

  /** Ends the threads once none has been asked for a while, and those that hang. */
  const tend = Effect.gen(function* () {
    while (true) {
      yield* Effect.sleep(idleMillis)
      const isIdle = threads.every((thread) => thread.reading() === 0)
      if (isIdle && (yield* SteadyTime.millis) - askedAt >= idleMillis) break
      yield* Effect.forEach(threads, ({ check }) => check, { discard: true })
    }
    isTended = false
    yield* Effect.forEach(threads, ({ end }) => end, { discard: true })
  })
  let isClosed = false
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.forEach(threads, ({ end }) => end, { discard: true })
  })
  const scope = yield* Effect.scope

  /** The thread with the fewest blocks to read, of those that may be asked. */
  const idlest = (nodes: ReaderThread.Nodes, now: number) =>
    threads
      .filter((thread) => thread.isReady(nodes, now))
      .reduce<ReaderThread.ReaderThread | undefined>(
        (least, thread) => (least === undefined || thread.reading() < least.reading() ? thread : least),
        undefined
      )

  const reading: ReaderThreads["reading"] = Effect.fnUntraced(function* (chain, { capabilities, connected, settings }) {
    const { sideSources, source } = connected
    const { wholeBlockAt } = sideSources
    const nodes: ReaderThread.Nodes = {
      chain,
      settings: {
        ...settings,
        announcements: false,
        parallel: Math.ceil(settings.parallel / threads.length),
        bytesInFlight: Math.floor((settings.bytesInFlight ?? BytesInFlight.defaultLimit) / threads.length)
      },
      isAlike: (others) => areAlike(capabilities, others)
    }
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const thread of threads) thread.disconnect(nodes)
      })
    )

    /** The newest height that the node has shown. */
    let newest: number | undefined
    /** Blocks of this chain that are being read. */
    let underWay = 0
    /** As in `Source`, of the blocks that threads read; undefined where the main thread does. */
    let blocksOfRequest: number | undefined
    let restsUntil = 0
    let rest = firstRestMillis
    const context = yield* Effect.context<never>()
    const given = Metric.withAttributes(readByThreads, { chain: Chain.nameOf(chain) })

    const head = Effect.tap(source.head, ({ height }) =>
      Effect.sync(() => {
        newest = Math.max(height, newest ?? height)
      })
    )

    const firstHead = yield* Effect.cachedWithTTL(head, "1 second")
    const isPastOf = (top: number, height: number) => height <= top - distance
    const isPast = (height: number) =>
      Effect.gen(function* () {
        return isPastOf(newest ?? (yield* firstHead).height, height)
      }).pipe(Effect.orElseSucceed(() => false))

    /** By a thread; undefined where none is to be asked, or gives the block. */
    const byThread = Effect.fnUntraced(function* (question: Question, height: number, now: number) {
      if (isClosed || now < restsUntil) return undefined
      askedAt = now
      if (!isTended) {
        isTended = true
        yield* Effect.forkIn(tend, scope)
      }
      const thread = idlest(nodes, now)
      if (thread === undefined) return undefined
      const read = yield* thread.read(nodes, question, height)
      if (read === undefined) {
        const failedAt = yield* SteadyTime.millis
        // Blocks that fail at the same time fail once.
        if (failedAt < restsUntil) return undefined
        restsUntil = failedAt + rest
        rest = Math.min(2 * rest, longestRestMillis)
        return undefined
      }
      rest = firstRestMillis
      given.updateUnsafe(1, context)
      blocksOfRequest = read.blocksOfRequest
      return yield* TimeSlice.run(() => BlockMessage.read(read.block))
    })

    const read = (question: Question, plain: (height: number) => Effect.Effect<Block, NodeError>) => {
      let run: Run | undefined
      const several = Effect.fnUntraced(function* (height: number) {
        if (!(yield* isPast(height))) {
          run = undefined
          return yield* plain(height)
        }
        const now = yield* SteadyTime.millis
        // A pause, as between two syncs, says nothing of how long blocks take.
        if (run === undefined || now - run.until >= idleMillis) {
          run = { cpuMillis: cpuMillis(), until: now, blocks: 0, isWorth: false }
        }
        run.until = now
        run.blocks++
        run.isWorth ||=
          run.blocks > paceBlocks && ((cpuMillis() - run.cpuMillis) / run.blocks) * (newest! - height) >= worthMillis
        const block = run.isWorth ? yield* byThread(question, height, now) : undefined
        if (block !== undefined) return block
        blocksOfRequest = undefined
        return yield* plain(height)
      })
      const readEnds = Effect.sync(() => {
        underWay--
      })
      return (height: number) =>
        Effect.suspend(() => {
          underWay++
          if (underWay > 1) return several(height)
          // A block alone gains nothing from a thread.
          if (newest !== undefined && !isPastOf(newest, height)) run = undefined
          return plain(height)
        }).pipe(Effect.ensuring(readEnds))
    }

    return {
      ...connected,
      source: {
        ...source,
        ...{ head, blockAt: read("block", source.blockAt) },
        ...(source.blocksOfRequest && { blocksOfRequest: () => blocksOfRequest ?? source.blocksOfRequest!() })
      },
      sideSources:
        wholeBlockAt === undefined ? sideSources : { ...sideSources, wholeBlockAt: read("whole", wholeBlockAt) }
    }
  })

  return { reading }
})

/** So many threads at most; with none, blocks are read where they are committed. */
export const layer = (options: Options): Layer.Layer<never> => Layer.effect(Current, make(options))
