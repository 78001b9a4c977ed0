import { writeFileSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { Database } from "@headwater/indexer/store/database/Database"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { freePort } from "../../../test/FreePort.ts"
import { unmigrated } from "../../../test/Stores.ts"
import * as Seed from "../../indexer/test/store/Seed.ts"
import * as Serve from "../src/Serve.ts"
import * as Store from "../src/Store.ts"
import * as Settings from "../src/settings/Settings.ts"
import * as SettingsFile from "../src/settings/SettingsFile.ts"

const day = 86_400_000

/** What the outbox of a daemon with these settings forgets and gives up, of callbacks that are three days old. */
const swept = (callbacks: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
    const { file } = (yield* location) as { readonly file: string }
    const settings = yield* SettingsFile.load(undefined, {
      HEADWATER_STORE_SQLITE: file,
      HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1",
      ...callbacks
    })
    return yield* Effect.gen(function* () {
      const outbox = yield* Outbox
      const created = (yield* Clock.currentTimeMillis) - 3 * day
      const subscription = yield* Seed.subscription(yield* Seed.account, "https://unverified.test/")
      yield* Seed.callbacks(subscription, 2, { label: "delivered", state: "delivered", created })
      yield* Seed.callbacks(subscription, 3, { label: "held", state: "held", created })
      return [yield* outbox.prune, yield* outbox.expire]
    }).pipe(Effect.provide(Layer.provide(Serve.services, Layer.succeed(Settings.Settings, settings))))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("the settings' store", () => {
  it.live("keeps finished and held callbacks as long as they say", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* swept({}), [0, 0])
      assert.deepStrictEqual(yield* swept({ HEADWATER_CALLBACKS_KEEP_DAYS: "2" }), [2, 0])
      assert.deepStrictEqual(yield* swept({ HEADWATER_CALLBACKS_HELD_DAYS: "2" }), [0, 3])
      assert.deepStrictEqual(
        yield* swept({ HEADWATER_CALLBACKS_KEEP_DAYS: "4", HEADWATER_CALLBACKS_HELD_DAYS: "4" }),
        [0, 0]
      )
    })
  )

  it.live("is waited for by the daemon where its server is not up, and by no other command", () =>
    Effect.gen(function* () {
      const settings = yield* SettingsFile.load(undefined, {
        HEADWATER_STORE_POSTGRES: `postgres://127.0.0.1:${yield* freePort}/headwater`,
        HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1"
      })
      const opened = <E>(layer: Layer.Layer<Database, E, Settings.Settings>) =>
        Effect.scoped(Layer.build(Layer.provide(layer, Layer.succeed(Settings.Settings, settings))))
      assert.match((yield* Effect.flip(opened(Store.layer))).message, /^Cannot open PostgreSQL: .*ECONNREFUSED/)
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(opened(Serve.services), "1 second")))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("does not open where a file of its URL is not there, and the advice is about TLS", () =>
    Effect.gen(function* () {
      const settings = yield* SettingsFile.load(undefined, {
        HEADWATER_STORE_POSTGRES:
          "postgres://127.0.0.1:1/headwater?sslmode=verify-full&sslrootcert=/nonexistent/ca.pem",
        HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1"
      })
      const { advice, message } = yield* Effect.flip(
        Effect.scoped(Layer.build(Layer.provide(Store.layer, Layer.succeed(Settings.Settings, settings))))
      )
      assert.match(message, /^Cannot open PostgreSQL: ENOENT: .*\/nonexistent\/ca\.pem/)
      assert.include(advice, "sslrootcert")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is called damaged where SQLite finds the file so, and a backup is advised", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const { file } = (yield* location) as { readonly file: string }
      yield* Effect.sync(() => writeFileSync(file, "no database\n".repeat(1_000)))
      const settings = yield* SettingsFile.load(undefined, {
        HEADWATER_STORE_SQLITE: file,
        HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1"
      })
      const { advice, code } = yield* Effect.flip(
        Effect.scoped(Layer.build(Layer.provide(Store.layer, Layer.succeed(Settings.Settings, settings))))
      )
      assert.deepStrictEqual([code, advice], ["file_damaged", Store.damageAdvice])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
