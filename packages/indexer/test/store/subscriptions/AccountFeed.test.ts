import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { taken } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const services = (location: Location) =>
  AccountFeed.layer.pipe(
    Layer.provideMerge(Callbacks.layer),
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer(location)),
    Layer.provideMerge(Layer.succeed(Retention, { finishedMillis: 1_000, parkedMillis: 1e12, parkedCount: 1e6 }))
  )

const subscribe = (account: number, host = "free.test") => Seed.subscription(account, `https://${host}/`)

const capacityOf = (host: string) => ({
  ...{
    host,
    limit: 10,
    followOns: [],
    batchSize: 3,
    accountCursor: 0,
    accounts: new Map(),
    accountLimit: 100,
    callbacks: 10_000
  },
  retriesFirst: false
})

for (const { location, name } of taken(import.meta.url)) {
  describe(`The feed of an account on ${name}`, () => {
    const fresh = <A, E, R>(self: Effect.Effect<A, E, R>) =>
      Effect.scoped(Effect.flatMap(location, (location: Location) => Effect.provide(self, services(location))))

    it.live(
      "has the callbacks of all its subscriptions, and nobody else's, under positions and numbers that stay",
      () =>
        fresh(
          Effect.gen(function* () {
            const feed = yield* AccountFeed
            const outbox = yield* Outbox
            const callbacks = yield* Callbacks
            const account = yield* Seed.account
            const [a, b] = [yield* subscribe(account), yield* subscribe(account)]
            const other = yield* subscribe(yield* Seed.account, "other.test")
            assert.deepInclude(yield* feed.read(account, { after: 0, limit: 5 }), { callbacks: [], end: 0, missed: 0 })
            for (const [of, label] of [
              [a, "1"],
              [b, "2"],
              [other, "3"],
              [a, "4"]
            ] as const) {
              yield* Seed.callbacks(of, 2, { label })
            }
            // Two of the first subscription have numbers from a sender.
            yield* outbox.lease([{ ...capacityOf("free.test"), batchSize: 2 }], 60_000)
            const first = yield* feed.read(account, { after: 0, limit: 4 })
            const rest = yield* feed.read(account, { after: first.end, epoch: first.epoch, limit: 4 })
            const shown = [...first.callbacks, ...rest.callbacks]
            assert.deepStrictEqual(
              shown.map(({ chain, position, referenceId, sequence }) => [position, referenceId, sequence, chain]),
              [
                [a, 1],
                [a, 2],
                [b, 1],
                [b, 2],
                [a, 3],
                [a, 4]
              ].map(([of, sequence], i) => [...[i + 1, (of as typeof a).referenceId, sequence, "ethereum/devnet"]])
            )
            assert.deepStrictEqual([first.hasMore, rest.hasMore, rest.end, rest.missed], [true, false, 6, 0])
            const ofOne = yield* callbacks.list(
              { account, chain: Seed.chain, referenceId: a.referenceId },
              {
                ...{ after: 0, limit: 10 }
              }
            )
            assert.deepStrictEqual(
              ofOne.callbacks.map(({ idempotencyKey, sequence }) => [sequence, idempotencyKey]),
              shown
                .filter(({ referenceId }) => referenceId === a.referenceId)
                .map((one) => [one.sequence, one.idempotencyKey])
            )
            const again = yield* feed.read(account, { after: 2, limit: 10 })
            assert.deepStrictEqual(again.callbacks, shown.slice(2))
            const beyond = yield* Effect.flip(feed.read(account, { after: 7, limit: 1 }, 1e6))
            assert.match(beyond.message, /^The position 7 is beyond the feed's last number, 6/)
          })
        )
    )

    it.live("waits for what is to come, and begins behind everything where the reader wants that", () =>
      fresh(
        Effect.gen(function* () {
          const feed = yield* AccountFeed
          const account = yield* Seed.account
          const subscription = yield* subscribe(account)
          yield* Seed.callbacks(subscription, 450)
          const position = yield* feed.end(account)
          assert.strictEqual(position.after, 450)
          const waiting = yield* Effect.forkChild(feed.read(account, { ...position, limit: 10 }, 60_000))
          yield* Effect.sleep("20 millis")
          yield* Seed.callbacks(subscription, 1, { label: "new" })
          yield* (yield* Database).signals.send("callbacks")
          const { callbacks } = yield* Fiber.join(waiting)
          assert.deepStrictEqual(
            callbacks.map(({ position }) => position),
            [451]
          )
        })
      )
    )

    it.live("counts what is kept no longer, also what nobody has read", () =>
      fresh(
        Effect.gen(function* () {
          const feed = yield* AccountFeed
          const outbox = yield* Outbox
          const { query } = yield* Database
          const account = yield* Seed.account
          const subscription = yield* subscribe(account)
          const old = { state: "delivered", created: 1 } as const
          yield* Seed.callbacks(subscription, 3, { ...old, label: "nobody's" })
          assert.strictEqual(yield* outbox.prune, 3)
          assert.deepInclude(yield* feed.read(account, { after: 0, limit: 10 }), { end: 0, missed: 0 })
          yield* Seed.callbacks(subscription, 3, { ...old, label: "read" })
          const { end } = yield* feed.read(account, { after: 0, limit: 10 })
          assert.strictEqual(end, 3)
          yield* Seed.callbacks(subscription, 4, { ...old, label: "unread" })
          assert.strictEqual(yield* outbox.prune, 7)
          // A reader is told at once, however long it would wait.
          const gone = yield* feed.read(account, { after: 2, limit: 10 }, 1e6)
          assert.deepInclude(gone, { callbacks: [], end: 7, missed: 5, hasMore: false })
          yield* Seed.callbacks(subscription, 2, { label: "kept" })
          const kept = yield* feed.read(account, { after: 2, limit: 1 })
          assert.deepInclude(kept, { end: 8, missed: 5, hasMore: true })
          assert.deepInclude(yield* feed.read(account, { after: kept.end, limit: 10 }), { end: 9, missed: 0 })
          // One in the middle.
          yield* query((db) => db.deleteFrom("callback").where("feed_position", "=", 8))
          assert.deepInclude(yield* feed.read(account, { after: 7, limit: 10 }), { end: 9, missed: 1 })
        })
      )
    )

    it.live("shows a position only with all lower ones, to readers of several processes while others write", () =>
      Effect.gen(function* () {
        const where = yield* location
        const one = yield* Layer.build(services(where))
        const two = name === "postgres" ? yield* Layer.build(Layer.fresh(services(where))) : one
        const processes = [one, two]
        const { account, subscriptions } = yield* Effect.provide(
          Effect.gen(function* () {
            const account = yield* Seed.account
            return {
              account,
              subscriptions: yield* Effect.forEach(["a", "b", "c"], (host) => subscribe(account, host))
            }
          }),
          one
        )
        const writers = 4
        const commits = 12
        const total = writers * commits * 3
        const write = (writer: number) =>
          Effect.gen(function* () {
            const { transaction } = yield* Database
            for (let i = 0; i < commits; i++) {
              // A commit whose rows have lower ids than those of commits that are visible before it.
              yield* transaction(
                Effect.gen(function* () {
                  for (const subscription of subscriptions) {
                    yield* Seed.callbacks(subscription, 1, { label: `${writer} ${i}` })
                    if (name === "postgres") yield* Effect.sleep(`${(writer * 7 + i * 3) % 9} millis`)
                  }
                })
              )
            }
          })
        const send = Effect.gen(function* () {
          const outbox = yield* Outbox
          while (true) {
            yield* outbox.lease(["a", "b", "c"].map(capacityOf), 1)
            yield* Effect.sleep("3 millis")
          }
        })
        const read = (limit: number) =>
          Effect.gen(function* () {
            const feed = yield* AccountFeed
            const seen: Array<string> = []
            while (seen.length < total) {
              const page = yield* feed.read(account, { after: seen.length, limit }, 100)
              for (const { idempotencyKey, position } of page.callbacks) {
                assert.strictEqual(position, seen.length + 1)
                seen.push(idempotencyKey)
              }
            }
            return seen
          })
        const senders = yield* Effect.forEach(processes, (context) => Effect.forkScoped(Effect.provide(send, context)))
        const writing = yield* Effect.forkScoped(
          Effect.forEach(
            Array.from({ length: writers }, (_, i) => i),
            (i) => Effect.provide(write(i), processes[i % 2]!),
            { concurrency: "unbounded" }
          )
        )
        const seen = yield* Effect.forEach(
          [1, 7, 50, 2],
          (limit, i) => Effect.provide(read(limit), processes[i % 2]!),
          { concurrency: "unbounded" }
        )
        yield* Fiber.join(writing)
        yield* Effect.forEach(senders, Fiber.interrupt)
        for (const others of seen) assert.deepStrictEqual(others, seen[0])
        assert.strictEqual(new Set(seen[0]).size, total)
        const rows = yield* Effect.provide(
          Effect.forEach(subscriptions, ({ id }) => Seed.rows(id)),
          one
        )
        for (const of of rows) {
          assert.deepStrictEqual(
            of.map(({ sequence }) => sequence).sort((a, b) => a! - b!),
            of.map((_, i) => i + 1)
          )
        }
      }).pipe(Effect.scoped)
    )
  })
}
