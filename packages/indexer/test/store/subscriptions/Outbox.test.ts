import { assert, describe, layer, it as plain } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import type { HostCapacity, Lease, Outcome, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { CallbackCharging, Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { stores, takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const leaseMillis = 60_000

const capacity = (host: string, change: Partial<HostCapacity> = {}): HostCapacity => ({
  host,
  limit: 10,
  followOns: [],
  batchSize: 10,
  ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000 },
  retriesFirst: false,
  ...change
})

const hostsOf = (outbox: Outbox["Service"]) => Effect.map(outbox.hosts, (due) => due.map(({ host }) => host))

const sequences = ({ callbacks }: Lease) => callbacks.map(({ sequence }) => sequence)

const delivered = (callback: OutboxMessage) =>
  ({ kind: "delivered", callback, attempt: { at: 1000, duration: 7, status: 200 } }) as const
const failed = (callback: OutboxMessage, due: number) =>
  ({ kind: "retry", callback, due, attempt: { at: 1000, duration: 7, status: 500, error: "answered 500" } }) as const

const keep = { finishedMillis: 3_600_000, parkedMillis: 600_000, parkedCount: 5 }

/** A store each of whose answers takes a second. */
const slow = Layer.effect(
  Database,
  Effect.map(Database, (database) => {
    const late = <A, E>(self: Effect.Effect<A, E>) => Effect.tap(self, TestClock.adjust("1 second"))
    return Database.of({
      ...database,
      query: (build) => late(database.query(build)),
      read: (build) => late(database.read(build))
    })
  })
)

for (const store of takenStores(import.meta.url)) {
  const services = Outbox.layer.pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(hostPermission(new Set(["free.test", "busy.test", "dead.test"]))),
    Layer.provideMerge(Domains.layer),
    Layer.provideMerge(Layer.succeed(Retention, keep)),
    Layer.provideMerge(store.layer)
  )

  /** Each test stands alone: what another has left to be sent would come first. */
  const nothingToSend = Effect.flatMap(Database, ({ query }) => query((db) => db.deleteFrom("callback")))

  layer(services, { excludeTestServices: true })(`Outbox on ${store.name}`, (it) => {
    it.effect("numbers callbacks without gaps in their order, one lease of a subscription at a time", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a", "s3cret")
        const b = yield* Seed.subscription(yield* Seed.account, "https://free.test/b")
        yield* Seed.callbacks(a, 5)
        yield* Seed.callbacks(b, 1)
        assert.deepStrictEqual(yield* hostsOf(outbox), ["free.test"])
        const leases = yield* outbox.lease([capacity("free.test", { batchSize: 3 })], leaseMillis)
        const [first, other] = leases
        assert.strictEqual(leases.length, 2)
        assert.deepStrictEqual(sequences(first!), [1, 2, 3])
        assert.strictEqual(first!.url, "https://free.test/a")
        assert.deepStrictEqual(first!.secrets, ["s3cret"])
        assert.deepStrictEqual(sequences(other!), [1])
        assert.deepStrictEqual(other!.secrets, [])

        // Others find nothing while any of the batch is leased, however much there is.
        yield* Seed.callbacks(a, 2, { label: "later" })
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        yield* outbox.acknowledge(first!.callbacks.slice(0, 2).map(delivered))
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        yield* outbox.acknowledge(first!.callbacks.slice(2).map(delivered))
        const [next] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(sequences(next!), [4, 5, 6, 7])
        yield* outbox.acknowledge([...next!.callbacks, ...other!.callbacks].map(delivered))
        const rows = yield* Seed.rows(a.id)
        assert.deepStrictEqual(
          rows.map(({ attempts, sequence, state }) => [sequence, state, attempts] as const),
          [1, 2, 3, 4, 5, 6, 7].map((n) => [n, "delivered", 1] as const)
        )
        assert.strictEqual(rows[0]!.attempt_log, '[{"at":1000,"duration":7,"status":200}]')
        assert.strictEqual(rows[0]!.delivered, 1007)
        assert.deepStrictEqual(yield* hostsOf(outbox), [])
      })
    )

    it.effect("leases over all of a host's subscriptions, of each as much as all may have together", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(Array.from({ length: 12 }), () =>
          Seed.subscription(account, "https://free.test/")
        )
        for (const subscription of subscriptions) yield* Seed.callbacks(subscription, 5)
        const lengths = (leases: ReadonlyArray<Lease>) => leases.map(({ callbacks }) => callbacks.length)
        const many = yield* outbox.lease([capacity("free.test", { limit: 8, callbacks: 16 })], leaseMillis)
        assert.deepStrictEqual(lengths(many), Array(8).fill(2))
        const few = yield* outbox.lease([capacity("free.test", { limit: 100, callbacks: 16 })], leaseMillis)
        assert.deepStrictEqual(lengths(few), Array(4).fill(4))
        yield* outbox.acknowledge([...many, ...few].flatMap(({ callbacks }) => callbacks.map(delivered)))
        const least = yield* outbox.lease([capacity("free.test", { limit: 100, callbacks: 1 })], leaseMillis)
        assert.deepStrictEqual(lengths(least), Array(12).fill(1))
      })
    )

    it.effect("leases what a commit has handed over, the oldest first, and nothing else", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { transaction } = yield* Database
        const account = yield* Seed.account
        const [a, b] = [
          yield* Seed.subscription(account, "https://free.test/a"),
          yield* Seed.subscription(account, "https://free.test/b")
        ]
        yield* Seed.callbacks(a, 1)
        yield* Seed.callbacks(b, 1)
        yield* outbox.handedOver
        const made = (height: number, { id, referenceId }: typeof a, active: boolean) =>
          CallbackState.make({
            subscriber: { id, account, host: "free.test", reference_id: referenceId },
            ...{ active, chain: 1, event: "BLOCK_MINED", height, now: height },
            key: { blockHash: undefined, occurrence: `handed over ${height}`, confirmation: 0 },
            item: { height } as never
          })
        yield* transaction(CallbackState.enter("matched", [made(7, a, true), made(8, a, true)]))
        yield* transaction(CallbackState.enter("matched", [made(9, b, false)]))
        const handed = yield* outbox.handedOver
        assert.deepStrictEqual(
          handed?.map(({ host, subscription }) => [host, subscription]),
          [["free.test", a.id]]
        )
        const lease = outbox.lease([capacity("free.test", { only: handed! })], leaseMillis)
        const [lease1, ...none] = yield* lease
        assert.deepStrictEqual(none, [])
        assert.strictEqual(lease1!.subscription, a.id)
        assert.deepStrictEqual(sequences(lease1!), [1, 2, 3])
        // The rows are the truth: what somebody has leased already is nobody else's.
        assert.deepStrictEqual(yield* lease, [])
      })
    )

    it.effect("knows of what a commit has handed over which subscriptions fail", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const all = yield* Effect.forEach([0, 1, 2], () => Seed.subscription(account, "https://free.test/handed"))
        const [first, second] = all
        for (const one of [first!, second!]) yield* Seed.callbacks(one, 1, { label: "fails" })
        const failing = yield* outbox.lease([capacity("free.test")], leaseMillis)
        const due = (yield* Clock.currentTimeMillis) + leaseMillis
        yield* outbox.acknowledge(
          failing.flatMap(({ callbacks }) => callbacks.map((callback) => failed(callback, due)))
        )
        for (const one of all) yield* Seed.callbacks(one, 1)
        const only = all.map(({ id }) => ({ account, subscription: id }))
        const accounts = new Map([[account, { roundRobinCursor: 0, limit: 3, failingLimit: 1 }]])
        const leases = yield* outbox.lease([capacity("free.test", { accounts, only })], leaseMillis)
        assert.deepStrictEqual(
          leases.map(({ failing, subscription }) => [all.findIndex(({ id }) => id === subscription), failing]),
          [
            [2, false],
            [0, true]
          ]
        )
        yield* nothingToSend
      })
    )

    it.effect("follows a lease that is held by the next callbacks, which others do not get", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://free.test/a")
        yield* Seed.callbacks(a, 7)
        const [first] = yield* outbox.lease([capacity("free.test", { limit: 1, batchSize: 2 })], leaseMillis)
        assert.isTrue(first!.full)
        const follow = (lease: Lease, batchSize: number) =>
          capacity("free.test", {
            limit: 0,
            followOns: [{ account, subscription: a.id, after: lease.callbacks.at(-1)!.id, batchSize, failing: false }]
          })
        const [second] = yield* outbox.lease([follow(first!, 3)], leaseMillis)
        assert.deepStrictEqual(sequences(second!), [3, 4, 5])
        assert.isTrue(second!.full)
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        // What the holder gives back is next for everybody, and no later one before it.
        yield* outbox.acknowledge(first!.callbacks.map((callback) => ({ kind: "released", callback })))
        const [back, ...none] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(none, [])
        assert.deepStrictEqual(sequences(back!), [1, 2])
        const [third] = yield* outbox.lease([follow(second!, 3)], leaseMillis)
        assert.deepStrictEqual(sequences(third!), [6, 7])
        assert.isFalse(third!.full)
        yield* outbox.acknowledge([...back!.callbacks, ...second!.callbacks, ...third!.callbacks].map(delivered))
        assert.deepStrictEqual(
          (yield* Seed.rows(a.id)).map(({ sequence, state }) => [sequence, state] as const),
          [1, 2, 3, 4, 5, 6, 7].map((n) => [n, "delivered"] as const)
        )
      })
    )

    it.effect("gives the place of a lease that could be followed to whoever waits for one", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://free.test/a")
        const b = yield* Seed.subscription(account, "https://free.test/b")
        yield* Seed.callbacks(a, 4)
        let [held] = yield* outbox.lease([capacity("free.test", { limit: 1, batchSize: 1 })], leaseMillis)
        yield* Seed.callbacks(b, 2)
        const lease = Effect.fnUntraced(function* (limit: number) {
          const followOns = [
            { account, subscription: a.id, after: held!.callbacks[0]!.id, batchSize: 1, failing: false }
          ]
          const leases = yield* outbox.lease([capacity("free.test", { limit, batchSize: 1, followOns })], leaseMillis)
          return Object.fromEntries(
            leases.map((lease) => {
              if (lease.subscription === a.id) held = lease
              else others.push(...lease.callbacks)
              return [lease.subscription === a.id ? "a" : "b", sequences(lease)]
            })
          )
        })
        const others: Array<OutboxMessage> = []
        assert.deepStrictEqual(yield* lease(0), {})
        assert.deepStrictEqual(yield* lease(1), { a: [2], b: [1] })
        // A retry is one that waits, too.
        yield* outbox.acknowledge([failed(others[0]!, 0)])
        assert.deepStrictEqual(yield* lease(1), { b: [2] })
        assert.deepStrictEqual(yield* lease(0), {})
        assert.deepStrictEqual(yield* lease(1), { a: [3], b: [1] })
        assert.deepStrictEqual(yield* lease(0), { a: [4] })
        yield* (yield* Database).query((db) => db.deleteFrom("callback").where("subscription", "in", [a.id, b.id]))
      })
    )

    it.effect("sends a callback again alone, and lets it hold back no later one", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        yield* Seed.callbacks(a, 3)
        const [first] = yield* outbox.lease([capacity("free.test", { batchSize: 1 })], leaseMillis)
        yield* outbox.acknowledge([failed(first!.callbacks[0]!, (yield* Clock.currentTimeMillis) + 60_000)])
        const [second] = yield* outbox.lease([capacity("free.test", { batchSize: 1 })], leaseMillis)
        assert.deepStrictEqual(sequences(second!), [2])
        const now = yield* Clock.currentTimeMillis
        yield* query((db) => db.updateTable("callback").set({ due: now }).where("id", "=", first!.callbacks[0]!.id))
        // Due again beside the lease that is in flight.
        assert.deepStrictEqual(yield* hostsOf(outbox), ["free.test"])
        const [again, ...none] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(none, [])
        assert.deepStrictEqual(sequences(again!), [1])
        assert.strictEqual(again!.callbacks[0]!.attempts, 1)
        yield* outbox.acknowledge([delivered(again!.callbacks[0]!), delivered(second!.callbacks[0]!)])
        const [third] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(sequences(third!), [3])
        yield* outbox.acknowledge([{ kind: "released", callback: third!.callbacks[0]! }])
        const [unsent] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(sequences(unsent!), [3])
        assert.strictEqual(unsent!.callbacks[0]!.attempts, 0)
        yield* outbox.acknowledge([delivered(unsent!.callbacks[0]!)])
        const rows = yield* Seed.rows(a.id)
        assert.strictEqual(rows[0]!.attempts, 2)
        assert.strictEqual(JSON.parse(rows[0]!.attempt_log).length, 2)
      })
    )

    it.effect("sends again now what a clock has put off that was ahead, and nothing else", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        yield* Seed.callbacks(a, 6)
        const hour = 3_600_000
        const now = yield* Clock.currentTimeMillis
        const set = [
          { attempts: 1, due: now + hour },
          { attempts: 1, due: now + hour + 60_000 },
          { attempts: 2, due: now + 2 * hour },
          { attempts: 2, due: now + 2 * hour + 60_000 },
          { attempts: 9, due: now + 2 * hour },
          { attempts: 9, due: now + 40 * hour }
        ]
        for (const [i, { id }] of (yield* Seed.rows(a.id)).entries()) {
          yield* query((db) =>
            db
              .updateTable("callback")
              .set({ ...set[i]!, sequence: i + 1 })
              .where("id", "=", id)
          )
        }
        assert.strictEqual(yield* outbox.hasten([hour, 2 * hour]), 3)
        assert.strictEqual(yield* outbox.hasten([hour, 2 * hour]), 0)
        assert.deepStrictEqual(
          (yield* Seed.rows(a.id)).map(({ attempts, due }) => ({ attempts, due: due < now + hour ? "now" : due })),
          set.map(({ attempts, due }, i) => ({ attempts, due: i % 2 === 0 ? due : "now" }))
        )
        const leases = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.sameMembers(
          leases.flatMap(({ callbacks }) => callbacks.map(({ attempts }) => attempts)),
          [1, 2, 9]
        )
        yield* nothingToSend
      })
    )

    it.effect("takes again what a crash left, in order and under the same keys and numbers", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        yield* Seed.callbacks(a, 3)
        const [lost] = yield* outbox.lease([capacity("free.test", { batchSize: 2 })], 1000)
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        yield* Effect.sleep("1100 millis")
        const [found] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(sequences(found!), [1, 2, 3])
        assert.deepStrictEqual(
          found!.callbacks.slice(0, 2).map(({ idempotencyKey }) => idempotencyKey),
          lost!.callbacks.map(({ idempotencyKey }) => idempotencyKey)
        )
        // A store that has one process forgets the leases of the one before.
        yield* outbox.endLeases
        const leases = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.strictEqual(leases.length, store.name === "sqlite" ? 1 : 0)
        yield* outbox.acknowledge(found!.callbacks.map(delivered))
      })
    )

    it.effect("takes again what a process has leased that is no more and whose clock was ahead", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        const [first] = yield* Seed.callbacks(a, 2)
        const hour = 3_600_000
        const lost = Effect.gen(function* () {
          const [lease] = yield* outbox.lease([capacity("free.test")], hour)
          assert.deepStrictEqual(sequences(lease!), [1, 2])
          assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        })
        yield* lost
        yield* outbox.endLeases
        yield* lost
        // One that was sent before, too.
        yield* query((db) => db.updateTable("callback").set({ attempts: 1, due: 0 }).where("id", "=", first!))
        // A store that has one process forgets the leases of the one before.
        if (store.name === "sqlite") yield* outbox.endLeases
        else assert.strictEqual(yield* outbox.hasten([hour]), 2)
        const leases = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.sameMembers(leases.flatMap(sequences), [1, 2])
        // What others have leased just now stays theirs, also where this process's clock is behind.
        const clock = yield* Clock.Clock
        const behind: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - hour,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - hour)
        })
        assert.strictEqual(yield* Effect.provideService(outbox.hasten([hour]), Clock.Clock, behind), 0)
        yield* outbox.acknowledge(leases.flatMap(({ callbacks }) => callbacks.map(delivered)))
      })
    )

    it.effect("gives several pollers different work, and a subscription's order to one of them", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(Array.from({ length: 40 }), () =>
          Seed.subscription(account, "https://busy.test/")
        )
        yield* Effect.forEach(subscriptions, (subscription) => Seed.callbacks(subscription, 10))
        const received = new Map<number, Array<number>>()
        const inFlight = new Set<number>()
        const poller = Effect.gen(function* () {
          for (let idle = 0; idle < 20; ) {
            const leases = yield* outbox.lease([capacity("busy.test", { limit: 7, batchSize: 3 })], leaseMillis)
            idle = leases.length === 0 ? idle + 1 : 0
            for (const lease of leases) {
              assert.isFalse(inFlight.has(lease.subscription), "two leases of one subscription")
              inFlight.add(lease.subscription)
              received.set(lease.subscription, [...(received.get(lease.subscription) ?? []), ...sequences(lease)])
            }
            yield* Effect.sleep("5 millis")
            for (const lease of leases) inFlight.delete(lease.subscription)
            yield* outbox.acknowledge(leases.flatMap(({ callbacks }) => callbacks.map(delivered)))
          }
        })
        yield* Effect.all([poller, poller, poller], { concurrency: "unbounded", discard: true })
        assert.strictEqual(received.size, 40)
        for (const list of received.values()) assert.deepStrictEqual(list, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      })
    )

    it.effect("gives every subscription of a host its turn", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(Array.from({ length: 5 }), () =>
          Seed.subscription(account, "https://free.test/turns")
        )
        for (const subscription of subscriptions) yield* Seed.callbacks(subscription, 4)
        const order: Array<number> = []
        let after = 0
        for (let i = 0; i < 10; i++) {
          const leases = yield* outbox.lease(
            [
              capacity("free.test", {
                limit: 2,
                batchSize: 1,
                accounts: new Map([[account, { roundRobinCursor: after, limit: 2 }]])
              })
            ],
            leaseMillis
          )
          for (const lease of leases) order.push(subscriptions.findIndex(({ id }) => id === lease.subscription))
          after = leases.at(-1)!.subscription
          yield* outbox.acknowledge(leases.flatMap(({ callbacks }) => callbacks.map(delivered)))
        }
        assert.deepStrictEqual(order.slice(0, 10), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])

        // The one that had the last turn comes last, and each comes once.
        for (const subscription of subscriptions) yield* Seed.callbacks(subscription, 1, { label: "once more" })
        const accounts = new Map([[account, { roundRobinCursor: subscriptions[2]!.id, limit: 10 }]])
        const all = yield* outbox.lease([capacity("free.test", { accounts })], leaseMillis)
        assert.deepStrictEqual(
          all.map(({ subscription }) => subscriptions.findIndex(({ id }) => id === subscription)),
          [3, 4, 0, 1, 2]
        )

        // Those whose last attempt failed come behind the others, in their turn.
        yield* outbox.acknowledge(all.flatMap(({ callbacks }) => callbacks.map(delivered)))
        for (const subscription of subscriptions) yield* Seed.callbacks(subscription, 1, { label: "without an answer" })
        const { query } = yield* Database
        const failing = {
          account,
          host: "free.test",
          since: 0,
          last: 0,
          status: null,
          error: "no answer",
          paused_until: 0
        }
        yield* query((db) =>
          db
            .insertInto("failing_subscription")
            .values([0, 1, 3].map((index) => ({ subscription: subscriptions[index]!.id, ...failing, noticed: null })))
        )
        const turn = { roundRobinCursor: subscriptions[2]!.id, limit: 10, failingLimit: 2 }
        const sorted = yield* outbox.lease(
          [capacity("free.test", { accounts: new Map([[account, turn]]) })],
          leaseMillis
        )
        assert.deepStrictEqual(
          sorted.map(({ subscription }) => subscriptions.findIndex(({ id }) => id === subscription)),
          [4, 2, 3, 0]
        )
        assert.deepStrictEqual(
          sorted.map(({ failing }) => failing),
          [false, false, true, true]
        )
      })
    )

    it.effect(
      "gives every account of a host its turn, whatever another one has there, and none more than its own limit",
      () =>
        Effect.gen(function* () {
          yield* nothingToSend
          const outbox = yield* Outbox
          const [busy, other] = [yield* Seed.account, yield* Seed.account]
          const ofBusy = yield* Effect.forEach(Array.from({ length: 12 }), () =>
            Seed.subscription(busy, "https://busy.test/")
          )
          for (const subscription of ofBusy) yield* Seed.callbacks(subscription, 2)
          assert.deepStrictEqual(
            (yield* outbox.hosts).find(({ host }) => host === "busy.test"),
            { host: "busy.test", account: busy }
          )
          const shared = capacity("busy.test", { limit: 4, batchSize: 1, accountLimit: 3, callbacks: 10_000 })
          const accountsOf = (leases: ReadonlyArray<Lease>) => leases.map(({ account }) => account)
          const first = yield* outbox.lease([shared], leaseMillis)
          assert.deepStrictEqual(accountsOf(first), [busy, busy, busy])

          // What comes now is next, before all that waits already.
          const own = yield* Seed.subscription(other, "https://busy.test/")
          yield* Seed.callbacks(own, 2)
          assert.strictEqual((yield* outbox.hosts).find(({ host }) => host === "busy.test")!.account, undefined)
          const full = { roundRobinCursor: first.at(-1)!.subscription, limit: 0 }
          const turns = { accountCursor: busy, accounts: new Map([[busy, full]]) }
          const second = yield* outbox.lease([{ ...shared, ...turns, limit: 1 }], leaseMillis)
          assert.deepStrictEqual(accountsOf(second), [other])

          // What is sent again counts as well.
          const now = yield* Clock.currentTimeMillis
          yield* outbox.acknowledge(
            first.flatMap(({ callbacks }) => callbacks.map((callback) => failed(callback, now)))
          )
          yield* outbox.acknowledge(
            second.flatMap(({ callbacks }) => callbacks.map((callback) => failed(callback, now)))
          )
          const again = yield* outbox.lease([{ ...shared, ...turns, retriesFirst: true }], leaseMillis)
          assert.deepStrictEqual(accountsOf(again), [other, other])
          const { query } = yield* Database
          yield* query((db) => db.deleteFrom("callback").where("host", "=", "busy.test"))
        })
    )

    it.effect("shares a host's places between what is sent again and what was never sent, whichever comes first", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(Array.from({ length: 8 }), () =>
          Seed.subscription(account, "https://busy.test/")
        )
        for (const subscription of subscriptions) yield* Seed.callbacks(subscription, 2)
        const shared = capacity("busy.test", { limit: 8, batchSize: 1 })
        const first = yield* outbox.lease([shared], leaseMillis)
        const now = yield* Clock.currentTimeMillis
        yield* outbox.acknowledge(first.flatMap(({ callbacks }) => callbacks.map((callback) => failed(callback, now))))
        // Of places that several accounts share each one's are shared so.
        const accounts = new Map([[account, { roundRobinCursor: 0, limit: 3 }]])
        for (const [retriesFirst, limit, turns] of [
          [true, 3, new Map()],
          [false, 3, new Map()],
          [true, 8, accounts],
          [false, 8, accounts]
        ] as const) {
          const leases = yield* outbox.lease([{ ...shared, limit, accounts: turns, retriesFirst }], leaseMillis)
          const attempts = leases.map(({ callbacks }) => callbacks[0]!.attempts)
          assert.deepStrictEqual(attempts, retriesFirst ? [0, 1, 1] : [0, 0, 1])
          for (const { callbacks, failing } of leases) assert.strictEqual(failing, callbacks[0]!.attempts > 0)
          yield* outbox.acknowledge(
            leases.flatMap(({ callbacks }) => callbacks.map((callback) => ({ kind: "released" as const, callback })))
          )
        }
        const { query } = yield* Database
        yield* query((db) => db.deleteFrom("callback").where("host", "=", "busy.test"))
      })
    )

    it.effect("finds what an account has to be sent again, however much of others at the host is held back", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const [failing, full, other] = [yield* Seed.account, yield* Seed.account, yield* Seed.account]
        for (const [account, count, due] of [
          [failing, 200, 1],
          [full, 200, 2],
          [other, 1, 3]
        ] as const) {
          yield* Seed.callbacks(yield* Seed.subscription(account, "https://busy.test/"), count)
          yield* query((db) =>
            db.updateTable("callback").set({ attempts: 1, sequence: 1, due }).where("account", "=", account)
          )
        }
        const accounts = new Map([
          [failing, { roundRobinCursor: 0, limit: 3, failingLimit: 0 }],
          [full, { roundRobinCursor: 0, limit: 0 }]
        ])
        const leases = yield* outbox.lease([capacity("busy.test", { limit: 4, accounts })], leaseMillis)
        assert.deepStrictEqual(
          leases.map(({ account }) => account),
          [other]
        )
        yield* nothingToSend
      })
    )

    it.effect("finds what is to be sent again behind however many accounts whose time has not come", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const now = yield* Clock.currentTimeMillis
        const accounts = yield* Effect.replicateEffect(Seed.account, 100)
        for (const account of accounts) {
          yield* Seed.callbacks(yield* Seed.subscription(account, "https://busy.test/"), 1)
          const due = account === accounts.at(-1) ? now : now + 3_600_000
          yield* query((db) =>
            db.updateTable("callback").set({ attempts: 1, sequence: 1, due }).where("account", "=", account)
          )
        }
        const leases = yield* outbox.lease([capacity("busy.test", { limit: 4 })], leaseMillis)
        assert.deepStrictEqual(
          leases.map(({ account }) => account),
          accounts.slice(-1)
        )
        yield* nothingToSend
      })
    )

    it.effect("finds what was made before accounts had their turns, whoever had the last one", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://free.test/a")
        yield* Seed.callbacks(a, 3)
        yield* query((db) => db.updateTable("callback").set({ account: 0 }).where("subscription", "=", a.id))
        for (const accountCursor of [-1, 0, account]) {
          const [lease] = yield* outbox.lease([capacity("free.test", { batchSize: 1, accountCursor })], leaseMillis)
          assert.strictEqual(lease?.subscription, a.id, String(accountCursor))
          yield* outbox.acknowledge(lease!.callbacks.map(delivered))
        }
      })
    )

    it.effect("finds a host's work past another host's backlog", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { insertMany, query } = yield* Database
        const dead = yield* Seed.subscription(yield* Seed.account, "https://dead.test/")
        const live = yield* Seed.subscription(yield* Seed.account, "https://free.test/z")
        const row = { host: "dead.test", chain: 1, height: 1, event: "E", body: "{}", state: "due", due: 1, created: 1 }
        yield* insertMany(
          "callback",
          Array.from({ length: 40_000 }, (_, i) => ({
            ...row,
            state: "due" as const,
            // One subscription with a long backlog, and many with a short one, half of them to be sent again.
            subscription: i < 20_000 ? dead.id : 1_000_000 + i,
            attempts: i % 2,
            sequence: i % 2 === 0 ? null : 1,
            idempotency_key: `dead ${i}`
          }))
        )
        for (let i = 0; i < 5; i++) {
          yield* Seed.callbacks(live, 1, { label: `${i} ` })
          assert.deepStrictEqual((yield* hostsOf(outbox)).sort(), ["dead.test", "free.test"])
          const leases = yield* outbox.lease([capacity("free.test")], leaseMillis)
          assert.strictEqual(leases.length, 1)
          yield* outbox.acknowledge(leases[0]!.callbacks.map(delivered))
        }
        yield* query((db) => db.deleteFrom("callback").where("host", "=", "dead.test"))
      })
    )

    it.effect("holds back the callbacks of an exhausted subscription, and sends them in order once it is active", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://free.test/a")
        yield* Seed.callbacks(a, 4)
        const [lease] = yield* outbox.lease([capacity("free.test", { batchSize: 2 })], leaseMillis)
        const [first, second] = lease!.callbacks
        yield* outbox.acknowledge([
          delivered(first!),
          {
            kind: "refused",
            callback: second!,
            subscription: a.id,
            reason: "maximum_retry_attempts_reached",
            attempt: { at: 5, duration: 5, error: "answered 500", status: 500 }
          }
        ])
        const states = Effect.map(Seed.rows(a.id), (rows) =>
          rows.map(({ sequence, state }) => [sequence, state] as ReadonlyArray<unknown>)
        )
        assert.deepStrictEqual(yield* states, [
          [1, "delivered"],
          [2, "held"],
          [null, "held"],
          [null, "held"]
        ])
        const key = { account, chain: Seed.chain, referenceId: a.referenceId }
        const inactive = yield* subscriptions.get(key)
        assert.isFalse(inactive.active)
        assert.strictEqual(inactive.deactivationReasons[0]!.reason, "maximum_retry_attempts_reached")
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
        yield* subscriptions.activate(key)
        const [released] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        assert.deepStrictEqual(sequences(released!), [2, 3, 4])
        assert.strictEqual(released!.callbacks[0]!.attempts, 0)
        yield* outbox.acknowledge(released!.callbacks.map(delivered))
        assert.strictEqual(JSON.parse((yield* Seed.rows(a.id))[1]!.attempt_log).length, 2)
      })
    )

    it.effect(
      "leaves a subscription active whose callback another daemon has delivered since the last attempt began",
      () =>
        Effect.gen(function* () {
          yield* nothingToSend
          const outbox = yield* Outbox
          const account = yield* Seed.account
          const a = yield* Seed.subscription(account, "https://free.test/a")
          yield* Seed.callbacks(a, 1)
          const last = (callback: OutboxMessage): Outcome => ({
            ...{ kind: "refused", callback, subscription: a.id, reason: "maximum_retry_attempts_reached" },
            attempt: { at: 5, duration: 5, error: "no answer within 5000 ms" }
          })
          const [stale] = yield* outbox.lease([capacity("free.test")], 0)
          const [again] = yield* outbox.lease([capacity("free.test")], leaseMillis)
          assert.deepStrictEqual(sequences(again!), [1])
          yield* outbox.acknowledge([delivered(again!.callbacks[0]!)])
          yield* outbox.acknowledge([last(stale!.callbacks[0]!)])
          const { get } = yield* Subscriptions
          const found = get({ account, chain: Seed.chain, referenceId: a.referenceId })
          assert.isTrue((yield* found).active)
          assert.deepStrictEqual(
            (yield* Seed.rows(a.id)).map(({ state }) => state),
            ["delivered"]
          )
          // As where it is delivered here again before its former attempt is given up.
          yield* Seed.callbacks(a, 1, { label: "both " })
          const [both] = yield* outbox.lease([capacity("free.test")], leaseMillis)
          yield* outbox.acknowledge([last(both!.callbacks[0]!), delivered(both!.callbacks[0]!)])
          assert.isTrue((yield* found).active)
          // As of one that was moved to a partition since, or is kept no more.
          yield* (yield* Database).query((db) => db.deleteFrom("callback").where("subscription", "=", a.id))
          yield* outbox.acknowledge([last(stale!.callbacks[0]!)])
          assert.isTrue((yield* found).active)
          // One that nobody has delivered ends it.
          yield* Seed.callbacks(a, 1, { label: "next " })
          const [next] = yield* outbox.lease([capacity("free.test")], leaseMillis)
          yield* outbox.acknowledge([last(stale!.callbacks[0]!), last(next!.callbacks[0]!)])
          assert.isFalse((yield* found).active)
        })
    )

    it.effect("charges for more callbacks at once than a statement has parameters", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const charged: Array<number> = []
        const charge = (sent: ReadonlyArray<{ readonly id: number }>) =>
          Effect.sync(() => charged.push(...sent.map(({ id }) => id)))
        const charging = Layer.succeed(CallbackCharging, (sent) => Effect.asVoid(charge(sent)))
        const outbox = yield* Effect.provide(Outbox, Layer.provide(Layer.fresh(Outbox.layer), charging))
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        const [id] = yield* Seed.callbacks(a, 1)
        const [lease] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        // As after a long failure of the store; all but the first were removed with their subscriptions meanwhile.
        const [callback] = lease!.callbacks
        const outcomes = Array.from({ length: 70_000 }, (_, i) =>
          delivered({ ...callback!, id: i === 0 ? id! : 1e9 + i })
        )
        yield* outbox.acknowledge(outcomes)
        assert.deepStrictEqual(charged, [id])
      })
    )

    it.effect("leaves an orphaned callback orphaned, whatever its receiver answers", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        const ids = yield* Seed.callbacks(a, 2)
        const [lease] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        yield* query((db) => db.updateTable("callback").set({ state: "orphaned" }).where("id", "in", ids))
        const [refusing, accepting] = lease!.callbacks
        yield* outbox.acknowledge([failed(refusing!, 0), delivered(accepting!)])
        assert.deepStrictEqual(
          (yield* Seed.rows(a.id)).map(({ attempts, delivered, leased_until, state }) => [
            ...[state, attempts, leased_until, delivered]
          ]),
          [
            ["orphaned", 1, 0, null],
            ["orphaned", 1, 0, 1007]
          ]
        )
        assert.deepStrictEqual(yield* outbox.lease([capacity("free.test")], leaseMillis), [])
      })
    )

    it.effect("sends nothing to a host until its account has verified it, then everything in order", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const domains = yield* Domains
        const [mine, theirs] = [yield* Seed.account, yield* Seed.account]
        yield* domains.add(theirs, "own.test")
        yield* domains.setVerified(theirs, "own.test")
        yield* domains.add(mine, "own.test")
        const a = yield* Seed.subscription(mine, "https://own.test/")
        yield* Seed.callbacks(a, 3)
        assert.deepStrictEqual(yield* outbox.lease([capacity("own.test")], leaseMillis), [])
        assert.deepStrictEqual(
          (yield* Seed.rows(a.id)).map(({ state }) => state),
          ["held", "held", "held"]
        )
        assert.deepStrictEqual(yield* hostsOf(outbox), [])
        yield* domains.setVerified(mine, "own.test")
        const [lease] = yield* outbox.lease([capacity("own.test")], leaseMillis)
        assert.deepStrictEqual(sequences(lease!), [1, 2, 3])
        yield* outbox.acknowledge(lease!.callbacks.map(delivered))
      })
    )

    it.effect("keeps no more than it may for an unverified host, and counts what it gives up", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const domains = yield* Domains
        const account = yield* Seed.account
        yield* domains.add(account, "late.test")
        const a = yield* Seed.subscription(account, "https://late.test/")
        const now = yield* Clock.currentTimeMillis
        yield* Seed.callbacks(a, 7, { created: now - 2 * keep.parkedMillis })
        yield* outbox.lease([capacity("late.test")], leaseMillis)
        const states = Effect.map(Seed.rows(a.id), (rows) =>
          rows.map(({ sequence, state }) => [sequence, state] as ReadonlyArray<unknown>)
        )
        assert.deepStrictEqual(yield* states, [
          [1, "expired"],
          [2, "expired"],
          ...Array.from({ length: 5 }, () => [null, "held"])
        ])
        yield* Seed.callbacks(a, 1, { label: "fresh" })
        yield* outbox.lease([capacity("late.test")], leaseMillis)
        assert.isAbove(yield* outbox.expire, 0)
        assert.deepStrictEqual((yield* states).at(-1), [null, "held"])
        assert.deepStrictEqual(
          (yield* states).slice(0, 7),
          [1, 2, 3, 4, 5, 6, 7].map((n) => [n, "expired"])
        )
        yield* domains.setVerified(account, "late.test")
        const [lease] = yield* outbox.lease([capacity("late.test")], leaseMillis)
        assert.deepStrictEqual(sequences(lease!), [8])
        yield* outbox.acknowledge(lease!.callbacks.map(delivered))
      })
    )

    it.effect("signs with the secret before as well while a rotation lasts", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/a", "new")
        const secrets = Effect.fnUntraced(function* (until: number) {
          yield* query((db) =>
            db
              .updateTable("subscription")
              .set({ previous_secret: "old", previous_secret_until: until })
              .where("id", "=", a.id)
          )
          yield* Seed.callbacks(a, 1, { label: `until ${until}` })
          const [lease] = yield* outbox.lease([capacity("free.test")], leaseMillis)
          yield* outbox.acknowledge(lease!.callbacks.map(delivered))
          return lease!.secrets
        })
        assert.deepStrictEqual(yield* secrets((yield* Clock.currentTimeMillis) + 60_000), ["new", "old"])
        assert.deepStrictEqual(yield* secrets((yield* Clock.currentTimeMillis) - 1), ["new"])
      })
    )

    it.effect("forgets finished callbacks that are old enough, and no others", () =>
      Effect.gen(function* () {
        yield* nothingToSend
        const outbox = yield* Outbox
        const { query } = yield* Database
        const a = yield* Seed.subscription(yield* Seed.account, "https://free.test/prune")
        const old = (yield* Clock.currentTimeMillis) - 2 * keep.finishedMillis
        yield* query((db) => db.deleteFrom("callback"))
        yield* Seed.callbacks(a, 2500, { created: old, state: "delivered", label: "old" })
        yield* Seed.callbacks(a, 3, { created: old, state: "held", label: "held" })
        yield* Seed.callbacks(a, 2, { created: old, state: "orphaned", label: "orphaned" })
        yield* Seed.callbacks(a, 4, { state: "delivered", label: "young" })
        assert.strictEqual(yield* outbox.prune, 2502)
        const states = (yield* Seed.rows(a.id)).map(({ state }) => state)
        assert.deepStrictEqual(states, [...Array(3).fill("held"), ...Array(4).fill("delivered")])
        assert.strictEqual(yield* outbox.prune, 0)
      })
    )
  })
}

