/** Hints from a real ZeroMQ publisher, as Bitcoin Core is one: topic, hash, number. */
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Announcements from "@headwater/indexer/families/utxo/Announcements"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import { Publisher } from "zeromq"

const bound = (endpoint: string) =>
  Effect.acquireRelease(
    Effect.tryPromise(async () => {
      const publisher = new Publisher({ linger: 0 })
      await publisher.bind(endpoint).catch((error) => {
        publisher.close()
        throw error
      })
      return publisher
    }),
    (publisher) => Effect.sync(() => publisher.close())
  )

const publish = (publisher: Publisher, topic: string, hash: Uint8Array = Buffer.alloc(32)) =>
  Effect.promise(() => publisher.send([topic, hash, Buffer.alloc(4)]))

/** Publishes again and again until it is heard: what is sent before the subscriber has connected is lost. */
const until = <A>(publisher: Publisher, topic: string, heard: Effect.Effect<A>, hash?: Uint8Array) =>
  Effect.raceFirst(
    heard,
    Effect.forever(Effect.andThen(publish(publisher, topic, hash), Effect.sleep("20 millis"))) as Effect.Effect<never>
  )

/** Which of the two comes. */
const next = ({ block, transaction }: Announcements.Announcements) =>
  Effect.raceFirst(Effect.as(block, "block"), Effect.as(transaction, "transaction"))

describe("Announcements", () => {
  it.live("tells blocks from transactions, from several endpoints, and nothing from what else is published", () =>
    Effect.gen(function* () {
      const first = yield* bound("tcp://127.0.0.1:0")
      const second = yield* bound("tcp://127.0.0.1:0")
      const heard = yield* Announcements.make([first.lastEndpoint!, second.lastEndpoint!])
      const hash = new Uint8Array(32).fill(7)
      assert.isUndefined(heard.blockHash())
      yield* until(first, "hashblock", heard.block, hash)
      assert.deepStrictEqual(heard.blockHash(), Buffer.from(hash))
      yield* until(second, "hashtx", heard.transaction)
      // A hint, but no hash.
      yield* until(second, "hashblock", heard.block, new Uint8Array(31))
      assert.deepStrictEqual(heard.blockHash(), Buffer.from(hash))
      for (const topic of ["rawblock", "hashblocks", "", "sequence"]) yield* publish(second, topic)
      yield* publish(second, "hashtx")
      assert.strictEqual(yield* next(heard), "transaction")
    }).pipe(Effect.scoped)
  )

  it.live("makes one hint of many", () =>
    Effect.gen(function* () {
      const publisher = yield* bound("tcp://127.0.0.1:0")
      const heard = yield* Announcements.make([publisher.lastEndpoint!])
      yield* until(publisher, "hashblock", heard.block)
      for (let i = 0; i < 2_000; i++) yield* publish(publisher, "hashtx")
      yield* publish(publisher, "hashblock")
      // In the order in which they were sent: with the block all that was not dropped is there.
      yield* until(publisher, "hashblock", heard.block)
      yield* heard.transaction
      yield* publish(publisher, "hashblock")
      assert.strictEqual(yield* next(heard), "block")
    }).pipe(Effect.scoped)
  )

  it.live("connects again to a publisher that was away", () =>
    Effect.gen(function* () {
      const before = yield* Effect.promise(async () => {
        const publisher = new Publisher({ linger: 0 })
        await publisher.bind("tcp://127.0.0.1:0")
        return publisher
      })
      const endpoint = before.lastEndpoint!
      const heard = yield* Announcements.make([endpoint])
      yield* until(before, "hashblock", heard.block)
      yield* Effect.promise(() => before.unbind(endpoint))
      before.close()
      // The endpoint is not free at once: the old publisher's thread closes it when it comes to that.
      const after = yield* Effect.retry(bound(endpoint), Schedule.spaced("20 millis"))
      yield* until(after, "hashblock", heard.block)
    }).pipe(Effect.scoped)
  )

  it.live("outlives a server that speaks something else, and a message that is too large", () =>
    Effect.gen(function* () {
      const noise = yield* Effect.acquireRelease(
        Effect.callback<{ readonly port: number; readonly connections: () => number; readonly close: () => void }>(
          (resume) => {
            let connections = 0
            const server = createServer((socket) => {
              connections++
              socket.on("error", () => undefined)
              socket.write(Buffer.alloc(100_000, 0xff))
            })
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              const port = typeof address === "object" && address !== null ? address.port : 0
              resume(Effect.succeed({ port, connections: () => connections, close: () => server.close() }))
            })
          }
        ),
        ({ close }) => Effect.sync(close)
      )
      const publisher = yield* bound("tcp://127.0.0.1:0")
      const heard = yield* Announcements.make([`tcp://127.0.0.1:${noise.port}`, publisher.lastEndpoint!], {
        silenceMillis: 500
      })
      yield* until(publisher, "hashblock", heard.block)
      assert.isAbove(noise.connections(), 0)
      yield* publish(publisher, "hashtx", Buffer.alloc(1_000_000))
      // The connection is dropped, and made again.
      yield* until(publisher, "hashblock", heard.block)
      yield* until(publisher, "hashblock", heard.block)
    }).pipe(Effect.scoped)
  )

  it.live("says why there are none, and that the chain goes on without", () => {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    return Effect.gen(function* () {
      yield* Announcements.make([])
      assert.deepStrictEqual(lines, [])
      yield* Announcements.make(["tcp://nowhere"])
      while (lines.length === 0) yield* Effect.sleep("10 millis")
      assert.match(lines.join(), /No announcements over ZeroMQ/)
    }).pipe(Effect.provide(Logger.layer([logger]) satisfies Layer.Layer<never>), Effect.scoped)
  })
})
