/**
 * A healthy, a slow and a dying receiver beside one another, while the daemon is killed every few seconds and the chain
 * reorganises. The healthy one misses nothing and does not wait for the others; the dying one, which refuses callbacks at
 * one time and hangs up at another, gets all of it in the end. Each second the console and the metrics say of each receiver
 * what is true.
 * `HEADWATER_CHAOS_SECONDS` makes it longer.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Ports from "@headwater/daemon/demo/Ports"
import type { Location } from "@headwater/indexer/store/database/Database"
import Sqlite from "better-sqlite3"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import * as ReceiverTruth from "./ReceiverTruth.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const seconds = Number(process.env.HEADWATER_CHAOS_SECONDS ?? 8)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const events = "/blockchain-events/ethereum/devnet"
const secret = "a secret of the test"
const password = "the password of the test's console"

/** How long it may take until the console says what a receiver has done, and until a daemon has done again what a kill took. */
const [settleMillis, againMillis] = [3_000, 5_000]

const [{ location: sqlite }] = locations as [(typeof locations)[number]]

const quantile = (values: ReadonlyArray<number>, q: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]!

const shown = (values: ReadonlyArray<number>) =>
  `median ${quantile(values, 0.5)} ms, p99 ${quantile(values, 0.99)} ms of ${values.length}`

/** When each callback was made, in the transaction of its block, in milliseconds since the Unix epoch. */
const madeAt = (file: string) => {
  const store = new Sqlite(file, { readonly: true })
  const rows = store.prepare("select idempotency_key as key, created from callback").all()
  store.close()
  return new Map((rows as ReadonlyArray<{ key: string; created: number }>).map(({ created, key }) => [key, created]))
}

interface FeedCallback {
  readonly idempotencyKey: string
  readonly state: string
  readonly sequence: number
}

describe.skipIf(!isInTurn(import.meta.url, process.env.HEADWATER_CHAOS_SECONDS))("chaos", () => {
  it.live(
    `three receivers, kills and reorganisations for ${seconds} s (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const random = SeededRandom.make(seed)
        const anvil = yield* Anvil.start({})
        let state: "well" | "refusing" | "hanging up" = "well"
        const answers = { well: 200, refusing: 500, "hanging up": undefined }
        const receivers = {
          healthy: yield* Receiver.start(),
          slow: yield* Receiver.start(
            () => ({ status: 200, afterMillis: 50 + Math.floor(random() * 200) }),
            "127.0.0.2"
          ),
          dying: yield* Receiver.start(() => ({ status: answers[state] }), "127.0.0.3")
        }
        const location = (yield* sqlite) as Extract<Location, { kind: "sqlite" }>
        const port = yield* Ports.free(0)
        const headwater = yield* Headwater.start(location, {
          console: { password, port },
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
          callbacks: {
            ...{ allowHosts: ["localhost", "127.0.0.2", "127.0.0.3"], retry: "standard-webhooks" },
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
        const kills: Array<number> = []
        let launched = 0
        const look = ReceiverTruth.look(headwater, `http://127.0.0.1:${port}`, password)
        const samples = { looks: 0, failing: 0 }
        /** Whether the dying receiver is said to fail; undefined where the daemon does not answer. */
        const sample = Effect.gen(function* () {
          const at = Date.now()
          const lastKill = kills.at(-1) ?? 0
          const since = lastKill > launched || at < launched + againMillis ? lastKill : at
          const found = yield* look
          if (found === undefined || kills.at(-1) !== (lastKill === 0 ? undefined : lastKill)) return undefined
          const { dying, healthy, slow } = receivers
          const fails = ReceiverTruth.check(found, { well: [healthy, slow], dying }, since - settleMillis)
          samples.looks++
          if (fails) samples.failing++
          return fails
        })
        const saysThatItFails = (wanted: boolean) =>
          Effect.gen(function* () {
            while ((yield* sample) !== wanted) yield* Effect.sleep("100 millis")
          }).pipe(Effect.timeout("60 seconds"), Effect.orDie)
        state = "refusing"
        yield* saysThatItFails(true)
        const sampling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(sample, Effect.sleep("1 second"))))
        const end = Date.now() + seconds * 1000
        while (Date.now() < end) {
          yield* Effect.sleep(`${2000 + Math.floor(random() * 3000)} millis`)
          state = (["refusing", "well", "hanging up", "well"] as const)[kills.length % 4]!
          kills.push(Date.now())
          yield* headwater.kill
          yield* headwater.launch
          launched = Date.now()
        }
        yield* traffic.stop
        state = "well"

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
        yield* arrive("dying", 120)
        yield* saysThatItFails(false)
        // What a sample found untrue is the fiber's end.
        sampling.interruptUnsafe()
        yield* Fiber.await(sampling).pipe(
          Effect.flatMap((exit) =>
            Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? Effect.failCause(exit.cause) : Effect.void
          )
        )

        const made = madeAt(location.file)
        const since = (start: (delivery: Receiver.Delivery) => number | undefined, through = true) =>
          receivers.healthy.accepted().flatMap((delivery) => {
            const from = start(delivery)
            if (from === undefined || (!through && kills.some((kill) => kill > from && kill < delivery.at))) return []
            return [delivery.at - from]
          })
        const mined = ({ body }: Receiver.Delivery) => traffic.minedAt.get(body.data.item.transactionId)
        const seen = ({ body }: Receiver.Delivery) => made.get(body.idempotencyKey)
        console.log(`${kills.length} kills, ${healthy} events (seed ${seed}), of the healthy receiver:
  from a transaction seen mined to its callback received, restarts included: ${shown(since(mined))}
  from its block seen, restarts included: ${shown(since(seen))}
  from its block seen, where no kill came between: ${shown(since(seen, false))}
${samples.looks} looks at the console and the metrics were true, ${samples.failing} of them with the dying receiver failing`)
        assert.isAbove(healthy, 0)
      }).pipe(Effect.scoped),
    1_200_000
  )
})