describe("Outbox", () => {
  plain.effect("wakes everybody who waits, and none for what was before", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const { signals } = yield* Database
      yield* signals.send("callbacks")
      const waits = [yield* outbox.nextWakeup, yield* outbox.nextWakeup]
      const pending = yield* Effect.forkChild(Effect.all(waits, { concurrency: 2 }))
      yield* Effect.yieldNow
      assert.isUndefined(pending.pollUnsafe())
      yield* signals.send("callbacks")
      yield* Effect.all(waits)
    }).pipe(
      Effect.provide(Outbox.layer.pipe(Layer.provideMerge(Subscriptions.layer), Layer.provideMerge(stores[0]!.layer)))
    )
  )
})

for (const store of takenStores(import.meta.url)) {
  const services = Outbox.layer.pipe(
    Layer.provide(slow),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )

  layer(services)(`Outbox on a slow ${store.name}`, (it) => {
    it.effect("leases for the whole time, however long it took to find what is due", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        yield* Seed.callbacks(yield* Seed.subscription(yield* Seed.account, "https://free.test/"), 1)
        const began = yield* Clock.currentTimeMillis
        const [lease] = yield* outbox.lease([capacity("free.test")], leaseMillis)
        const took = (yield* Clock.currentTimeMillis) - began
        assert.isAtLeast(took, 3000)
        assert.isAbove(lease!.leasedUntil - began, leaseMillis + took / 2)
      })
    )
  })
}
