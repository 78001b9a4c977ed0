/**
 * PostgreSQL ends every connection of the daemon while blocks and callbacks flow, as it does when it restarts or fails
 * over: the daemon lives, and every event that a simple oracle reads off the chain arrives, each under one key.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Wallet } from "ethers"
import pg from "pg"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"

const rounds = 5
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Ends every connection of the database; how many there were. */
const endConnections = (url: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`
    )
    await client.end()
    return rowCount ?? 0
  })

for (const { location } of locations.filter(({ name }) => name === "postgres")) {
  describe("a PostgreSQL server that ends the daemon's connections", () => {
    it.live(
      `costs no event (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const random = Traffic.randomOf(seed)
          const anvil = yield* Anvil.start()
          const receiver = yield* Receiver.start()
          const place = (yield* location) as Extract<Location, { kind: "postgres" }>
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
          for (let round = 0; round < rounds; round++) {
            const before = receiver.accepted().length
            yield* receiver.until((accepted) => accepted.length > before, 60)
            yield* Effect.sleep(`${Math.floor(random() * 500)} millis`)
            ended += yield* endConnections(Redacted.value(place.url))
          }
          yield* traffic.stop

          const expected = yield* Traffic.expected(anvil, subscriptions)
          const missing = () => {
            const seen = new Set(receiver.accepted().map(Traffic.eventOf))
            return [...expected].filter((event) => !seen.has(event))
          }
          yield* receiver
            .until(() => missing().length === 0, 60)
            .pipe(
              Effect.tapDefect(() => Effect.logError(`missing: ${missing().join(", ")}`, headwater.log().slice(-15000)))
            )
          yield* Traffic.check(anvil, receiver.deliveries, expected)
          assert.isAtLeast(ended, rounds)
          assert.isTrue(statuses.has(200))
          for (const status of statuses) assert.include([200, 503], status)
          assert.strictEqual((yield* headwater.get("/ready")).status, 200)
          // The process is the one that was started.
          assert.strictEqual(yield* headwater.terminate, 0)
        }).pipe(Effect.scoped),
      180_000
    )
  })
}
