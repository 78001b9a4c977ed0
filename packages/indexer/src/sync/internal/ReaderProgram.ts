/**
 * What a thread that reads blocks does: connects to the nodes of chains as the main thread has, by the same settings and the
 * same code, and answers each question with the block, or with that it has none. Whatever else there is to say of a block
 * that was not read, the main thread finds out by reading it.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import type { ConnectedNode } from "../../families/Family.ts"
import * as Families from "../../families/families.ts"
import * as SharedRequests from "../../families/node/SharedRequests.ts"
import * as BlockMessage from "./BlockMessage.ts"
import * as BlocksInOrder from "./BlocksInOrder.ts"
import * as ReaderMessage from "./ReaderMessage.ts"

export interface Port {
  readonly on: (event: "message", listener: (request: ReaderMessage.Request) => void) => unknown
  readonly postMessage: (reply: ReaderMessage.Reply, transfer: ReadonlyArray<ArrayBuffer>) => void
}

/** Lines of the log go to the main thread. */
const loggerTo = (port: Port) =>
  Logger.make(({ fiber, logLevel, message }) => {
    if (logLevel === "All" || logLevel === "None") return
    const words = (Array.isArray(message) ? message : [message]).map(String).join(" ")
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    port.postMessage({ kind: "log", level: logLevel, message: words, annotations: { ...annotations } }, [])
  })

/** Says what counters have counted since the last time. */
const counting = (port: Port) => {
  const told = new Map<string, number>()
  return Effect.map(Metric.snapshot, (snapshots) => {
    for (const { attributes, description, id, ...metric } of snapshots) {
      if (metric.type !== "Counter") continue
      const key = JSON.stringify([id, attributes])
      const now = Number(metric.state.count)
      const count = now - (told.get(key) ?? 0)
      if (count === 0) continue
      told.set(key, now)
      port.postMessage({ kind: "counted", counter: id, description, attributes: { ...attributes }, count }, [])
    }
  })
}

interface Connection {
  readonly node: Deferred.Deferred<ConnectedNode | undefined>
  readonly fiber: Fiber.Fiber<void>
}

/** Serves requests until it is interrupted. */
export const serve = Effect.fnUntraced(
  function* (port: Port) {
    const requests = yield* Queue.unbounded<ReaderMessage.Request>()
    port.on("message", (request) => void Queue.offerUnsafe(requests, request))
    const count = counting(port)
    const connections = new Map<number, Connection>()
    const reads = new Map<number, Fiber.Fiber<void>>()

    const connect = Effect.fnUntraced(function* (
      { chain: name, connection, settings }: Extract<ReaderMessage.Request, { kind: "connect" }>,
      connected: Deferred.Deferred<ConnectedNode | undefined>
    ) {
      const chain = Chain.all.find((chain) => Chain.nameOf(chain) === name)
      const opened =
        chain === undefined
          ? undefined
          : yield* Families.connect(chain, ReaderMessage.settingsOf(settings)).pipe(
              Effect.flatMap((node) =>
                Effect.map(node.source.capabilities, (capabilities) => ({ node, capabilities }))
              ),
              Effect.catchCause(() => Effect.undefined)
            )
      yield* count
      port.postMessage({ kind: "connected", connection, capabilities: opened?.capabilities }, [])
      yield* Deferred.succeed(connected, opened?.node)
      return yield* Effect.never
    }, Effect.scoped)

    const read = Effect.fnUntraced(function* ({
      connection,
      height,
      id,
      question
    }: Extract<ReaderMessage.Request, { kind: "read" }>) {
      const node = connections.get(connection)?.node
      const connected = node === undefined ? undefined : yield* Deferred.await(node)
      const ask = question === "block" ? connected?.source.blockAt : connected?.sideSources.wholeBlockAt
      const block =
        ask === undefined
          ? Option.none()
          : yield* Effect.asSome(ask(height)).pipe(
              Effect.catchCause(() => Effect.succeedNone),
              Effect.provideService(SharedRequests.MostBlocks, BlocksInOrder.mostBlocks)
            )
      reads.delete(id)
      yield* count
      const none = Effect.sync(() => port.postMessage({ kind: "noBlock", id }, []))
      if (Option.isNone(block)) return yield* none
      const give = Effect.sync(() => {
        const message = BlockMessage.write(block.value)
        port.postMessage(
          { kind: "block", id, block: message, blocksOfRequest: connected?.source.blocksOfRequest?.() },
          [message.bytes]
        )
      })
      // A block for whose message there is no memory: without an answer the chain would wait for ever.
      yield* Effect.catchCause(give, () => none)
    })

    while (true) {
      const request = yield* Queue.take(requests)
      switch (request.kind) {
        case "connect": {
          const node = Deferred.makeUnsafe<ConnectedNode | undefined>()
          const fiber = yield* Effect.forkScoped(Effect.annotateLogs(connect(request, node), { chain: request.chain }))
          connections.set(request.connection, { node, fiber })
          break
        }
        case "read": {
          const fiber = yield* Effect.forkScoped(read(request))
          reads.set(request.id, fiber)
          break
        }
        case "giveUp": {
          const fiber = reads.get(request.id)
          reads.delete(request.id)
          if (fiber !== undefined) yield* Effect.forkScoped(Fiber.interrupt(fiber))
          break
        }
        case "ping":
          port.postMessage({ kind: "alive" }, [])
          break
        case "disconnect": {
          const open = connections.get(request.connection)
          connections.delete(request.connection)
          if (open !== undefined) yield* Effect.forkScoped(Fiber.interrupt(open.fiber))
          break
        }
      }
    }
  },
  (served, port: Port) =>
    Effect.scoped(served).pipe(
      // Counters of the main thread have the sum.
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide(Logger.layer([loggerTo(port)]))
    )
)
