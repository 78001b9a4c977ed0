/**
 * A PostgreSQL server ends every connection of the daemon, is killed, or stops and starts again, in turns, while blocks and
 * callbacks flow: the daemon lives, and every event that a simple oracle reads off the chain arrives, each under one key.
 * `HEADWATER_RECONNECTS=50` makes fifty rounds.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { Wallet } from "ethers"
import pg from "pg"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const asked = process.env.HEADWATER_RECONNECTS
const isTried = isInTurn(import.meta.url, asked)
const rounds = Number(asked ?? 3)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Ends every connection of the server; how many there were. */
const endConnections = (url: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rowCount } = await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname is not null and pid <> pg_backend_pid()"
    )
    await client.end()
    return rowCount ?? 0
  })

/** What happens to the server, in turns, with how long it is away, in milliseconds. */
const disturb = Effect.fnUntraced(function* (server: PostgresServer.PostgresServer, round: number, awayMillis: number) {
  if (round % 3 === 0) return yield* endConnections(server.url)
  yield* Effect.sync(round % 3 === 1 ? server.kill : server.stop)
  yield* Effect.sleep(awayMillis)
  // What a killed server leaves of its memory and processes may keep a new one from starting for a moment.
  yield* Effect.retry(Effect.tryPromise(server.launch), { schedule: Schedule.spaced("100 millis"), times: 100 })
  return 1
})

/** A server that nobody else uses, and a store there. */
const ownServer = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => (await PostgresServer.start())!),
    (server) => Effect.sync(server.remove)
  )
  const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  const place = { kind: "postgres", url: Redacted.make(server.url), connections: 5, secretKeys } as const
  return { place, server }
})

for (const _ of locations.filter(({ name }) => name === "postgres")) {
  describe.skipIf(!isTried)("a PostgreSQL server that ends connections, is killed and is started again", () => {
    it.live("is waited for by a daemon that starts", () =>
      Effect.gen(function* () {
        const { place, server } = yield* ownServer
        const headwater = yield* Headwater.start(place, {
          chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
        })
        assert.strictEqual(yield* headwater.terminate, 0)
        // The daemon has opened the store by then.
        const held = new pg.Client({ connectionString: server.url })
        yield* Effect.promise(() => held.connect())
        yield* Effect.addFinalizer(() => Effect.promise(() => held.end()))
        yield* Effect.promise(() => held.query("begin; lock table store_epoch"))
        const launched = yield* Effect.forkChild(headwater.launch)
        yield* Effect.promise(() =>
          PostgresServer.ask(
            server.url,
            "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'"
          )
        ).pipe(Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") }))
        yield* Effect.promise(() => held.query("rollback"))
        yield* Fiber.join(launched)
        assert.match(headwater.log(), /Waiting for PostgreSQL/)
      }).pipe(Effect.scoped)
    )

    it.live(
      `costs no event (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const random = SeededRandom.make(seed)
          const anvil = yield* Anvil.start()
          const receiver = yield* Receiver.start()
          const { place, server } = yield* ownServer
          const headwater = yield* Headwater.start(place, {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
            callbacks: {
              ...{ allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" },
              // A claim whose commit was not acknowledged is made again when its lease ends, after twice this time.
              timeoutMillis: 3_000
            }
          })
          const targets = Array.from({ length: 4 }, () => Wallet.createRandom().address)
          const subscriptions = new Map<string, Traffic.Wanted>()
          for (const address of targets) {
            const { body } = yield* headwater.post(
              "/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed",
              { address, callbackUrl: `${receiver.url}/` }
            )
            subscriptions.set(body.data.item.referenceId, { address: address.toLowerCase(), confirmations: 1 })
          }

          const statuses = new Set<number>()
          yield* headwater.get("/blockchain-events/ethereum/devnet").pipe(
            Effect.map(({ status }) => statuses.add(status)),
            Effect.andThen(Effect.sleep("20 millis")),
            Effect.forever,
            Effect.forkChild
          )

          const traffic = yield* Traffic.start(anvil, targets, random)
          let ended = 0
          const pid = headwater.pid()
          for (let round = 0; round < rounds; round++) {
            const before = receiver.accepted().length
            yield* receiver.until((accepted) => accepted.length > before, 60)
            yield* Effect.sleep(`${Math.floor(random() * 500)} millis`)
            ended += yield* disturb(server, round, Math.floor(random() * 1500))
          }
          yield* traffic.stop

          const expected = yield* Traffic.expected(anvil, subscriptions)
          const missing = () => {
            const seen = new Set(receiver.accepted().map(Traffic.eventOf))
            return [...expected].filter((event) => !seen.has(event))
          }
          // A busy machine may be far behind: whatever is missing is on its way as long as anything still comes.
          while (missing().length > 0) {
            const before = receiver.accepted().length
            yield* receiver
              .until((accepted) => accepted.length > before, 60)
              .pipe(
                Effect.tapDefect(() =>
                  Effect.logError(
                    `${missing().length} missing: ${missing().slice(0, 3).join(", ")}`,
                    headwater.log().slice(-5000)
                  )
                )
              )
          }
          yield* Traffic.check(anvil, receiver.deliveries, expected)
          assert.isAtLeast(ended, rounds)
          assert.isTrue(statuses.has(200))
          for (const status of statuses) assert.include([200, 503], status)
          // The store and the chain are looked at now and then: the last round may be a moment ago.
          yield* headwater.get("/ready").pipe(
            Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("100 millis") }),
            Effect.timeoutOrElse({
              duration: "60 seconds",
              orElse: () => Effect.die(new Error(`Not ready:\n${headwater.log().slice(-5000)}`))
            })
          )
          // The process is the one that was started.
          assert.strictEqual(headwater.pid(), pid)
          assert.strictEqual(yield* headwater.terminate, 0)
        }).pipe(Effect.scoped),
      120_000 + rounds * 30_000
    )
  })
}
