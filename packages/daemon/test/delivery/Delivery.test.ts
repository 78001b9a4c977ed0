import { createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { ReceiverClient, ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
import type { RetryProfile } from "@headwater/daemon/delivery/RetryProfile"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Retractions from "@headwater/indexer/store/subscriptions/Retractions"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Dns from "effect/net/Dns"
import { Webhook } from "standardwebhooks"
import * as LocalServer from "../../../../test/LocalServer.ts"
import { stores, takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"
import * as HttpsReceiver from "./HttpsReceiver.ts"

const names = ["a.test", "b.test", "c.test"]

const defaults = Context.get(Context.empty(), Delivery.DeliveryOptions)

const quick: RetryProfile = { delays: [100, 200], jitter: 0.2 }

/** So long that no receiver which answers is given up on a busy machine. */
const patient = 30_000

/** `more` are names that have no certificate. */
const setupWith = (timeoutMillis: number, more: ReadonlyArray<string> = []) =>
  Effect.map(DevelopmentCertificate.make(names), (certificate) => ({
    certificate,
    target: CallbackTarget.layer.pipe(
      Layer.provide(
        Dns.layerStatic({ hosts: Object.fromEntries([...names, ...more].map((name) => [name, ["127.0.0.1"]])) })
      ),
      Layer.provide(Layer.succeed(AllowedHosts, new Set([...names, ...more])))
    ),
    client: Layer.succeed(ReceiverClientOptions, { timeoutMillis, connections: 32, extraCa: certificate.ca })
  }))
const setup = setupWith(patient)

/** Delivery over a store, in the scope; several may share one store. */
const deliver = Effect.fnUntraced(function* (
  { client, target }: Effect.Success<typeof setup>,
  options: Partial<typeof defaults> = {}
) {
  const outbox = yield* Outbox
  return yield* Layer.build(
    Delivery.layer.pipe(
      Layer.provide(ReceiverClient.layer),
      Layer.provide(target),
      Layer.provide(client),
      Layer.provide(Layer.succeed(Delivery.DeliveryOptions, { ...defaults, profile: quick, ...options })),
      Layer.provide([Layer.succeed(Outbox, outbox), RecurringTasks.layer]),
      Layer.provide(OwnOutages.layer)
    )
  )
})

const until = Effect.fnUntraced(function* <E, R>(condition: Effect.Effect<boolean, E, R>, seconds = 120) {
  for (let i = 0; i < seconds * 100; i++) {
    if (yield* condition) return
    yield* Effect.sleep("10 millis")
  }
  return yield* Effect.die(new Error(`Not so within ${seconds} s`))
})

const sequencesOf = (received: ReadonlyArray<HttpsReceiver.Received>) =>
  received.map(({ headers }) => Number(headers["x-callback-sequence"]))

/** As if all its callbacks had been accepted; in their order. */
const numberAll = Effect.fnUntraced(function* ({ id }: Subscription) {
  const { query } = yield* Database
  for (const [i, row] of (yield* Seed.rows(id)).entries()) {
    yield* query((db) =>
      db
        .updateTable("callback")
        .set({ state: "delivered", delivered: Date.now(), sequence: i + 1, attempts: 1 })
        .where("id", "=", row.id)
    )
  }
  const rows = yield* Seed.rows(id)
  yield* query((db) => db.updateTable("subscription").set({ last_sequence: rows.length }).where("id", "=", id))
  return rows
})

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )

  describe(`Delivery on ${store.name}`, () => {
    it.live("posts in order, with signatures that the Standard Webhooks library verifies", () =>
      Effect.gen(function* () {
        const world = yield* setup
        const receiver = yield* HttpsReceiver.start(world.certificate)
        const secret = `whsec_${Buffer.from("a secret of twenty-four!").toString("base64")}`
        const account = yield* Seed.account
        const signed = yield* Seed.subscription(account, `https://a.test:${receiver.port}/x?y=1`, secret)
        const plain = yield* Seed.subscription(account, `https://a.test:${receiver.port}/plain`)
        yield* deliver(world)
        yield* Seed.callbacks(signed, 50)
        yield* Seed.callbacks(plain, 1)
        yield* (yield* Database).signals.send("callbacks")
        yield* receiver.until(({ length }) => length === 51)
        const [one, ...none] = receiver.received.filter(({ path }) => path === "/plain")
        assert.deepStrictEqual(none, [])
        assert.isUndefined(one!.headers["x-signature"])
        const list = receiver.received.filter(({ path }) => path === "/x?y=1")
        assert.deepStrictEqual(
          sequencesOf(list),
          Array.from({ length: 50 }, (_, i) => i + 1)
        )
        for (const { headers, text } of list) {
          const id = JSON.parse(text).idempotencyKey
          assert.strictEqual(headers["webhook-id"], id)
          assert.strictEqual(headers["content-type"], "application/json")
          new Webhook(secret).verify(text, headers as Record<string, string>)
        }
        yield* until(Effect.map(Seed.rows(signed.id), (rows) => rows.every(({ state }) => state === "delivered")))
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("retries by the profile without holding back later callbacks, then deactivates", () =>
      Effect.gen(function* () {
        const world = yield* setup
        const receiver = yield* HttpsReceiver.start(world.certificate, (response, { headers }) =>
          HttpsReceiver.status(headers["x-callback-sequence"] === "2" ? 500 : 204)(response, {} as never)
        )
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, `https://a.test:${receiver.port}/`)
        yield* Seed.callbacks(a, 4)
        yield* deliver(world)
        yield* until(Effect.map(Seed.rows(a.id), (rows) => rows[1]!.state === "held"))
        const rows = yield* Seed.rows(a.id)
        assert.deepStrictEqual(
          rows.map(({ state }) => state),
          ["delivered", "held", "delivered", "delivered", "expired"]
        )
        // After half of the retries the account was told, in its feed alone.
        assert.deepInclude(JSON.parse(rows[4]!.body).data, { event: "SUBSCRIPTION_FAILING" })
        assert.deepInclude(JSON.parse(rows[4]!.body).data.item, { error: "answered 500", retriesLeft: 1 })
        const sequences = sequencesOf(receiver.received)
        assert.deepStrictEqual(sequences.slice(0, 4), [1, 2, 3, 4])
        assert.deepStrictEqual(sequences.slice(4), [2, 2])
        const attempts = JSON.parse(rows[1]!.attempt_log) as ReadonlyArray<{
          at: number
          status: number
          error: string
        }>
        assert.strictEqual(attempts.length, 3)
        assert.deepInclude(attempts[0], { status: 500, error: "answered 500" })
        assert.isAtLeast(attempts[1]!.at - attempts[0]!.at, 80)
        assert.isAtLeast(attempts[2]!.at - attempts[1]!.at, 160)
        const subscriptions = yield* Subscriptions
        const key = { account, chain: Seed.chain, referenceId: a.referenceId }
        const { active, deactivationReasons } = yield* subscriptions.get(key)
        assert.isFalse(active)
        assert.strictEqual(deactivationReasons[0]!.reason, "maximum_retry_attempts_reached")
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live(
      "sends copies to another URL in order, from where that one left off, and leaves the callbacks as they are",
      () =>
        Effect.gen(function* () {
          const world = yield* setup
          const failures = new Map([
            ["60", 2],
            ["110", 1]
          ])
          const other = yield* HttpsReceiver.start(world.certificate, (response, { headers }) => {
            const sequence = String(headers["x-callback-sequence"])
            const left = failures.get(sequence) ?? 0
            failures.set(sequence, left - 1)
            HttpsReceiver.status(left > 0 ? 503 : 204)(response, {} as never)
          })
          const secret = `whsec_${Buffer.from("a secret of twenty-four!").toString("base64")}`
          const account = yield* Seed.account
          const subscription = yield* Seed.subscription(account, "https://a.test/", secret)
          yield* Seed.callbacks(subscription, 130)
          const told = yield* numberAll(subscription)
          // It is inactive, as where its receiver is no more.
          yield* (yield* Subscriptions).deactivate(subscription.id, "a reason")
          const before = yield* Seed.rows(subscription.id)
          const callbacks = yield* Callbacks
          const key = { account, chain: Seed.chain, referenceId: subscription.referenceId }
          const url = `https://b.test:${other.port}/elsewhere`
          assert.deepInclude(yield* callbacks.copy(key, url, { after: 10 }), { after: 10, last: 130, callbacks: 0 })
          // A daemon that ends in the middle; another goes on.
          const first = yield* Scope.make()
          yield* Scope.provide(deliver(world, { recoveryMillis: 50 }), first)
          yield* other.until(({ length }) => length > 20)
          yield* Scope.close(first, Exit.void)
          yield* deliver(world, { recoveryMillis: 50 })
          const copy = Effect.map(callbacks.status(key), ({ copy }) => copy)
          yield* until(Effect.map(copy, (copy) => copy === undefined))
          const accepted = sequencesOf(other.received)
          assert.deepStrictEqual(
            accepted,
            accepted.toSorted((a, b) => a - b)
          )
          assert.deepStrictEqual(
            [...new Set(accepted)],
            Array.from({ length: 120 }, (_, i) => i + 11)
          )
          assert.strictEqual(accepted.filter((sequence) => sequence === 60).length, 3)
          const keys = new Map(told.map(({ idempotency_key, sequence }) => [sequence, idempotency_key]))
          for (const { headers, path, text } of other.received) {
            assert.strictEqual(path, "/elsewhere")
            assert.strictEqual(headers["webhook-id"], keys.get(Number(headers["x-callback-sequence"])))
            new Webhook(secret).verify(text, headers as Record<string, string>)
          }
          assert.deepStrictEqual(yield* Seed.rows(subscription.id), before)
        }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("stops a copy when its attempts have run out, and one that is asked for in its place goes on", () =>
      Effect.gen(function* () {
        const world = yield* setup
        const dead = yield* HttpsReceiver.start(world.certificate, HttpsReceiver.status(500))
        const alive = yield* HttpsReceiver.start(world.certificate)
        const account = yield* Seed.account
        const subscription = yield* Seed.subscription(account, "https://a.test/")
        yield* Seed.callbacks(subscription, 3)
        yield* numberAll(subscription)
        const callbacks = yield* Callbacks
        const key = { account, chain: Seed.chain, referenceId: subscription.referenceId }
        const copy = Effect.map(callbacks.status(key), ({ copy }) => copy)
        yield* callbacks.copy(key, `https://b.test:${dead.port}/`, {})
        yield* deliver(world, { recoveryMillis: 50 })
        yield* until(Effect.map(copy, (copy) => copy?.due === undefined && copy?.error !== undefined))
        assert.deepInclude(yield* copy, { after: 0, callbacks: 0, error: "answered 500", due: undefined })
        assert.deepStrictEqual(sequencesOf(dead.received), [1, 1, 1])
        assert.isTrue((yield* (yield* Subscriptions).get(key)).active)
        yield* callbacks.copy(key, `https://c.test:${alive.port}/`, { after: 1 })
        yield* until(Effect.map(copy, (copy) => copy === undefined))
        assert.deepStrictEqual(sequencesOf(alive.received), [2, 3])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("deactivates at once on 410, and sends nothing more of the lease", () =>
      Effect.gen(function* () {
        const world = yield* setup
        const receiver = yield* HttpsReceiver.start(world.certificate, HttpsReceiver.status(410))
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, `https://a.test:${receiver.port}/`)
        yield* Seed.callbacks(a, 5)
        yield* deliver(world)
        yield* until(Effect.map(Seed.rows(a.id), (rows) => rows.every(({ state }) => state === "held")))
        yield* Effect.sleep("300 millis")
        assert.strictEqual(receiver.received.length, 1)
        const subscriptions = yield* Subscriptions
        const { deactivationReasons } = yield* subscriptions.get({
          account,
          chain: Seed.chain,
          referenceId: a.referenceId
        })
        assert.strictEqual(deactivationReasons[0]!.reason, "receiver_gone")
        assert.deepStrictEqual(
          (yield* Seed.rows(a.id)).map(({ leased_until }) => leased_until),
          [0, 0, 0, 0, 0]
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("leases ahead without a gap, and sends nothing of what it leased ahead after 410", () =>
      Effect.gen(function* () {
        const world = yield* setup
        let answered = 0
        const receiver = yield* HttpsReceiver.start(world.certificate, (response) => {
          const status = ++answered <= 300 ? 200 : 410
          setTimeout(() => response.writeHead(status).end(), 2)
        })
        const account = yield* Seed.account
        const a = yield* Seed.subscription(account, `https://a.test:${receiver.port}/`)
        yield* Seed.callbacks(a, 500)
        yield* deliver(world, { batchSize: 8 })
        yield* until(
          Effect.map(Seed.rows(a.id), (rows) => rows.every(({ state }) => state === "delivered" || state === "held"))
        )
        yield* Effect.sleep("200 millis")
        assert.deepStrictEqual(
          sequencesOf(receiver.received),
          Array.from({ length: 301 }, (_, i) => i + 1)
        )
        const rows = yield* Seed.rows(a.id)
        assert.strictEqual(rows.filter(({ state }) => state === "delivered").length, 300)
        assert.isTrue(rows.every(({ leased_until }) => leased_until === 0))
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("leaves the pause that a receiver asks for", () =>
      Effect.gen(function* () {
        const world = yield* setup
        let first = true
        const receiver = yield* HttpsReceiver.start(world.certificate, (response, received) => {
          HttpsReceiver.status(first ? 503 : 200, { "retry-after": "2" })(response, received)
          first = false
        })
        const a = yield* Seed.subscription(yield* Seed.account, `https://a.test:${receiver.port}/`)
        yield* Seed.callbacks(a, 1)
        yield* deliver(world)
        yield* receiver.until(({ length }) => length === 2)
        assert.isAtLeast(receiver.received[1]!.at - receiver.received[0]!.at, 1900)
        yield* until(Effect.map(Seed.rows(a.id), ([row]) => row!.state === "delivered"))
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}

const services = Outbox.layer.pipe(Layer.provideMerge(Subscriptions.layer), Layer.provideMerge(stores[0]!.layer))

describe("Delivery", () => {
  it.live("does not let a silent receiver slow a healthy one, leaves it alone, and comes back to it", () =>
    Effect.gen(function* () {
      const world = yield* setupWith(1_400)
      let dead = true
      const silent = yield* HttpsReceiver.start(world.certificate, (response) => {
        if (!dead) response.end()
      })
      const healthy = yield* HttpsReceiver.start(world.certificate)
      const account = yield* Seed.account
      const sick = yield* Effect.forEach(Array.from({ length: 60 }), () =>
        Seed.subscription(account, `https://a.test:${silent.port}/`)
      )
      yield* Effect.forEach(sick, (subscription) => Seed.callbacks(subscription, 3))
      const well = yield* Seed.subscription(account, `https://b.test:${healthy.port}/`)
      const profile = { delays: Array(20).fill(500) as Array<number>, jitter: 0.1 }
      yield* deliver(world, { concurrency: 16, perHost: 8, pauseMillis: 300, maxPauseMillis: 600, profile })
      yield* Effect.sleep("100 millis")
      const latencies: Array<number> = []
      const begin = Date.now()
      for (let i = 0; i < 20; i++) {
        const at = Date.now()
        yield* Seed.callbacks(well, 1, { label: `${i}` })
        yield* (yield* Database).signals.send("callbacks")
        yield* healthy.until(({ length }) => length === i + 1)
        latencies.push(Date.now() - at)
        yield* Effect.sleep("150 millis")
      }
      // One that waits for the silent receiver waits as long as that is given to answer; a busy machine is slow now and then.
      assert.isBelow(latencies.sort((a, b) => a - b)[latencies.length / 2]!, 1_400)
      // Eight slots, two attempts each before it is left alone, then one at a time.
      assert.isBelow(silent.received.length, 30 + Math.floor((Date.now() - begin) / 1_400))
      dead = false
      yield* until(
        Effect.map(
          Effect.forEach(sick, ({ id }) => Seed.rows(id)),
          (lists) => lists.every((rows) => rows.every(({ state }) => state === "delivered"))
        )
      )
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live(
    "sends past what another account has at a path of the same host that hangs, and that too when it answers",
    () =>
      Effect.gen(function* () {
        const world = yield* setup
        const held: Array<() => void> = []
        let hangs = true
        const receiver = yield* HttpsReceiver.start(world.certificate, (response, { path }) => {
          if (hangs && path === "/hangs") held.push(() => response.end())
          else response.end()
        })
        const at = (path: string) => receiver.received.filter((one) => one.path === path).length
        const [attacker, victim] = [yield* Seed.account, yield* Seed.account]
        const hanging = yield* Effect.forEach(Array.from({ length: 40 }), () =>
          Seed.subscription(attacker, `https://a.test:${receiver.port}/hangs`)
        )
        yield* Effect.forEach(hanging, (subscription) => Seed.callbacks(subscription, 2))
        yield* deliver(world, { concurrency: 16, perHost: 8 })
        // Three quarters of the host's places, and whatever more there is to be had.
        yield* receiver.until(() => at("/hangs") >= 6)
        yield* Effect.sleep("200 millis")
        const well = yield* Seed.subscription(victim, `https://a.test:${receiver.port}/well`)
        yield* Seed.callbacks(well, 30)
        yield* (yield* Database).signals.send("callbacks")
        yield* receiver.until(() => at("/well") === 30)
        const ofAttacker = Effect.map(
          Effect.forEach(hanging, ({ id }) => Seed.rows(id)),
          (lists) => lists.flat()
        )
        // None of them had to be given up before.
        assert.isTrue((yield* ofAttacker).every(({ attempts, state }) => attempts === 0 && state === "due"))
        hangs = false
        for (const end of held) end()
        yield* until(Effect.map(ofAttacker, (rows) => rows.every(({ state }) => state === "delivered")))
      }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("sends past a thousand hosts of another account that take connections and say nothing", () =>
    Effect.gen(function* () {
      const hosts = Array.from({ length: 1_000 }, (_, i) => `own-${i}.test`)
      const world = yield* setupWith(patient, hosts)
      const sockets = new Set<Socket>()
      let ends = false
      const silent = createServer((socket) => {
        sockets.add(socket.on("error", () => {}))
        if (ends) socket.destroy()
      })
      const port = yield* LocalServer.listen(silent)
      const receiver = yield* HttpsReceiver.start(world.certificate)
      const [attacker, victim] = [yield* Seed.account, yield* Seed.account]
      const { insertMany, query } = yield* Database
      const model = yield* Seed.subscription(attacker, `https://${hosts[0]}:${port}/`)
      const [found] = yield* query((db) => db.selectFrom("subscription").selectAll().where("id", "=", model.id))
      const { id: _, ...row } = found!
      const referenceOf = (host: string) => `${model.referenceId} ${host}`
      yield* insertMany(
        "subscription",
        hosts.map((host) => ({
          ...row,
          reference_id: referenceOf(host),
          host,
          callback_url: `https://${host}:${port}/`
        }))
      )
      const own = yield* query((db) =>
        db.selectFrom("subscription").select(["id", "host"]).where("account", "=", attacker).where("id", "<>", model.id)
      )
      yield* insertMany(
        "callback",
        own.map(({ host, id }) => ({
          ...{ subscription: id, host, account: attacker, chain: 1, height: 1, idempotency_key: referenceOf(host) },
          ...{ event: "BLOCK_MINED", body: "{}", state: "due" as const, due: 1, created: 1 }
        }))
      )
      yield* deliver(world, { concurrency: 16, perHost: 8 })
      // Three quarters of all places, and whatever more there is to be had.
      yield* until(Effect.sync(() => sockets.size >= 12))
      yield* Effect.sleep("200 millis")
      const well = yield* Seed.subscription(victim, `https://b.test:${receiver.port}/`)
      yield* Seed.callbacks(well, 30)
      yield* (yield* Database).signals.send("callbacks")
      yield* receiver.until(({ length }) => length === 30)
      const tried = yield* query((db) =>
        db.selectFrom("callback").select("id").where("account", "=", attacker).where("attempts", ">", 0)
      )
      assert.deepStrictEqual(tried, [])
      // A delivery that stops waits for what it has in flight.
      ends = true
      for (const socket of sockets) socket.destroy()
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("keeps few places busy over many subscriptions with few looks, in the order of each", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const receiver = yield* HttpsReceiver.start(world.certificate)
      const account = yield* Seed.account
      const subscriptions = yield* Effect.forEach(Array.from({ length: 90 }), (_, i) =>
        Seed.subscription(account, `https://a.test:${receiver.port}/${i}`)
      )
      yield* Effect.forEach(subscriptions, (subscription) => Seed.callbacks(subscription, 2))
      const outbox = yield* Outbox
      let looks = 0
      const counting = {
        ...outbox,
        lease: (...of: Parameters<typeof outbox.lease>) =>
          Effect.suspend(() => {
            looks++
            return outbox.lease(...of)
          })
      }
      yield* deliver(world, { perHost: 4, busyMillis: 60_000, idleMillis: 60_000 }).pipe(
        Effect.provideService(Outbox, counting)
      )
      yield* receiver.until(({ length }) => length === 180)
      // With one lease for each place that the account has, they would be thirty.
      assert.isBelow(looks, 15)
      for (const list of Map.groupBy(receiver.received, ({ path }) => path).values()) {
        assert.deepStrictEqual(sequencesOf(list), [1, 2])
      }
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("sends what a commit hands over without a look for what is due", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const receiver = yield* HttpsReceiver.start(world.certificate)
      const account = yield* Seed.account
      const { id, referenceId } = yield* Seed.subscription(account, `https://a.test:${receiver.port}/`)
      const outbox = yield* Outbox
      let looks = 0
      const hosts = Effect.suspend(() => {
        looks++
        return outbox.hosts
      })
      yield* deliver(world, { busyMillis: 60_000, idleMillis: 60_000 }).pipe(
        Effect.provideService(Outbox, { ...outbox, hosts })
      )
      yield* until(Effect.sync(() => looks > 0))
      const subscriber = { id, account, host: "a.test", reference_id: referenceId }
      const { transaction } = yield* Database
      const before = looks
      yield* transaction(
        CallbackState.enter("matched", [
          CallbackState.make({
            ...{ subscriber, active: true, chain: 1, event: "BLOCK_MINED", height: 7, now: Date.now() },
            key: { blockHash: undefined, occurrence: "handed over", confirmation: 0 },
            item: { height: 7 } as never
          })
        ])
      )
      yield* receiver.until(({ length }) => length === 1)
      assert.strictEqual(looks, before)
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("lets attempts in flight finish when it stops, and sends the rest after the next start", () =>
    Effect.gen(function* () {
      const world = yield* setup
      let second: (() => void) | undefined
      const receiver = yield* HttpsReceiver.start(world.certificate, (response, { headers }) => {
        if (headers["x-callback-sequence"] === "2") second = () => response.end()
        else response.end()
      })
      const a = yield* Seed.subscription(yield* Seed.account, `https://a.test:${receiver.port}/`)
      yield* Seed.callbacks(a, 6)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* deliver(world)
          yield* receiver.until(({ length }) => length === 2)
          // By then it is stopping.
          setTimeout(second!, 150)
        })
      )
      const rows = yield* Seed.rows(a.id)
      assert.deepStrictEqual(
        rows.map(({ leased_until, state }) => [state, leased_until]),
        [0, 1, 2, 3, 4, 5].map((i) => [i < 2 ? "delivered" : "due", 0])
      )
      yield* deliver(world)
      yield* receiver.until(({ length }) => length === 6)
      assert.deepStrictEqual(sequencesOf(receiver.received), [1, 2, 3, 4, 5, 6])
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("does not wait for attempts whose outcome cannot be written down any more", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const answers: Array<() => void> = []
      const receiver = yield* HttpsReceiver.start(world.certificate, (response) => {
        answers.push(() => response.end())
      })
      const a = yield* Seed.subscription(yield* Seed.account, `https://a.test:${receiver.port}/`)
      yield* Seed.callbacks(a, 1)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.provideService(deliver(world), Delivery.OutcomesLost, Effect.void)
          yield* receiver.until(({ length }) => length === 1)
        })
      )
      assert.deepInclude((yield* Seed.rows(a.id))[0], { state: "due", attempts: 0 })
      for (const answer of answers) answer()
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("sends nothing of a lease any more whose block was undone meanwhile", () =>
    Effect.gen(function* () {
      const world = yield* setup
      let answer: (() => void) | undefined
      const receiver = yield* HttpsReceiver.start(world.certificate, (response, received) => {
        const accept = () => HttpsReceiver.status(204)(response, received)
        if (answer === undefined) answer = accept
        else accept()
      })
      const outbox = yield* Outbox
      const { transaction } = yield* Database
      const a = yield* Seed.subscription(yield* Seed.account, `https://a.test:${receiver.port}/`)
      yield* Seed.callbacks(a, 4)
      yield* deliver(world)
      yield* receiver.until(({ length }) => length === 1)
      // All are leased. The first two stay on the chain.
      yield* transaction(Retractions.takeBack(1, 101, new Uint8Array(32), Date.now()))
      yield* outbox.undone
      answer!()
      const states = Effect.map(Seed.rows(a.id), (rows) => rows.map(({ leased_until, state }) => [state, leased_until]))
      yield* until(Effect.map(states, (states) => states.every(([state, until]) => state !== "due" && until === 0)))
      assert.deepStrictEqual(sequencesOf(receiver.received), [1, 2])
      assert.deepStrictEqual(
        (yield* states).map(([state]) => state),
        ["delivered", "delivered", "orphaned", "orphaned"]
      )
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("sends again what a crash left in flight, under the same key and number", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const receiver = yield* HttpsReceiver.start(world.certificate)
      const outbox = yield* Outbox
      const a = yield* Seed.subscription(yield* Seed.account, `https://a.test:${receiver.port}/`)
      yield* Seed.callbacks(a, 3)
      // The lease of a process that died before it wrote an outcome.
      const capacity = {
        host: "a.test",
        limit: 1,
        followOns: [],
        batchSize: 2,
        ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000 },
        retriesFirst: false
      }
      const [lost] = yield* outbox.lease([capacity], 60_000)
      yield* deliver(world)
      yield* receiver.until(({ length }) => length === 3)
      assert.deepStrictEqual(
        receiver.received
          .slice(0, 2)
          .map(({ headers, text }) => [Number(headers["x-callback-sequence"]), JSON.parse(text).idempotencyKey]),
        lost!.callbacks.map(({ idempotencyKey, sequence }) => [sequence, idempotencyKey])
      )
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  // A SQLite store has one process.
  it.live.skipIf(stores.length === 1)("shares the work between two deliveries on one store", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const receiver = yield* HttpsReceiver.start(world.certificate)
      const account = yield* Seed.account
      const subscriptions = yield* Effect.forEach(Array.from({ length: 20 }), (_, i) =>
        Seed.subscription(account, `https://a.test:${receiver.port}/${i}`)
      )
      yield* Effect.forEach(subscriptions, (subscription) => Seed.callbacks(subscription, 20))
      const outbox = yield* Outbox
      const maintained: Array<string> = []
      const counted = <A, E>(name: string, work: Effect.Effect<A, E>) =>
        Effect.andThen(
          Effect.sync(() => maintained.push(name)),
          work
        )
      const counting = {
        ...outbox,
        prune: counted("prune", outbox.prune),
        endParking: counted("endParking", outbox.endParking)
      }
      yield* deliver(world, { parkingMillis: 3_600_000 }).pipe(Effect.provideService(Outbox, counting))
      yield* deliver(world, { parkingMillis: 3_600_000 }).pipe(Effect.provideService(Outbox, counting))
      const rows = Effect.map(
        Effect.forEach(subscriptions, ({ id }) => Seed.rows(id)),
        (lists) => lists.flat()
      )
      yield* until(Effect.map(rows, (rows) => rows.every(({ state }) => state === "delivered")))
      yield* Effect.sleep("200 millis")
      // Each at least once, and again only after an attempt that failed: never by both.
      const attempts = (yield* rows).map(({ attempt_log }) => JSON.parse(attempt_log) as Array<{ status?: number }>)
      for (const log of attempts) assert.strictEqual(log.filter(({ status }) => status === 200).length, 1)
      assert.isAtMost(receiver.received.length, attempts.flat().length)
      const byPath = Map.groupBy(receiver.received, ({ path }) => path)
      assert.strictEqual(byPath.size, 20)
      for (const list of byPath.values()) {
        assert.deepStrictEqual(
          [...new Set(sequencesOf(list))],
          Array.from({ length: 20 }, (_, i) => i + 1)
        )
      }
      // What is done now and then is done by one of them.
      yield* until(Effect.sync(() => maintained.length >= 2))
      assert.deepStrictEqual([...maintained].sort(), ["endParking", "prune"])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Outbox.layer.pipe(Layer.provideMerge(Subscriptions.layer), Layer.provideMerge(stores.at(-1)!.layer))
      )
    )
  )

  it.live("deactivates a subscription whose URL the operator no longer allows", () =>
    Effect.gen(function* () {
      const world = yield* setup
      const a = yield* Seed.subscription(yield* Seed.account, "https://127.0.0.1:1/")
      yield* Seed.callbacks(a, 2)
      yield* deliver(world)
      yield* until(Effect.map(Seed.rows(a.id), (rows) => rows.every(({ state }) => state === "held")))
      assert.match((yield* Seed.rows(a.id))[0]!.attempt_log, /DNS name/)
    }).pipe(Effect.scoped, Effect.provide(services))
  )
})
