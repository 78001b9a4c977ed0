/**
 * Two daemons on one PostgreSQL, of which one follows the chain: the other goes on when it is stopped, killed, or held up
 * for so long that it counts as dead; and what it then still wants to write is refused.
 */
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as CallbackBacklog from "@headwater/indexer/store/subscriptions/CallbackBacklog"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const postgres = locations.find(({ name }) => name === "postgres")
const chain = "ethereum/devnet"

describe.skipIf(!isInTurn(import.meta.url))("placement", () => {
  it.live.skipIf(postgres === undefined)(
    "a chain goes on elsewhere when its daemon ends, is held up, or is killed",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({})
        const receiver = yield* Receiver.start()
        const location = (yield* postgres!.location) as Location
        const store = yield* Layer.build(Database.layer(location))
        const start = (name: string, options: Headwater.Options = {}) =>
          Headwater.start(
            location,
            {
              ...{ name, chains: { [chain]: { nodes: [anvil.url], start: 0, pollMillis: 50 } } },
              callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
            },
            options
          )
        const a = yield* start("a")
        const b = yield* start("b", { apiKey: a.apiKey })
        const daemons = { a, b }
        type Name = keyof typeof daemons
        const otherOf = (name: Name): Name => (name === "a" ? "b" : "a")

        const placements = Effect.provideContext(Placements.read, store).pipe(Effect.orDie)
        const follower = Effect.map(placements, ({ daemons, placed: [row] }) => {
          const found = daemons.find(({ id }) => id === row?.daemon && row.successor === null)
          return found?.name as Name | undefined
        })

        const address = Wallet.createRandom().address
        const created = yield* a.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
          ...{ address, callbackSecretKey: "s", callbackUrl: `${receiver.url}/` }
        })
        const wanted = new Map([
          [created.body.data.item.referenceId, { address: address.toLowerCase(), confirmations: 1 }]
        ])
        const [funded] = yield* anvil.rpc<[string]>("eth_accounts", [])
        let payments = 0
        /** A payment, whose callback comes; the milliseconds until then. */
        const pay = Effect.gen(function* () {
          yield* anvil.rpc("eth_sendTransaction", [{ from: funded, to: address, value: "0x1" }])
          payments++
          const [took] = yield* Effect.timed(receiver.until((accepted) => accepted.length >= payments))
          // What is not yet known to be delivered when a daemon dies is sent once more.
          yield* Effect.provideContext(CallbackBacklog.read(), store).pipe(
            Effect.orDie,
            Effect.repeat({ until: ({ retrying, waiting }) => waiting.count + retrying.count === 0 })
          )
          return Math.round(Duration.toMillis(took))
        })
        yield* pay

        const first = (yield* follower)!
        const second = otherOf(first)
        const { operator, url } = daemons[second]
        const metrics = yield* Effect.promise(() =>
          fetch(`${url}/metrics`, { headers: operator }).then((all) => all.text())
        )
        assert.match(metrics, new RegExp(`headwater_chain_follower\\{.*daemon="${first}".*\\} 1\\n`))
        for (const name of ["a", "b"])
          assert.match(metrics, new RegExp(`headwater_daemon\\{.*daemon="${name}".*\\} 1\\n`))

        // A daemon that ends hands its chain over; of one that dies it is known after eight seconds.
        const ending = yield* Effect.forkChild(daemons[first].terminate)
        const afterTerm = yield* pay
        assert.strictEqual(yield* follower, second)
        assert.isBelow(afterTerm, Placements.silentMillis)
        assert.strictEqual(yield* Fiber.join(ending), 0)
        yield* daemons[first].launch
        yield* Effect.repeat(Effect.delay(placements, "50 millis"), { until: ({ daemons }) => daemons.length === 2 })
        assert.strictEqual(yield* follower, second)

        // A process that is held up for longer is refused what it then wants to write, and begins anew.
        process.kill(daemons[second].pid(), "SIGSTOP")
        const afterStop = yield* pay
        assert.strictEqual(yield* follower, first)
        process.kill(daemons[second].pid(), "SIGCONT")
        // Either may be said first.
        const words = [
          /taken this one for dead/,
          /The chain is followed by another daemon|followed by another daemon since/
        ]
        yield* Effect.sync(() => daemons[second].log()).pipe(
          Effect.delay("50 millis"),
          Effect.repeat({ until: (log) => words.every((word) => word.test(log)) })
        )
        yield* pay
        assert.strictEqual(yield* follower, first)

        yield* daemons[first].kill
        const afterKill = yield* pay
        assert.strictEqual(yield* follower, second)
        yield* Effect.log(
          `callbacks ${afterTerm} ms after SIGTERM, ${afterStop} after SIGSTOP, ${afterKill} after kill -9`
        )

        const expected = yield* Traffic.expected(anvil, wanted)
        assert.strictEqual(expected.size, payments)
        yield* Traffic.check(anvil, receiver.deliveries, expected)
        assert.strictEqual(receiver.deliveries.length, payments)
      }).pipe(Effect.scoped),
    120_000
  )
})
