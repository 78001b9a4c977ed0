/**
 * One thread that reads blocks, as the main thread sees it. The thread runs while there are blocks to read; what it cannot
 * read, or had not read when it ended, is given back as not read.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import type * as Capability from "../../families/Capability.ts"
import type { NodeSettings } from "../../families/Family.ts"
import type { BlockMessage } from "./BlockMessage.ts"
import { ReaderMachine, type Thread } from "./ReaderMachine.ts"
import * as ReaderProgram from "./ReaderProgram.ts"

/** The nodes of a chain, as the thread is to connect to them, once for as long as the chain is followed. */
export interface Nodes {
  readonly chain: Chain.Chain
  readonly settings: NodeSettings
  /** Whether a thread has found of the nodes what the main thread has: only then are its blocks the same. */
  readonly isAlike: (capabilities: ReadonlyArray<Capability.Capability>) => boolean
}

export interface ReaderThread {
  /** Blocks that are being read. */
  readonly reading: () => number
  /** Whether the thread may be asked: not so for a while after it has ended by itself. */
  readonly isWell: (now: number) => boolean
  /** The block, or undefined where it was not read. */
  readonly read: (
    nodes: Nodes,
    question: ReaderProgram.Question,
    height: number
  ) => Effect.Effect<BlockMessage | undefined>
  /** Closes the connections to the nodes. */
  readonly disconnect: (nodes: Nodes) => void
  /** Ends the thread, which starts again with the next block. */
  readonly end: Effect.Effect<void>
}

/** How long a thread that has ended by itself is left alone: twice as long each time, in milliseconds. */
const [firstRestMillis, longestRestMillis] = [10_000, 600_000]

/** Why a thread has ended, without words that may come from a node. */
const reasonOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : typeof name === "string" ? name : "without a reason"
}

interface Running {
  readonly thread: Thread
  readonly connections: Map<Nodes, number>
}

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<ReaderThread> {
  const machine = yield* ReaderMachine
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const minimumLogLevel = yield* References.MinimumLogLevel
  const run = (effect: Effect.Effect<void>) => void Effect.runForkWith(context)(effect)

  /** What becomes of each question, by its id. */
  const asked = new Map<number, (block: BlockMessage | undefined) => void>()
  /** Connections by their number, which no other connection ever has. */
  const known = new Map<number, Nodes>()
  /** Nodes of which the thread has found something else than the main thread has. */
  const unlike = new Set<Nodes>()
  let lastId = 0
  let running: Running | undefined
  let restsUntil = 0
  let rest = firstRestMillis

  const answer = (id: number, block: BlockMessage | undefined) => {
    const resume = asked.get(id)
    asked.delete(id)
    if (asked.size === 0) running?.thread.unref()
    resume?.(block)
  }

  const failAll = () => {
    for (const id of [...asked.keys()]) answer(id, undefined)
  }

  const refuse = (nodes: Nodes) => {
    unlike.add(nodes)
    run(
      Effect.logDebug("A thread has found something else of the nodes: blocks are read without it").pipe(
        Effect.annotateLogs({ chain: nameOf(nodes.chain) })
      )
    )
  }

  const onReply = (reply: ReaderProgram.Reply) => {
    switch (reply.kind) {
      case "block":
        rest = firstRestMillis
        return answer(reply.id, reply.block)
      case "noBlock":
        return answer(reply.id, undefined)
      case "connected": {
        const nodes = known.get(reply.connection)
        if (nodes !== undefined && reply.capabilities !== undefined && !nodes.isAlike(reply.capabilities)) refuse(nodes)
        return
      }
      case "log":
        return run(Effect.annotateLogs(Effect.logWithLevel(reply.level)(reply.message), reply.annotations))
      case "counted": {
        const { attributes, count, counter, description } = reply
        const metric = Metric.counter(counter, { incremental: true, ...(description === undefined ? {} : { description }) })
        return run(Metric.update(Metric.withAttributes(metric, attributes), count))
      }
    }
  }

  const start = (): Running => {
    const thread = machine.start({ minimumLogLevel })
    const started: Running = { thread, connections: new Map() }
    let reason: string | undefined
    const ended = () => {
      if (running !== started) return
      running = undefined
      restsUntil = clock.currentTimeMillisUnsafe() + rest
      rest = Math.min(2 * rest, longestRestMillis)
      const lost = asked.size
      failAll()
      run(
        Effect.logWarning(
          `A thread that reads blocks has ended (${reason ?? "without a reason"}); the ${lost} blocks that it was reading are read again`
        )
      )
    }
    thread.unref()
    thread.on("message", (reply) => {
      if (running === started) onReply(reply)
    })
    thread.on("error", (error) => {
      reason = reasonOf(error)
      ended()
    })
    thread.on("exit", ended)
    return started
  }

  const connect = (started: Running, nodes: Nodes): number => {
    const open = started.connections.get(nodes)
    if (open !== undefined) return open
    const connection = ++lastId
    started.connections.set(nodes, connection)
    known.set(connection, nodes)
    started.thread.postMessage({
      ...{ kind: "connect", connection, chain: nameOf(nodes.chain) },
      settings: ReaderProgram.carry(nodes.settings)
    })
    return connection
  }

  const read: ReaderThread["read"] = (nodes, question, height) =>
    Effect.callback<BlockMessage | undefined>((resume) => {
      if (unlike.has(nodes)) return resume(Effect.undefined)
      running ??= start()
      const started = running
      const connection = connect(started, nodes)
      const id = ++lastId
      asked.set(id, (block) => resume(Effect.succeed(unlike.has(nodes) ? undefined : block)))
      started.thread.ref()
      started.thread.postMessage({ kind: "read", id, connection, question, height })
      return Effect.sync(() => {
        if (!asked.delete(id)) return
        if (asked.size === 0) started.thread.unref()
        if (running === started) started.thread.postMessage({ kind: "giveUp", id })
      })
    })

  return {
    reading: () => asked.size,
    isWell: (now) => running !== undefined || now >= restsUntil,
    read,
    disconnect: (nodes) => {
      unlike.delete(nodes)
      const connection = running?.connections.get(nodes)
      if (connection === undefined) return
      running?.connections.delete(nodes)
      known.delete(connection)
      running?.thread.postMessage({ kind: "disconnect", connection })
    },
    end: Effect.suspend(() => {
      const ending = running
      running = undefined
      known.clear()
      failAll()
      return ending === undefined ? Effect.void : Effect.promise(() => ending.thread.terminate())
    })
  }
})
