import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Folder from "../../../../test/Folder.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"
import * as HttpsReceiver from "./HttpsReceiver.ts"

const program = fileURLToPath(new URL("./DeliveryProcess.ts", import.meta.url))
const kills = Number(process.env.HEADWATER_KILLS ?? 4)
it.live(
  `loses nothing, in order, under one key each, through ${kills} × kill -9`,
  () =>
    Effect.gen(function* () {
      const certificate = yield* DevelopmentCertificate.make(["a.test", "b.test", "c.test"])
      const folder = yield* Folder.scoped
      const [file, ca] = [join(folder, "store.db"), join(folder, "ca.pem")]
      writeFileSync(ca, certificate.ca)

      let dying = false
      const receivers = {
        "a.test": yield* HttpsReceiver.start(certificate),
        "b.test": yield* HttpsReceiver.start(certificate, (response) => {
          setTimeout(() => response.end(), 10 + Math.random() * 20)
        }),
        // Resets, stays silent, or fails, until it is well again.
        "c.test": yield* HttpsReceiver.start(certificate, (response, received) => {
          if (!dying) return HttpsReceiver.status(204)(response, received)
          const chance = Math.random()
          if (chance < 0.3) response.socket?.destroy()
          else if (chance < 0.7) HttpsReceiver.status(500)(response, received)
        })
      }

      yield* Effect.gen(function* () {
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(
          Object.entries(receivers).flatMap((entry) => [entry, entry, entry]),
          ([host, { port }], i) => Seed.subscription(account, `https://${host}:${port}/${i}`)
        )
        let batch = 0
        const commits = Effect.gen(function* () {
          while (true) {
            for (const subscription of subscriptions) {
              const count = Math.floor(Math.random() * 4)
              if (count > 0) yield* Seed.callbacks(subscription, count, { label: `${batch++}-` })
            }
            yield* Effect.sleep(Math.random() * 60)
          }
        })
        const launch = Effect.acquireRelease(
          Effect.sync(() => spawn(process.execPath, [program, file, ca], { stdio: ["ignore", "inherit", "inherit"] })),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const writer = yield* Effect.forkChild(commits)
        for (let i = 0; i < kills; i++) {
          dying = i % 2 === 0
          yield* Effect.scoped(Effect.andThen(launch, Effect.sleep(700 + Math.random() * 900)))
        }
        dying = false
        yield* Fiber.interrupt(writer)
        yield* launch
        const left = Effect.flatMap(Database, ({ read }) =>
          read((db) => db.selectFrom("callback").select("id").where("state", "!=", "delivered").limit(1))
        )
        for (let i = 0; (yield* left).length > 0; i++) {
          assert.isBelow(i, 3_000, "not everything was delivered within five minutes")
          yield* Effect.sleep("100 millis")
        }

        for (const [i, subscription] of subscriptions.entries()) {
          const rows = yield* Seed.rows(subscription.id)
          assert.isAbove(rows.length, kills)
          assert.deepStrictEqual(
            rows.map(({ sequence }) => sequence),
            rows.map((_, i) => i + 1)
          )
          const received = receivers[
            Object.keys(receivers)[Math.floor(i / 3)] as keyof typeof receivers
          ].received.filter(({ path }) => path === `/${i}`)
          const seen = new Map<string, string>()
          const order: Array<string> = []
          for (const { headers, text } of received) {
            const key = JSON.parse(text).idempotencyKey as string
            const said = `${headers["x-callback-sequence"]} ${text}`
            if (!seen.has(key)) order.push(key)
            assert.strictEqual(seen.get(key) ?? said, said, "a key came with another number or body")
            seen.set(key, said)
          }
          // Whatever was lost on the way, each callback came for the first time after the one before it.
          assert.deepStrictEqual(
            order,
            rows.map(({ idempotency_key }) => idempotency_key)
          )
        }
      }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(Database.layer({ kind: "sqlite", file })))))
    }).pipe(Effect.scoped),
  600_000
)
