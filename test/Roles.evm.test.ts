/** Daemons with one role each on one PostgreSQL: together they do all of the main job. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

const secret = "a secret of the test"

/** The first of anvil's well-known accounts, which anvil signs for. */
const funded = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

const postgres = locations.find(({ name }) => name === "postgres")

describe("roles", () => {
  it.live.skipIf(postgres === undefined)("of three daemons on one PostgreSQL do the main job", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start({})
      const receiver = yield* Receiver.start()
      const location = yield* postgres!.location
      const start = (role: string, options: Headwater.Options = {}) =>
        Headwater.start(
          location,
          {
            roles: [role],
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          },
          options
        )
      const api = yield* start("api")
      const own = { apiKey: api.apiKey }
      const [follow, deliver] = yield* Effect.all([start("follow", own), start("deliver", own)], { concurrency: 2 })

      const until = (daemon: Headwater.Headwater, holds: (answer: Headwater.Answer) => boolean) =>
        daemon.get("/ready").pipe(Effect.delay("50 millis"), Effect.repeat({ until: holds }))
      const isReady = ({ status }: Headwater.Answer) => status === 200
      for (const daemon of [api, follow, deliver]) yield* until(daemon, isReady)
      assert.deepStrictEqual((yield* deliver.get("/ready")).body.chains, {})
      // What is proved is told by the daemon that commits, and not as a list that looks empty.
      const chainOf = (daemon: Headwater.Headwater) =>
        Effect.map(daemon.get("/ready"), ({ body }) => body.chains["ethereum/devnet"])
      assert.isDefined((yield* chainOf(follow)).unproven)
      assert.notProperty(yield* chainOf(api), "unproven")

      const address = Wallet.createRandom().address
      const created = yield* api.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
        ...{ address, callbackSecretKey: secret, callbackUrl: `${receiver.url}/callbacks` }
      })
      assert.strictEqual(created.status, 201, JSON.stringify(created.body))
      yield* anvil.rpc("eth_sendTransaction", [{ from: funded, to: address, value: "0xde0b6b3a7640000" }])
      const [callback] = yield* receiver.until((accepted) => accepted.length > 0)
      Receiver.verify(callback!, secret)
      assert.strictEqual(callback!.body.data.item.amount, "1")

      // Only the daemon whose role that is answers requests.
      const path = `/addresses-latest/evm/ethereum/devnet/${address}/balance`
      const balance = yield* api.get(path)
      assert.strictEqual(balance.body.data.item.confirmedBalance.amount, "1", JSON.stringify(balance.body))
      for (const { apiKey, url } of [follow, deliver]) {
        const { status } = yield* Effect.promise(() => fetch(`${url}${path}`, { headers: { "x-api-key": apiKey } }))
        assert.strictEqual(status, 404)
      }

      // The store stands still without a follower, and the daemon that answers of the chain says so.
      yield* follow.kill
      yield* anvil.rpc("anvil_mine", ["0x2bc"])
      const behind = yield* until(api, ({ status }) => status === 503)
      assert.match(behind.body.reasons.join(), /^ethereum\/devnet .*70\d blocks behind/)
      yield* follow.launch
      yield* until(api, isReady)
      assert.strictEqual(receiver.accepted().length, 1)
    }).pipe(Effect.scoped)
  )
})
