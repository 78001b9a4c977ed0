/**
 * How long after the commit of one daemon a callback is at its receiver where another daemon delivers, with and without
 * signals between them; and what a notification costs commits, within the transaction and behind: twenty clients that
 * commit one row after another. That shows on a server of `DATABASE_URL` that waits for its disk, as one that was started
 * with `fsync=on`, and with `commit_delay=5000` and `commit_siblings=0` as if that took 5 ms; tests start theirs without.
 *
 *     node bench/signals.ts [callbacks] [seconds]
 */
import { createServer } from "node:https"
import * as Chain from "@headwater/core/chains/Chain"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { SignalsShared } from "@headwater/indexer/store/database/Signals"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import pg from "pg"
import * as LocalServer from "../test/LocalServer.ts"
import * as PostgresServer from "../test/PostgresServer.ts"
import * as HttpsDelivery from "./HttpsDelivery.ts"
import { percentile } from "./Samples.ts"

const [count = 60, seconds = 3] = process.argv.slice(2).map(Number)
const host = "receiver.test"
const clients = 20
const rounds = 3

const chain = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

/** Ends the waits of those whose callbacks arrive. */
const arrived = new Map<string, Deferred.Deferred<number>>()

const startReceiver = (certificate: DevelopmentCertificate.DevelopmentCertificate) =>
  LocalServer.listen(
    createServer(certificate, (request, response) => {
      const at = performance.now()
      let text = ""
      request.on("data", (chunk: Buffer) => {
        text += chunk
      })
      request.on("end", () => {
        response.writeHead(200).end()
        const key = JSON.parse(text).idempotencyKey as string
        Deferred.doneUnsafe(arrived.get(key)!, Effect.succeed(at))
      })
    })
  )

/** A daemon that commits and one that delivers, on a database of their own; what sends a callback, and how long that took. */
const daemons = Effect.fnUntraced(function* (
  server: string,
  shared: boolean,
  certificate: DevelopmentCertificate.DevelopmentCertificate,
  port: number
) {
  const url = new URL(server)
  url.pathname = `/latency_${shared}`
  const location = { kind: "postgres", url: Redacted.make(url.href), connections: 5 } as const
  const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  const services = Layer.merge(Outbox.layer, RecurringTasks.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer({ ...location, secretKeys })),
    Layer.provide(Layer.succeed(SignalsShared, shared))
  )
  const follower = yield* Layer.build(services)
  yield* Layer.build(HttpsDelivery.layer([host], certificate.ca, 4).pipe(Layer.provide(services)))
  return yield* Effect.gen(function* () {
    const { transaction } = yield* Database
    const { create } = yield* Subscriptions
    const subscription = yield* create({
      ...{ account: 1, chain, event: "BLOCK_MINED", address: undefined, secret: "s", confirmations: 1 },
      ...{ callbackUrl: `https://${host}:${port}/`, allowDuplicates: true }
    })
    const subscriber = { id: subscription.id, account: 1, host, reference_id: subscription.referenceId }
    return (height: number) =>
      Effect.gen(function* () {
        const callback = CallbackState.make({
          ...{ subscriber, active: true, chain: 1, event: "BLOCK_MINED", height, now: Date.now() },
          key: { blockHash: undefined, occurrence: `bench:${height}`, confirmation: 0 },
          item: { height } as never
        })
        const done = Deferred.makeUnsafe<number>()
        arrived.set(callback.idempotency_key, done)
        yield* transaction(CallbackState.enter("matched", [callback]))
        const committed = performance.now()
        return (yield* Deferred.await(done)) - committed
      }).pipe(Effect.provide(follower))
  }).pipe(Effect.provide(follower))
})

const share = (values: ReadonlyArray<number>, part: number) => percentile(values, part).toFixed(1)

const latency = Effect.fnUntraced(function* (server: string) {
  const certificate = yield* DevelopmentCertificate.make([host])
  const port = yield* startReceiver(certificate)
  const sends = [yield* daemons(server, false, certificate, port), yield* daemons(server, true, certificate, port)]
  const times: ReadonlyArray<Array<number>> = [[], []]
  for (let i = 0; i < count + 3; i++) {
    // Long enough, and at any moment, so that a deliverer which only looks has found nothing for a while.
    yield* Effect.sleep(1_200 + Math.random() * 500)
    const took = yield* Effect.forEach(sends, (send) => send(i), { concurrency: 2 })
    // The first ones make connections.
    if (i >= 3) for (const [which, millis] of took.entries()) times[which]!.push(millis)
  }
  for (const [i, name] of ["by looking", "by signals"].entries()) {
    const [p50, p99] = [share(times[i]!, 0.5), share(times[i]!, 0.99)]
    console.log(`from the commit to the receiver ${name}: p50 ${p50} ms, p99 ${p99} ms (${count} callbacks)`)
  }
})

const notify = "select pg_notify('headwater', 'x callbacks')"
const ways = ["without a notification", "notified within the transaction", "notified behind the commit"] as const

const contention = (server: string) =>
  Effect.promise(async () => {
    const all = await Promise.all(
      Array.from({ length: clients }, async () => {
        const pair = [0, 1].map(() => new pg.Client({ connectionString: server }))
        for (const client of pair) await client.connect()
        return pair as [pg.Client, pg.Client]
      })
    )
    await all[0]![0].query("create table if not exists commits (id bigint)")
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) {
        const begin = performance.now()
        let commits = 0
        await Promise.all(
          all.map(async ([client, sender]) => {
            // As the store does: what comes up while one is on its way goes with the next.
            let sending: Promise<unknown> | undefined
            let again = false
            const send = async (): Promise<void> => {
              again = false
              await sender.query(notify)
              sending = again ? send() : undefined
            }
            while (performance.now() - begin < seconds * 1000) {
              await client.query("begin")
              await client.query("insert into commits values (1)")
              if (way === ways[1]) await client.query(notify)
              await client.query("commit")
              if (way === ways[2]) {
                again = true
                sending ??= send()
              }
              commits++
            }
            while (sending !== undefined) await sending
          })
        )
        const perSecond = commits / ((performance.now() - begin) / 1000)
        console.log(`${clients} clients, ${way}: ${Math.round(perSecond)} commits a second`)
      }
    }
    await Promise.all(all.flat().map((client) => client.end()))
  })

const measure = Effect.gen(function* () {
  const own = process.env.DATABASE_URL
  const server =
    own !== undefined
      ? { url: own }
      : yield* Effect.acquireRelease(
          Effect.promise(() => PostgresServer.start()),
          (server) => Effect.sync(() => server?.remove())
        )
  if (server === undefined) return console.log("PostgreSQL is not installed")
  yield* Effect.promise(async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    for (const name of ["latency_false", "latency_true"]) {
      await client.query(`drop database if exists ${name}`)
      await client.query(`create database ${name}`)
    }
    await client.end()
  })
  yield* contention(server.url)
  yield* latency(server.url)
})

Effect.runPromise(Effect.scoped(measure))
