import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import type { HostCapacity, OutboxMessage, Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import * as DeliveryRecord from "@headwater/indexer/store/subscriptions/internal/DeliveryRecord"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Plans from "../Plans.ts"
import * as Seed from "../Seed.ts"

const capacity = (host: string): HostCapacity => ({
  ...{ host, limit: 10, followOns: [], batchSize: 10 },
  ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000, retriesFirst: false }
})

/** All of an hour: the present period and the five before. */
const start = 1_764_158_400_000

const accepted = (callback: OutboxMessage, at: number, duration = 7): Outcome => ({
  ...{ kind: "delivered", callback, attempt: { at, duration, status: 200 } }
})
const refused = (callback: OutboxMessage, at: number, due: number): Outcome => ({
  ...{ kind: "retry", callback, due, attempt: { at, duration: 90, status: 500, error: "answered 500" } }
})

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(hostPermission(new Set(["a.test", "b.test"]))),
    Layer.provideMerge(Domains.layer),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`The health of receivers on ${store.name}`, (it) => {
    const lease = (host: string) =>
      Effect.map(
        Effect.flatMap(Outbox, (outbox) => outbox.lease([capacity(host)], 1000)),
        (leases) => leases.flatMap(({ callbacks }) => callbacks)
      )
    const acknowledge = (...outcomes: ReadonlyArray<Outcome>) =>
      Effect.flatMap(Outbox, (outbox) => outbox.acknowledge(outcomes))
    const ofHosts = Effect.gen(function* () {
      const { query } = yield* Database
      const { ofAccount } = yield* ReceiverHealth.make
      const accounts = yield* query((db) => db.selectFrom("account").select("id"))
      const found = yield* Effect.forEach(accounts, ({ id }) => ofAccount(id, { limit: 10, offset: 0 }))
      return Object.fromEntries(
        found.flatMap(({ hosts }) => hosts.map((health): [string, ReceiverHealth.HostHealth] => [health.host, health]))
      )
    })
    const of = Effect.fnUntraced(function* (subscription: { readonly id: number }) {
      const { query } = yield* Database
      const [row] = yield* query((db) =>
        db.selectFrom("subscription").select(["id", "account", "host", "active"]).where("id", "=", subscription.id)
      )
      return yield* (yield* ReceiverHealth.make).ofSubscription(row!)
    })

    it.effect("is what the attempts and the callbacks to be sent say, of hosts and of subscriptions", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const health = yield* ReceiverHealth.make
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://a.test/")
        const b = yield* Seed.subscription(account, "https://b.test/")
        const other = yield* Seed.subscription(account, "https://b.test/other")
        yield* Seed.subscription(account, "https://unverified.test/")
        const nothing = {
          ...{ failingSince: undefined, error: undefined, pausedUntil: undefined, nextAttempt: undefined },
          ...{ waiting: 0, retrying: 0, oldest: undefined }
        }
        const silent = { ...nothing, attempts: 0, successRate: undefined, p50: undefined, p99: undefined }
        assert.deepStrictEqual(
          (yield* health.overview(10)).hosts.map(({ host, state }) => [host, state]),
          [
            ["unverified.test", "unverified"],
            ["a.test", "healthy"],
            ["b.test", "healthy"]
          ]
        )
        assert.deepStrictEqual(yield* of(a), { ...silent, state: "healthy" })

        yield* Seed.callbacks(a, 3)
        yield* Seed.callbacks(b, 2)
        const [a1, a2, a3] = yield* lease("a.test")
        const [b1, b2] = yield* lease("b.test")
        yield* acknowledge(
          ...[accepted(a1!, start), accepted(a2!, start, 400), accepted(a3!, start)],
          ...[refused(b1!, start + 10, start + 5000), refused(b2!, start + 200, start + 6000)]
        )
        const well = { attempts: 3, successRate: 1, p50: 10, p99: 400 }
        const failing = {
          ...{ state: "failing" as const, failingSince: start + 10, error: "answered 500", pausedUntil: undefined },
          ...{ waiting: 0, retrying: 2, oldest: start, nextAttempt: start + 5000 },
          ...{ attempts: 2, successRate: 0, p50: 100, p99: 100 }
        } as const
        assert.deepStrictEqual(yield* ofHosts, {
          "a.test": {
            ...{ account, host: "a.test", ...nothing, ...well, state: "healthy" as const },
            ...{ failingSubscriptions: 0, inactiveSubscriptions: 0 }
          },
          "b.test": { account, host: "b.test", ...failing, failingSubscriptions: 1, inactiveSubscriptions: 0 },
          "unverified.test": {
            ...{ account, host: "unverified.test", ...silent, state: "unverified" as const },
            ...{ failingSubscriptions: 0, inactiveSubscriptions: 0 }
          }
        })
        assert.deepStrictEqual(yield* of(a), { ...nothing, ...well, state: "healthy" })
        assert.deepStrictEqual(yield* of(b), failing)
        assert.deepStrictEqual(yield* of(other), { ...silent, state: "healthy" })
        assert.deepStrictEqual(
          (yield* health.failures(10)).map(({ error, last, referenceId, since, status }) => ({
            ...{ error, last, referenceId, since, status }
          })),
          [{ error: "answered 500", last: start + 200, referenceId: b.referenceId, since: start + 10, status: 500 }]
        )

        // A new failure goes on with the earlier one; the host is left alone for a moment.
        yield* TestClock.adjust(5000)
        const [again] = yield* lease("b.test")
        const silence: Outcome = {
          ...{ kind: "retry", callback: again!, due: start + 9000, pausedUntil: start + 8000 },
          attempt: { at: start + 5000, duration: 5000, error: "no answer within 5000 ms" }
        }
        yield* acknowledge(silence)
        const paused = (yield* ofHosts)["b.test"]!
        assert.deepInclude(paused, {
          state: "paused",
          failingSince: start + 10,
          pausedUntil: start + 8000,
          nextAttempt: start + 8000
        })
        assert.deepInclude(paused, { error: "no answer within 5000 ms", attempts: 3, successRate: 0, p99: 100 })
        const pause = { state: "paused" as const, error: "no answer within 5000 ms", pausedUntil: start + 8000 }
        assert.deepInclude(yield* of(b), { ...pause, failingSince: start + 10 })
        // Nothing is sent to another subscription of the host either, which has failed at nothing.
        assert.deepStrictEqual(yield* of(other), { ...silent, ...pause, error: undefined })

        // What is accepted ends the failure, though not all has been sent again.
        yield* TestClock.adjust(3000)
        assert.strictEqual((yield* ofHosts)["b.test"]!.state, "failing")
        const [second] = yield* lease("b.test")
        yield* acknowledge(accepted(second!, start + 8000))
        assert.deepInclude((yield* ofHosts)["b.test"]!, { state: "recovering", retrying: 1, failingSince: undefined })
        assert.strictEqual((yield* of(b)).state, "recovering")
        yield* TestClock.adjust(2000)
        const [last] = yield* lease("b.test")
        // Of outcomes that are written together, the last one counts; what failed after an acceptance is a new failure.
        yield* Seed.callbacks(b, 1, { label: "late" })
        const [late] = yield* lease("b.test")
        yield* acknowledge(accepted(last!, start + 10_000), refused(late!, start + 10_001, start + 60_000))
        assert.deepInclude(yield* of(b), { state: "failing", failingSince: start + 10_001 })

        const { deactivate } = yield* Subscriptions
        // The error is that of an active subscription, though another failed later.
        yield* Seed.callbacks(other, 1, { label: "other" })
        const [others] = yield* lease("b.test")
        const { kind: _, ...outcome } = refused(others!, start + 10_002, start + 60_000)
        const attempt = { at: start + 10_002, duration: 90, error: "another error" }
        yield* acknowledge({ ...outcome, kind: "retry", attempt } as Outcome)
        assert.deepInclude((yield* ofHosts)["b.test"]!, { error: "another error" })
        yield* deactivate(other.id, "for a moment")
        assert.deepInclude((yield* ofHosts)["b.test"]!, { state: "failing", error: "answered 500" })
        const { query } = yield* Database
        yield* query((db) => db.updateTable("subscription").set({ active: 1 }).where("id", "=", other.id))
        yield* query((db) => db.deleteFrom("failing_subscription").where("subscription", "=", other.id))

        yield* deactivate(b.id, "maximum_retry_attempts_reached")
        assert.strictEqual((yield* of(b)).state, "inactive")
        // The other subscription of the host is active, and nothing of it fails.
        assert.deepInclude((yield* ofHosts)["b.test"]!, { state: "healthy", inactiveSubscriptions: 1 })
        yield* deactivate(other.id, "a reason")
        assert.deepInclude((yield* ofHosts)["b.test"]!, { state: "inactive", inactiveSubscriptions: 2 })
        assert.deepStrictEqual((yield* health.overview(0)).counts, {
          ...{ unverified: 1, inactive: 1, paused: 0, failing: 0, recovering: 0, healthy: 1 }
        })
        yield* (yield* Subscriptions).remove({ account, chain: Seed.chain, referenceId: b.referenceId })
        assert.deepStrictEqual(yield* health.failures(10), [])
      }).pipe(Effect.provide(services))
    )

    it.effect("is read by as many statements, however many hosts are not verified", () =>
      Effect.gen(function* () {
        const account = yield* Seed.account
        const database = yield* Database
        let statements = 0
        const count = <A, E>(self: Effect.Effect<A, E>) =>
          Effect.andThen(
            Effect.sync(() => statements++),
            self
          )
        const counted = Database.of({
          ...database,
          query: (build) => count(database.query(build)),
          read: (build) => count(database.read(build))
        })
        const permission = hostPermission(new Set()).pipe(Layer.provide(Layer.fresh(Domains.layer)))
        const { overview } = yield* ReceiverHealth.make.pipe(
          Effect.provide(permission),
          Effect.provideService(Database, counted)
        )
        const statementsOf = Effect.gen(function* () {
          statements = 0
          const { counts } = yield* overview(0)
          return { statements, unverified: counts.unverified }
        })
        const add = (i: number) => Seed.subscription(account, `https://host${i}.test/`)
        for (let i = 0; i < 2; i++) yield* add(i)
        const few = yield* statementsOf
        for (let i = 2; i < 30; i++) yield* add(i)
        const many = yield* statementsOf
        assert.deepStrictEqual([few.unverified, many.unverified], [2, 30])
        assert.strictEqual(many.statements, few.statements)
      }).pipe(Effect.provide(services))
    )

    it.effect("is told to the account in its feed, once, when half of the retries have failed", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const health = yield* ReceiverHealth.make
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, "https://a.test/")
        yield* Seed.callbacks(a, 2)
        const key = { account, chain: Seed.chain, referenceId: a.referenceId }
        const { list, recover } = yield* Callbacks
        const told = Effect.map(list(key, { after: 0, limit: 10 }), ({ callbacks }) =>
          callbacks.filter(({ event }) => event === "SUBSCRIPTION_FAILING")
        )
        const half = (callback: OutboxMessage) => ({ ...refused(callback, start, start + 1000), retriesLeft: 3 })
        const [first, second] = yield* lease("a.test")
        yield* acknowledge(refused(first!, start, start + 1000), refused(second!, start, start + 1000))
        assert.deepStrictEqual(yield* told, [])
        yield* acknowledge(half(first!), half(second!))
        yield* acknowledge(half(second!))
        const [notice, ...more] = yield* told
        assert.deepStrictEqual(more, [])
        assert.strictEqual(notice!.state, "expired")
        assert.deepInclude(JSON.parse(notice!.body).data.item, {
          ...{ blockchain: "ethereum", failingSince: start, error: "answered 500", retriesLeft: 3 }
        })
        assert.deepInclude(yield* health.failing, { count: 1, noticed: 1 })
        // What only the feed tells is not sent, also not again.
        yield* recover(key, {})
        yield* (yield* Outbox).recover
        assert.strictEqual((yield* told)[0]!.state, "expired")
        // Another failure is another notice.
        yield* acknowledge(accepted(first!, start + 2000), refused(second!, start + 3000, start + 4000))
        yield* acknowledge(half(second!))
        assert.strictEqual((yield* told).length, 2)
      }).pipe(Effect.provide(services))
    )

    it.effect("reads of one account no more than the account has", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const accounts = [yield* Seed.account, yield* Seed.account] as const
        const made = yield* Effect.forEach(accounts, (account) => Seed.subscription(account, "https://a.test/"))
        for (const subscription of made) yield* Seed.callbacks(subscription, 1)
        const [row] = yield* query((db) => db.selectFrom("callback").selectAll().limit(1))
        const { id: _, ...callback } = row!
        const failing = { host: "a.test", since: 1, last: 1, status: null, error: "", paused_until: 0, noticed: null }
        const others = Array.from({ length: 5_000 }, (_, i) => 10_000 + i)
        yield* insertMany(
          "callback",
          others.map((i) => ({ ...callback, account: i, subscription: i, idempotency_key: `${i}`, attempts: 1 }))
        )
        yield* insertMany(
          "failing_subscription",
          others.map((i) => ({ ...failing, account: i, subscription: i }))
        )
        yield* insertMany("failing_subscription", [{ ...failing, account: accounts[0], subscription: made[0]!.id }])
        if (store.name === "postgres") yield* query(rows(sql`analyze`))
        const overview = (account: number) =>
          Effect.flatMap(ReceiverHealth.make, (health) => health.overview(0, account)).pipe(
            Effect.provide(hostPermission(new Set(["a.test"])).pipe(Layer.provide(Layer.fresh(Domains.layer))))
          )
        const plans = yield* Plans.of(store.name, overview(accounts[0]), { run: true })
        const all = plans.join()
        assert.match(all, /failing_subscription_host/)
        assert.match(all, /callback_waiting/)
        assert.notMatch(
          all,
          /callback_retry|SCAN (callback|failing_subscription)|Seq Scan on (callback|failing_subscription)/
        )
        const states = yield* Effect.forEach(accounts, (account) => overview(account))
        assert.deepStrictEqual(
          states.map(({ counts: { failing, healthy } }) => ({ failing, healthy })),
          [
            { failing: 1, healthy: 0 },
            { failing: 0, healthy: 1 }
          ]
        )
      }).pipe(Effect.provide(services))
    )

    it.effect("adds old counts to their days in small steps", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const { insertMany, query, transaction } = yield* Database
        const [day, period] = [start - (start % 86_400_000) - 5 * 86_400_000, 600_000]
        const outcome = "accepted" as const
        yield* insertMany("delivery_count", [
          { account: 0, host: "host", period: day + 86_400_000, outcome, millis: 5, attempts: 1 }
        ])
        if (store.name === "postgres") yield* query(rows(sql`analyze delivery_count`))
        // One period alone with more rows than a step has.
        yield* insertMany("delivery_count", [
          ...Array.from({ length: 2_500 }, (_, i) => ({
            ...{ account: i % 2, host: `host ${i}`, period: day, outcome, millis: 5, attempts: 2 }
          })),
          { account: 0, host: "host", period: day + period, outcome, millis: 5, attempts: 1 }
        ])
        const removed: Array<number> = []
        const counts = query((db) => db.selectFrom("delivery_count").select(({ fn }) => fn.countAll().as("count")))
        // PostgreSQL joins so where it believes that a table has next to no rows.
        const rowByRow = Effect.forEach(
          store.name === "postgres" ? ["hashjoin", "mergejoin", "hashagg", "material", "sort"] : [],
          (way) => query(rows(sql.raw(`set local enable_${way} = off`)))
        )
        const counting: typeof transaction = (self) =>
          transaction(
            Effect.gen(function* () {
              yield* rowByRow
              const before = Number((yield* counts)[0]!.count)
              const answer = yield* self
              removed.push(before - Number((yield* counts)[0]!.count))
              return answer
            })
          ) as ReturnType<typeof transaction<never, never, never>>
        const database = yield* Database
        const pruning = yield* DeliveryRecord.prune.pipe(
          Effect.provideService(Database, { ...database, transaction: counting }),
          Effect.forkChild
        )
        while (pruning.pollUnsafe() === undefined)
          yield* TestClock.adjust("1 millis").pipe(Effect.andThen(Effect.yieldNow))
        yield* Fiber.join(pruning)
        assert.deepStrictEqual(removed, [1_000, 1_000, 502])
        assert.deepStrictEqual(
          yield* query((db) =>
            db.selectFrom("delivery_day").select(["account", "day", "attempts"]).orderBy("day").orderBy("account")
          ),
          [
            { account: 0, day, attempts: 2_501 },
            { account: 1, day, attempts: 2_500 },
            { account: 0, day: day + 86_400_000, attempts: 1 }
          ]
        )
      }).pipe(Effect.provide(services))
    )

    it.effect("is of each account alone, and of the last hour; counts are forgotten after a day", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const health = yield* ReceiverHealth.make
        const { query } = yield* Database
        const [one, two] = [yield* Seed.account, yield* Seed.account]
        const mine = yield* Seed.subscription(one, "https://a.test/")
        yield* Seed.subscription(two, "https://a.test/")
        yield* Seed.subscription(two, "https://b.test/")
        yield* Seed.callbacks(mine, 1)
        const [callback] = yield* lease("a.test")
        yield* acknowledge(refused(callback!, start, start + 86_400_000))
        const seen = (account: number) =>
          Effect.map(health.ofAccount(account, { limit: 10, offset: 0 }), ({ hosts }) =>
            hosts.map(({ attempts, host, state }) => [host, state, attempts])
          )
        assert.deepStrictEqual(yield* seen(one), [["a.test", "failing", 1]])
        assert.deepStrictEqual(yield* seen(two), [
          ["a.test", "healthy", 0],
          ["b.test", "healthy", 0]
        ])
        assert.deepStrictEqual(
          (yield* health.overview(2)).hosts.map(({ host, state }) => [host, state]),
          [
            ["a.test", "failing"],
            ["a.test", "healthy"]
          ]
        )
        assert.deepStrictEqual((yield* health.ofAccount(two, { limit: 1, offset: 1 })).total, 2)
        assert.deepInclude((yield* health.periods).at(-1)!, { at: start, attempts: 1, successRate: 0 })

        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* seen(one), [["a.test", "failing", 0]])
        assert.strictEqual((yield* health.periods).filter(({ attempts }) => attempts > 0).length, 1)
        yield* TestClock.adjust("24 hours")
        const { prune } = yield* Outbox
        const counted = yield* health.overTime()
        // What is read while sums are made is of one moment.
        const database = yield* Database
        const meanwhile = yield* ReceiverHealth.make.pipe(
          Effect.provideService(Database, {
            ...database,
            read: (build) => Effect.tap(database.read(build), () => Effect.orDie(prune))
          })
        )
        assert.deepStrictEqual(yield* meanwhile.overTime(), counted)
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("delivery_count").selectAll()), [])
        assert.strictEqual(counted.last24h.attempts, 0)
        assert.isAbove(counted.last30d.attempts, 0)
        assert.deepStrictEqual(yield* health.overTime(), counted, "sums of days outlast their periods, once each")
        const ofEach = yield* Effect.forEach([one, two], (account) => health.overTime(account))
        assert.deepStrictEqual(
          ofEach.reduce((sum, { last30d }) => sum + last30d.attempts, 0),
          counted.last30d.attempts
        )
        yield* TestClock.adjust("30 days")
        yield* prune
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("delivery_day").selectAll()), [])
        assert.strictEqual((yield* health.failures(10)).length, 1)
      }).pipe(Effect.provide(services))
    )
  })
}
