/**
 * A daemon with a SQLite file, whose store is moved to PostgreSQL by the command while blocks and callbacks flow; the command
 * is killed on the way. The daemon that goes on with the database tells each event once, under the key that it had before.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { Wallet } from "ethers"
import { run } from "../packages/daemon/test/Program.ts"
import * as Anvil from "./Anvil.ts"
import * as Folder from "./Folder.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { unmigrated } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const [sqlite, postgres] = unmigrated
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

describe.skipIf(postgres === undefined || !isInTurn(import.meta.url))("headwater migrate-store", () => {
  it.live(
    `moves the store of a daemon at work, which goes on exactly (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const random = SeededRandom.make(seed)
        const anvil = yield* Anvil.start({})
        const failed = new Set<string>()
        const receiver = yield* Receiver.start((text) => {
          if (random() >= 0.1 || failed.has(text)) return { status: 200 }
          failed.add(text)
          return { status: 503 }
        })
        const to = (yield* postgres!.location as Effect.Effect<Location>) as Extract<Location, { kind: "postgres" }>
        const from = {
          ...((yield* sqlite!.location) as Extract<Location, { kind: "sqlite" }>),
          ...(to.secretKeys === undefined ? {} : { secretKeys: to.secretKeys })
        }
        const settings = {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" }
        }
        const old = yield* Headwater.start(from, settings)
        const target = Wallet.createRandom().address
        const subscriptions = new Map<string, Traffic.Wanted>()
        for (const confirmations of [1, 3]) {
          const { body } = yield* old.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
            ...{
              address: target,
              callbackUrl: `${receiver.url}/`,
              callbackSecretKey: "s",
              receiveCallbackOn: confirmations
            }
          })
          subscriptions.set(body.data.item.referenceId, { address: target.toLowerCase(), confirmations })
        }
        const traffic = yield* Traffic.start(anvil, [target], random)
        yield* receiver.until((accepted) => accepted.length >= 5)

        const folder = yield* Folder.scoped
        const fileOf = (name: string, store: object) => {
          const file = join(folder, name)
          const secretKey = Redacted.value(to.secretKeys!)
          writeFileSync(file, JSON.stringify({ ...settings, store: { ...store, secretKey } }))
          return file
        }
        const files = [
          fileOf("old.json", { sqlite: from.file }),
          fileOf("new.json", { postgres: Redacted.value(to.url) })
        ]
        const command = ["migrate-store", "--config", files[0]!, "--to", files[1]!]

        const killed = yield* run(command, { killWhen: (printed) => printed.includes("Rows copied") })
        assert.notStrictEqual(killed.code, 0)
        const copied = yield* run(command)
        assert.strictEqual(copied.code, 0, copied.stderr)
        assert.match(copied.stdout, /^Everything is copied and compared, and the SQLite file is still the store\./m)
        const early = yield* run(["status", "--config", files[1]!])
        assert.notStrictEqual(early.code, 0)
        assert.match(early.stderr, /Another store is being moved to it/)
        const { body: feed } = yield* old.get("/callbacks?limit=5")
        assert.isAbove(feed.data.items.length, 0)

        // The daemon is stopped once the command asks for that, and callbacks that wait are taken along.
        let told = false
        const last = yield* Effect.forkChild(
          run([...command, "--finish", "--json"], {
            killWhen: (printed) => {
              told = printed.includes("Stop the daemon now")
              return false
            }
          })
        )
        while (!told && last.pollUnsafe() === undefined) yield* Effect.sleep("50 millis")
        assert.isTrue(told)
        assert.strictEqual(yield* old.terminate, 0)
        const { code, stderr, stdout } = yield* Fiber.join(last)
        assert.strictEqual(code, 0, stderr)
        const { finished, rows } = JSON.parse(stdout)
        assert.isTrue(finished)
        assert.isAbove(rows, 100)

        const refused = yield* run(["serve", "--config", files[0]!])
        assert.notStrictEqual(refused.code, 0)
        assert.match(refused.stdout + refused.stderr, /was moved to PostgreSQL by headwater migrate-store/)

        const next = yield* Headwater.start(to, settings, { apiKey: old.apiKey })
        // The feed goes on behind the position that was read before the move.
        const further = yield* next.get(`/callbacks?startingAfter=${feed.data.nextStartingAfter}&limit=1`)
        assert.strictEqual(further.status, 200, JSON.stringify(further.body))
        yield* Effect.sleep("1 second")
        yield* traffic.stop
        const expected = yield* Traffic.expected(anvil, subscriptions)
        yield* receiver
          .until((accepted) => {
            const seen = new Set(accepted.map(Traffic.eventOf))
            return [...expected].every((event) => seen.has(event))
          }, 90)
          .pipe(Effect.tapDefect(() => Effect.logError(next.log().slice(-5000))))
        yield* Traffic.check(anvil, receiver.deliveries, expected)
        assert.isAbove(failed.size, 0)
      }).pipe(Effect.scoped),
    600_000
  )
})
