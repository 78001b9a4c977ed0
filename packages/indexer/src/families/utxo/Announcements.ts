/**
 * What a node publishes over ZeroMQ (`zmqpubhashblock`, `zmqpubhashtx`), as hints to look: of an announcement nothing but a
 * block's hash is read, which is never recorded, and blocks and transactions without one are found by looking all the same.
 *
 * Needs the package `zeromq`, which only operators who want announcements have to install.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Subscriber } from "zeromq"
import * as Hints from "../node/Hints.ts"

export interface Announcements {
  /** Waits until a block has been announced since this was last waited for. */
  readonly block: Effect.Effect<void>
  /** Hash of the block that was announced last. */
  readonly blockHash: () => Uint8Array | undefined
  /** Waits until a transaction has been announced since this was last waited for. */
  readonly transaction: Effect.Effect<void>
}

class ZeroMqUnusable extends Schema.TaggedError<ZeroMqUnusable>()("ZeroMqUnusable", { message: Schema.String }) {}

export interface Options {
  /** Silence after which the subscriber connects anew, in milliseconds; ten minutes by default. */
  readonly silenceMillis?: number
}

/** A topic, a hash and a number are far smaller; ZeroMQ leaves a publisher that sends more. */
const maximumBytes = 256
const hashBytes = 32
/** Messages that are kept until they are read; more are dropped. */
const maximumMessages = 100
const heartbeatMillis = 30_000

const subscribe = (endpoints: ReadonlyArray<string>, silenceMillis: number) =>
  Effect.tryPromise({
    try: async () => {
      const { Subscriber } = await import("zeromq")
      const socket = new Subscriber({
        ...{ maxMessageSize: maximumBytes, receiveHighWaterMark: maximumMessages, linger: 0 },
        ...{ heartbeatInterval: heartbeatMillis, reconnectInterval: 1_000, reconnectMaxInterval: 30_000 },
        receiveTimeout: silenceMillis
      })
      for (const endpoint of endpoints) socket.connect(endpoint)
      socket.subscribe("hashblock", "hashtx")
      return socket
    },
    catch: (error) => new ZeroMqUnusable({ message: error instanceof Error ? error.message : String(error) })
  })

/**
 * Subscribes at endpoints like `tcp://127.0.0.1:28332`, and connects again for as long as the scope lives. Where that
 * cannot be, because of the endpoint or because `zeromq` is not installed, it logs why, and no hint ever comes.
 */
export const make = Effect.fn("Announcements.make")(function* (
  endpoints: ReadonlyArray<string>,
  { silenceMillis = 600_000 }: Options = {}
) {
  const blocks = yield* Hints.make
  const transactions = yield* Hints.make
  let newest: Uint8Array | undefined

  /** Ends when nothing has come for a while: ZeroMQ does not go back to a publisher that broke the protocol. */
  const listen = Effect.fnUntraced(function* (socket: Subscriber) {
    while (true) {
      const message = yield* Effect.option(Effect.tryPromise(() => socket.receive()))
      if (Option.isNone(message)) return
      const [name, hash] = message.value
      const topic = name?.toString("latin1")
      if (topic === "hashblock") {
        if (hash?.length === hashBytes) newest = hash
        blocks.offer()
      } else if (topic === "hashtx") transactions.offer()
    }
  })

  const connected = Effect.acquireRelease(subscribe(endpoints, silenceMillis), (socket) =>
    Effect.sync(() => socket.close())
  ).pipe(Effect.flatMap(listen), Effect.scoped)

  if (endpoints.length > 0) {
    yield* connected.pipe(
      Effect.andThen(Effect.sleep("1 second")),
      Effect.forever,
      Effect.catchTag("ZeroMqUnusable", ({ message }) =>
        Effect.logWarning(`No announcements over ZeroMQ, the node is asked at intervals only: ${message}`)
      ),
      Effect.forkScoped
    )
  }
  return { block: blocks.wait, blockHash: () => newest, transaction: transactions.wait } satisfies Announcements
})
