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
import type { LogLevel, Severity } from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type * as Capability from "../../families/Capability.ts"
import type { ConnectedNode, NodeSettings } from "../../families/Family.ts"
import * as Families from "../../families/families.ts"
import * as SharedRequests from "../../families/node/SharedRequests.ts"
import * as BlockMessage from "./BlockMessage.ts"
import * as BlocksInOrder from "./BlocksInOrder.ts"

/** A block as it is committed, or with the parts that any of the nodes can give: `Source.blockAt`, `SideSources.wholeBlockAt`. */
export type Question = "block" | "whole"

export type Request =
  | {
      readonly kind: "connect"
      readonly connection: number
      readonly chain: string
      readonly settings: CarriedSettings
    }
  | {
      readonly kind: "read"
      readonly id: number
      readonly connection: number
      readonly question: Question
      readonly height: number
    }
  | { readonly kind: "giveUp"; readonly id: number }
  | { readonly kind: "disconnect"; readonly connection: number }
  /** Is answered at once. */
  | { readonly kind: "ping" }

export type Reply =
  /** Comes before the first answer; without capabilities where the nodes could not be connected. */
  | {
      readonly kind: "connected"
      readonly connection: number
      readonly capabilities: ReadonlyArray<Capability.Capability> | undefined
    }
  | {
      readonly kind: "block"
      readonly id: number
      readonly block: BlockMessage.BlockMessage
      /** As in `Source`: the thread alone knows how large the blocks are that it reads. */
      readonly blocksOfRequest: number | undefined
    }
  | { readonly kind: "noBlock"; readonly id: number }
  | { readonly kind: "alive" }
  | {
      readonly kind: "log"
      readonly level: Severity
      readonly message: string
      readonly annotations: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: "counted"
      readonly counter: string
      readonly description: string | undefined
      readonly attributes: Readonly<Record<string, string>>
      readonly count: number
    }

/** A block that was read. */
export type Given = Extract<Reply, { readonly kind: "block" }>

/** What the thread is started with. */
export interface Options {
  readonly minimumLogLevel: LogLevel
}

export interface Port {
  readonly on: (event: "message", listener: (request: Request) => void) => unknown
  readonly postMessage: (reply: Reply, transfer: ReadonlyArray<ArrayBuffer>) => void
}

interface Secret {
  readonly secret: string
}

/** Settings as a message has them: what no log may show is text here, and nowhere but between two threads. */
type CarriedSettings = Readonly<Record<string, unknown>>

const carriedValue = (value: unknown): unknown =>
  Redacted.isRedacted(value)
    ? ({ secret: String(Redacted.value(value)) } satisfies Secret)
    : Array.isArray(value)
      ? value.map(carriedValue)
      : value

const isSecret = (value: unknown): value is Secret => typeof value === "object" && value !== null && "secret" in value

const settingsValue = (value: unknown): unknown =>
  isSecret(value) ? Redacted.make(value.secret) : Array.isArray(value) ? value.map(settingsValue) : value

const mapped = (record: object, to: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))

/** Settings for a message. */
export const carry = (settings: NodeSettings): CarriedSettings => mapped(settings, carriedValue)

const settingsOf = (carried: CarriedSettings): NodeSettings => mapped(carried, settingsValue) as unknown as NodeSettings

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
    const requests = yield* Queue.unbounded<Request>()
    port.on("message", (request) => void Queue.offerUnsafe(requests, request))
    const count = counting(port)
    const connections = new Map<number, Connection>()
    const reads = new Map<number, Fiber.Fiber<void>>()

    const connect = Effect.fnUntraced(function* (
      { chain: name, connection, settings }: Extract<Request, { kind: "connect" }>,
      connected: Deferred.Deferred<ConnectedNode | undefined>
    ) {
      const chain = Chain.all.find((chain) => Chain.nameOf(chain) === name)
      const opened =
        chain === undefined
          ? undefined
          : yield* Families.connect(chain, settingsOf(settings)).pipe(
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
    }: Extract<Request, { kind: "read" }>) {
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
