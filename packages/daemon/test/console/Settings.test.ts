import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as SettingsFile from "@headwater/daemon/settings/SettingsFile"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const chain = { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:8545" }
const load = (environment: Record<string, string>) =>
  Effect.provide(SettingsFile.load(undefined, { ...chain, ...environment }), NodeServices.layer)

describe("the console's settings", () => {
  it.effect("are absent until there is a password of twelve characters, which nothing shows", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* load({})).console)
      const { console } = yield* load({ HEADWATER_CONSOLE_PASSWORD: "correct horse" })
      assert.deepInclude(console, { host: "127.0.0.1", port: 8081 })
      assert.strictEqual(Redacted.value(console!.password), "correct horse")
      assert.notInclude(JSON.stringify(console) + String(console!.password), "correct horse")
      const short = yield* Effect.flip(load({ HEADWATER_CONSOLE_PASSWORD: "hunter2" }))
      assert.include(short.message, "console.password must have at least 12 characters")
      assert.notInclude(short.message, "hunter2")
      const none = yield* Effect.flip(load({ HEADWATER_CONSOLE_PORT: "9000" }))
      assert.include(none.message, "console.password is missing")
    })
  )
})
