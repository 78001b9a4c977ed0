/**
 * A healthy, a slow and a dying receiver beside one another, while the daemon is killed every few seconds and the chain
 * reorganises. The healthy one misses nothing and does not wait for the others; the dying one gets all of it in the end.
 * `HEADWATER_CHAOS_SECONDS` makes it longer.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"

const seconds = Number(process.env.HEADWATER_CHAOS_SECONDS ?? 20)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const events = "/blockchain-events/ethereum/devnet"
const secret = "a secret of the test"

const [{ location }] = locations as [(typeof locations)[number]]

const quantile = (values: ReadonlyArray<number>, q: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]!

interface FeedCallback {
  readonly idempotencyKey: string
  readonly state: string
  readonly sequence: number
}

describe("chaos", () => {
  it.live(
    `three receivers, kills and reorganisations for ${seconds} s (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const random = Traffic.randomOf(seed)
        const anvil = yield* Anvil.start({})
        let dead = false
        const receivers = {
          healthy: yield* Receiver.start(),
          slow: yield* Receiver.start(() => ({ status: 200, afterMillis: 50 + Math.floor(random() * 200) })),
          dying: yield* Receiver.start(() => (dead ? { status: 500 } : { status: 200 }))
        }
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
          callbacks: {
            ...{ allowHosts: ["localhost"], retry: "standard-webhooks" },
            extraCa: Object.values(receivers)
              .map(({ ca }) => ca)
              .join("\n")
          }
        })
        const targets = Array.from({ length: 6 }, () => Wallet.createRandom().address)
        const subscribe = Effect.fnUntraced(function* ({ url }: Receiver.Receiver, addresses: ReadonlyArray<string>) {
          const wanted = new Map<string, Traffic.Wanted>()
          for (const address of addresses) {
            const { body } = yield* headwater.post(`${events}/address-coins-transactions-confirmed`, {
              ...{ address, callbackUrl: `${url}/`, callbackSecretKey: secret }
            })
            wanted.set(body.data.item.referenceId, { address: address.toLowerCase(), confirmations: 1 })
          }
          return wanted
        })
        const wanted = {
          healthy: yield* subscribe(receivers.healthy, targets),
          slow: yield* subscribe(receivers.slow, targets.slice(0, 1)),
          dying: yield* subscribe(receivers.dying, targets)
        }

        const traffic = yield* Traffic.start(anvil, targets, random)
        const end = Date.now() + seconds * 1000
        let kills = 0
        while (Date.now() < end) {
          yield* Effect.sleep(`${2000 + Math.floor(random() * 3000)} millis`)
          dead = kills % 2 === 0
          yield* headwater.kill
          yield* headwater.launch
          kills++
        }
        yield* traffic.stop
        dead = false

        const arrive = Effect.fnUntraced(function* (name: keyof typeof receivers, within: number) {
          const expected = yield* Traffic.expected(anvil, wanted[name])
          const missing = () => {
            const seen = new Set(receivers[name].accepted().map(Traffic.eventOf))
            return [...expected].filter((event) => !seen.has(event)).length
          }
          yield* receivers[name]
            .until(() => missing() === 0, within)
            .pipe(
              Effect.tapDefect(() =>
                Effect.logError(`${name}: ${missing()} of ${expected.size} are missing`, headwater.log().slice(-5000))
              )
            )
          yield* Traffic.check(anvil, receivers[name].deliveries, expected)
          for (const delivery of receivers[name].deliveries) Receiver.verify(delivery, secret)
          return expected.size
        })
        const healthy = yield* arrive("healthy", 30)
        yield* arrive("slow", 180)

        // What the dying one did not take is in its feed, and is sent again on request before its time comes.
        for (const reference of wanted.dying.keys()) {
          let after: string | undefined
          do {
            const query = after === undefined ? "" : `?startingAfter=${after}`
            const { body } = yield* headwater.get(`${events}/${reference}/callbacks${query}`)
            const callbacks = body.data.items as ReadonlyArray<FeedCallback>
            for (const { idempotencyKey, state } of callbacks) {
              if (state === "due") {
                yield* headwater.post(`${events}/${reference}/callbacks/${idempotencyKey}/redeliver`, {})
              }
            }
            after = body.data.hasMore ? body.data.nextStartingAfter : undefined
          } while (after !== undefined)
        }
        yield* arrive("dying", 60)

        const latencies = receivers.healthy.accepted().flatMap((delivery) => {
          const mined = traffic.minedAt.get(delivery.body.data.item.transactionId)
          return mined === undefined ? [] : [delivery.at - mined]
        })
        console.log(
          `${kills} kills, ${healthy} events; mined to received: median ${quantile(latencies, 0.5)} ms, ` +
            `p99 ${quantile(latencies, 0.99)} ms with the restarts in it (seed ${seed})`
        )
        assert.isAbove(healthy, 0)
      }).pipe(Effect.scoped),
    1_200_000
  )
})
