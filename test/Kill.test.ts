/**
 * `kill -9` at random moments while blocks and callbacks flow and the receiver fails now and then: afterwards every
 * event that a simple oracle reads off the chain has arrived, each under one key, and no other.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { everyWay, isInTurn } from "./Turn.ts"

const asked = process.env.HEADWATER_KILLS
const kills = Number(asked ?? 2)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** The last store; with `HEADWATER_KILLS` or `HEADWATER_EVERY_WAY` every one. On the first one `Chaos.test.ts` kills. */
const sample = asked === undefined && !everyWay ? locations.slice(-1) : locations

for (const { location, name } of sample) {
  describe.skipIf(!isInTurn(import.meta.url, asked))(`kill -9, ${name}`, () => {
    it.live(
      `loses nothing over ${kills} kills (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const random = SeededRandom.make(seed)
          const anvil = yield* Anvil.start({})
          // Each callback fails once at the most: the profile's second retry would come after five minutes.
          const failed = new Set<string>()
          const receiver = yield* Receiver.start((text) => {
            if (random() >= 0.1 || failed.has(text)) return { status: 200, afterMillis: Math.floor(random() * 5) }
            failed.add(text)
            return { status: 503 }
          })
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" }
          })
          const [payer] = yield* anvil.rpc<[string]>("eth_accounts", [])
          const targets = Array.from({ length: 4 }, () => Wallet.createRandom().address)
          const subscriptions = new Map<string, Traffic.Wanted>()
          for (const address of [...targets, payer]) {
            for (const confirmations of [1, 3]) {
              const { body } = yield* headwater.post(
                "/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed",
                { address, callbackUrl: `${receiver.url}/`, callbackSecretKey: "s", receiveCallbackOn: confirmations }
              )
              subscriptions.set(body.data.item.referenceId, { address: address.toLowerCase(), confirmations })
            }
          }

          const traffic = yield* Traffic.start(anvil, targets, random)
          for (let kill = 0; kill < kills; kill++) {
            yield* Effect.sleep(`${Math.floor(random() * 1200)} millis`)
            yield* headwater.kill
            yield* headwater.launch
          }
          yield* traffic.stop

          const expected = yield* Traffic.expected(anvil, subscriptions)
          const missing = () => {
            const seen = new Set(receiver.accepted().map(Traffic.eventOf))
            return [...expected].filter((event) => !seen.has(event))
          }
          yield* receiver
            .until(() => missing().length === 0, 90)
            .pipe(
              Effect.tapDefect(() => Effect.logError(`missing: ${missing().join(", ")}`, headwater.log().slice(-5000)))
            )
          yield* Traffic.check(anvil, receiver.deliveries, expected)
          assert.isAbove(expected.size, kills * 5)
          assert.isAbove(failed.size, 0)
        }).pipe(Effect.scoped),
      600_000
    )
  })
}
