/**
 * One thread that reads blocks, as the main thread sees it. The thread runs while there are blocks to read; what it cannot
 * read, or had not read when it ended, is given back as not read. Nobody waits for a thread that starts.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Capability from "../../families/Capability.ts"
import type { NodeSettings } from "../../families/Family.ts"
import * as SteadyTime from "../../SteadyTime.ts"
import { ReaderMachine, type Thread } from "./ReaderMachine.ts"
import * as ReaderMessage from "./ReaderMessage.ts"

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
  /** Whether the thread has connected to the nodes; where it has not, it begins to, unless it has just failed. */
  readonly isReady: (nodes: Nodes, now: number) => boolean
  /** The block, or undefined where it was not read. The thread has to be ready. */
  readonly read: (
    nodes: Nodes,
    question: ReaderMessage.Question,
    height: number
  ) => Effect.Effect<ReaderMessage.Given | undefined>
  /** Closes the connections to the nodes. */
  readonly disconnect: (nodes: Nodes) => void
  /** Asks the thread for a sign of life, and gives it up where it has given none since the last time that this was asked. */
  readonly check: Effect.Effect<void>
  /** Ends the thread, which starts again with the next block. */
  readonly end: Effect.Effect<void>
}

/** How long a thread that has ended by itself is left alone: twice as long each time, in milliseconds. */
const [firstRestMillis, longestRestMillis] = [10_000, 600_000]
/** How long a thread that could not connect, or has found something else, is left alone with the nodes. */
const refusedMillis = 60_000

/** Why a thread has ended, without words that may come from a node. */
const reasonOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : typeof name === "string" ? name : "without a reason"
}

interface Connection {
  readonly number: number
  /** When a connection that was refused is tried again. */
  state: "connecting" | "ready" | { readonly again: number }
}

interface Running {
  readonly thread: Thread
  readonly connections: Map<Nodes, Connection>
  /** Whether nothing has come from the thread since it was asked for a sign of life. */
  isSilent: boolean
  /** What follows from the thread's end. */
  readonly ended: (reason: string) => void
}

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<ReaderThread> {
  const machine = yield* ReaderMachine
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const minimumLogLevel = yield* References.MinimumLogLevel
  const run = (effect: Effect.Effect<void>) => void Effect.runForkWith(context)(effect)

  /** What becomes of each question, by its id. */
  const asked = new Map<number, (block: ReaderMessage.Given | undefined) => void>()
  let lastId = 0
  let running: Running | undefined
  let restsUntil = 0
  let rest = firstRestMillis

  const answer = (id: number, block: ReaderMessage.Given | undefined) => {
    const resume = asked.get(id)
    asked.delete(id)
    if (asked.size === 0) running?.thread.unref()
    resume?.(block)
  }

  const failAll = () => {
    for (const id of [...asked.keys()]) answer(id, undefined)
  }

  const connected = (number: number, capabilities: ReadonlyArray<Capability.Capability> | undefined) => {
    for (const [nodes, connection] of running?.connections ?? []) {
      if (connection.number !== number) continue
      const isAlike = capabilities !== undefined && nodes.isAlike(capabilities)
      connection.state = isAlike ? "ready" : { again: SteadyTime.millisBy(clock) + refusedMillis }
      if (isAlike) return
      const why =
        capabilities === undefined ? "could not connect to the nodes" : "has found something else of the nodes"
      return run(
        Effect.annotateLogs(
          Effect.logInfo(`A thread that reads blocks ${why}: blocks are read without it for a while`),
          {
            chain: nameOf(nodes.chain)
          }
        )
      )
    }
  }

  const onReply = (reply: ReaderMessage.Reply) => {
    switch (reply.kind) {
      case "alive":
        return
      case "block":
        rest = firstRestMillis
        return answer(reply.id, reply)
      case "noBlock":
        return answer(reply.id, undefined)
      case "connected":
        return connected(reply.connection, reply.capabilities)
      case "log":
        return run(Effect.annotateLogs(Effect.logWithLevel(reply.level)(reply.message), reply.annotations))
      case "counted": {
        const { attributes, count, counter, description } = reply
        const metric = Metric.counter(counter, {
          incremental: true,
          ...(description === undefined ? {} : { description })
        })
        return run(Metric.update(Metric.withAttributes(metric, attributes), count))
      }
    }
  }

  const leaveAlone = (reason: string) => {
    running = undefined
    restsUntil = SteadyTime.millisBy(clock) + rest
    rest = Math.min(2 * rest, longestRestMillis)
    const lost = asked.size
    failAll()
    run(
      Effect.logWarning(
        `A thread that reads blocks has ended (${reason}); the ${lost} blocks that it was reading are read again`
      )
    )
  }

  const start = (): Running => {
    const thread = machine.start({ minimumLogLevel })
    const ended = (reason: string) => {
      if (running === started) leaveAlone(reason)
    }
    const started: Running = { thread, connections: new Map(), isSilent: false, ended }
    thread.unref()
    thread.on("message", (reply) => {
      if (running !== started) return
      started.isSilent = false
      onReply(reply)
    })
    thread.on("error", (error) => ended(reasonOf(error)))
    thread.on("exit", () => ended("without a reason"))
    return started
  }

  const disconnect = (nodes: Nodes) => {
    const connection = running?.connections.get(nodes)
    if (connection === undefined) return
    running!.connections.delete(nodes)
    running!.thread.postMessage({ kind: "disconnect", connection: connection.number })
  }

  const connect = (nodes: Nodes) => {
    // Where the machine has no room for another thread.
    const started = Result.try(() => running ?? start())
    if (Result.isFailure(started)) return leaveAlone(reasonOf(started.failure))
    running = started.success
    const connection = ++lastId
    running.connections.set(nodes, { number: connection, state: "connecting" })
    running.thread.postMessage({
      ...{ kind: "connect", connection, chain: nameOf(nodes.chain) },
      settings: ReaderMessage.carry(nodes.settings)
    })
  }

  const isReady: ReaderThread["isReady"] = (nodes, now) => {
    if (running === undefined && now < restsUntil) return false
    const state = running?.connections.get(nodes)?.state
    if (state === "ready") return true
    if (state === "connecting" || (state !== undefined && now < state.again)) return false
    disconnect(nodes)
    connect(nodes)
    return false
  }

  const read: ReaderThread["read"] = (nodes, question, height) =>
    Effect.callback<ReaderMessage.Given | undefined>((resume) => {
      const started = running
      const connection = started?.connections.get(nodes)
      if (started === undefined || connection === undefined) return resume(Effect.undefined)
      const id = ++lastId
      asked.set(id, (block) => resume(Effect.succeed(block)))
      started.thread.ref()
      started.thread.postMessage({ kind: "read", id, connection: connection.number, question, height })
      return Effect.sync(() => {
        if (!asked.delete(id)) return
        if (asked.size === 0) started.thread.unref()
        if (running === started) started.thread.postMessage({ kind: "giveUp", id })
      })
    })

  return {
    reading: () => asked.size,
    isReady,
    read,
    disconnect,
    check: Effect.suspend(() => {
      const checked = running
      if (checked === undefined) return Effect.void
      if (checked.isSilent) {
        checked.ended("no sign of life")
        return Effect.promise(() => checked.thread.terminate())
      }
      checked.isSilent = true
      checked.thread.postMessage({ kind: "ping" })
      return Effect.void
    }),
    end: Effect.suspend(() => {
      const ending = running
      running = undefined
      failAll()
      return ending === undefined ? Effect.void : Effect.promise(() => ending.thread.terminate())
    })
  }
})
