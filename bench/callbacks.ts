/**
 * Deliveries a second to one HTTPS receiver, with the outbox read and written and everything signed, against its floor:
 * a bare undici loop that signs and posts the same bodies. Both run in turns, in one process, over as many connections.
 *
 *     node bench/callbacks.ts [callbacks a round] [rounds] [subscriptions] [sqlite | postgres]
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as BareSender from "./BareSender.ts"
import * as CallbackReceiver from "./CallbackReceiver.ts"
import * as Comparison from "./Comparison.ts"
import * as HttpsDelivery from "./HttpsDelivery.ts"
import { median } from "./Samples.ts"
import * as Scratch from "./Scratch.ts"

// Rounds are long enough that how they begin and end does not count.
const [perRound = 20_000, rounds = 5, subscriptionCount = 64] = process.argv.slice(2, 5).map(Number)
const store = process.argv[5] ?? "sqlite"
const connections = 64
const host = "receiver.test"
const secret = "a secret of the benchmark's own"

interface Measured {
  readonly perSecond: number
  /** Microseconds of CPU of this process, all its threads, for one delivery. */
  readonly cpu: number
}

const timed = <E, R>(self: Effect.Effect<unknown, E, R>): Effect.Effect<Measured, E, R> =>
  Effect.gen(function* () {
    const begin = performance.now()
    const cpu = process.cpuUsage()
    yield* self
    const { system, user } = process.cpuUsage(cpu)
    return { perSecond: perRound / ((performance.now() - begin) / 1000), cpu: (user + system) / perRound }
  })

const measure = Effect.gen(function* () {
  const certificate = yield* DevelopmentCertificate.make([host])
  const { port } = yield* CallbackReceiver.start(certificate)

  let left = 0
  let done = Deferred.makeUnsafe<void>()
  /** The outbox, which says when the outcomes of a round are written. */
  const counting = Layer.effect(
    Outbox,
    Effect.map(Outbox, (outbox) => ({
      ...outbox,
      acknowledge: (outcomes: Parameters<typeof outbox.acknowledge>[0]) =>
        Effect.tap(outbox.acknowledge(outcomes), () => {
          left -= outcomes.filter(({ kind }) => kind === "delivered").length
          return left === 0 ? Deferred.done(done, Effect.void as never) : Effect.void
        })
    }))
  )
  const defaults = Context.get(Context.empty(), Delivery.DeliveryOptions)
  const services = Layer.merge(Outbox.layer, RecurringTasks.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provide(Layer.succeed(Limits, { ...defaultMaxima, duplicates: subscriptionCount })),
    Layer.provideMerge(Database.layer(yield* Scratch.location(store)))
  )
  const delivery = HttpsDelivery.layer([host], certificate.ca, connections).pipe(
    Layer.provide(Layer.succeed(Delivery.DeliveryOptions, { ...defaults, concurrency: 1024, perHost: connections }))
  )
  const context = yield* Layer.build(delivery.pipe(Layer.provideMerge(counting), Layer.provideMerge(services)))
  const database = Context.get(context, Database)
  const subscriptions = Context.get(context, Subscriptions)

  const chain = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
  const receivers = yield* Effect.forEach(Array.from({ length: subscriptionCount }), (_, i) =>
    subscriptions.create({
      account: 1,
      chain,
      event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
      address: undefined,
      callbackUrl: `https://${host}:${port}/callbacks/${i}`,
      secret,
      confirmations: 1,
      allowDuplicates: true
    })
  )

  let made = 0
  /** What a commit of blocks leaves: rows spread over the subscriptions. */
  const makeRows = () =>
    Array.from({ length: perRound }, (_, i) => {
      const subscription = receivers[i % receivers.length]!
      const idempotencyKey = (made++).toString(16).padStart(32, "0")
      const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
      const body = Callback.body({
        referenceId: subscription.referenceId,
        idempotencyKey,
        event,
        item: {
          blockchain: "bitcoin",
          network: "mainnet",
          address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
          minedInBlock: { height: 800_000 + i, hash: "0".repeat(64), timestamp: 1_700_000_000 },
          transactionId: "f".repeat(64),
          amount: "0.0001",
          unit: "BTC",
          direction: "incoming"
        }
      })
      const state = "due" as const
      const row = { account: 1, chain: 1, height: i, event, body, state, due: 0, created: Date.now() }
      return { subscription: subscription.id, host, idempotency_key: idempotencyKey, ...row }
    })

  const headwater = (rows: ReturnType<typeof makeRows>) =>
    Effect.gen(function* () {
      left = rows.length
      done = Deferred.makeUnsafe()
      yield* database.transaction(database.insertMany("callback", rows))
      return yield* timed(Effect.andThen(database.signals.send("callbacks"), Deferred.await(done)))
    })

  const post = yield* BareSender.make({ certificate, host, port, connections, secret })
  const bare = (rows: ReturnType<typeof makeRows>) =>
    timed(
      post(
        rows.map(({ body, idempotency_key, subscription }) => ({
          ...{ path: `/callbacks/${subscription}`, id: idempotency_key, body }
        }))
      )
    )

  const results: { headwater: Array<Measured>; bare: Array<Measured> } = { headwater: [], bare: [] }
  for (let round = -2; round < rounds; round++) {
    for (const name of round % 2 === 0 ? (["bare", "headwater"] as const) : (["headwater", "bare"] as const)) {
      const measured = yield* name === "bare" ? bare(makeRows()) : headwater(makeRows())
      if (round >= 0) results[name].push(measured)
    }
  }

  const line = (name: keyof typeof results) =>
    `${name.padEnd(10)} ${median(results[name].map(({ perSecond }) => perSecond))
      .toFixed(0)
      .padStart(6)}/s` +
    ` ${median(results[name].map(({ cpu }) => cpu))
      .toFixed(0)
      .padStart(5)} µs CPU`
  const ratio = median(results.headwater.map(({ perSecond }, i) => perSecond / results.bare[i]!.perSecond))
  console.log(
    `${perRound} callbacks of ${subscriptionCount} subscriptions, ${connections} connections, median of ${rounds}`
  )
  console.log(line("bare"))
  console.log(line("headwater"))
  console.log(`ratio ${ratio.toFixed(2)} (at least 0.60)`)
  const rates = (name: keyof typeof results) => results[name].map(({ perSecond }) => perSecond)
  Comparison.report({
    ...{ work: `signed callbacks of ${subscriptionCount} subscriptions to one host`, unit: "a second", better: "more" },
    ...{ ours: rates("headwater"), floor: { name: "a bare loop", values: rates("bare") } }
  })
  if (ratio < 0.6) process.exitCode = 1
})

Effect.runPromise(Effect.scoped(measure))
