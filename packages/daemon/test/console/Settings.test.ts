import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Console from "@headwater/daemon/console/Console"
import * as SettingsFile from "@headwater/daemon/settings/SettingsFile"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Folder from "../../../../test/Folder.ts"

const chain = { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:8545" }
const load = (environment: Record<string, string>, file?: string) =>
  Effect.provide(SettingsFile.load(file, { ...chain, ...environment }), NodeServices.layer)

/** The settings of a file with this text. */
const loadText = (text: string) =>
  Effect.gen(function* () {
    const folder = yield* Folder.scoped
    const secret = join(folder, "password")
    writeFileSync(secret, "a password in a file\n")
    const file = join(folder, "headwater.toml")
    writeFileSync(file, text.replaceAll("SECRET", secret))
    return yield* load({}, file)
  }).pipe(Effect.scoped)

describe("the console's settings", () => {
  it.effect("are absent until there is a password of twelve characters, which nothing shows", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* load({})).console)
      const { console } = yield* load({ HEADWATER_CONSOLE_PASSWORD: "correct horse" })
      assert.deepInclude(console, { host: "127.0.0.1", port: 8081 })
      assert.strictEqual(Redacted.value(console!.password!), "correct horse")
      assert.notInclude(JSON.stringify(console) + String(console!.password), "correct horse")
      const short = yield* Effect.flip(load({ HEADWATER_CONSOLE_PASSWORD: "hunter2" }))
      assert.include(short.message, "console.password must have at least 12 characters")
      assert.notInclude(short.message, "hunter2")
      const none = yield* Effect.flip(load({ HEADWATER_CONSOLE_PORT: "9000" }))
      assert.include(none.message, "console.password is missing, and there is no table [console.users.NAME] either")
    })
  )

  it.effect("name users with passwords and roles, beside the operator of console.password or without one", () =>
    Effect.gen(function* () {
      const users = `[console.users.anna]\npassword = { file = "SECRET" }\nrole = "support"\n`
      const { console: alone } = yield* loadText(users)
      assert.deepStrictEqual(
        Console.usersOf(alone!).map(({ name, password, role }) => [name, role, Redacted.value(password)]),
        [["anna", "support", "a password in a file"]]
      )
      const { console: both } = yield* loadText(`[console]\npassword = "correct horse"\n${users}`)
      assert.deepStrictEqual(
        Console.usersOf(both!).map(({ name, role }) => [name, role]),
        [
          ["operator", "operator"],
          ["anna", "support"]
        ]
      )
      assert.notInclude(JSON.stringify(both), "a password in a file")
    })
  )

  it.effect("are refused with a second operator, an unknown role, or a name that is none", () =>
    Effect.gen(function* () {
      const message = (text: string) => Effect.map(Effect.flip(loadText(text)), (error) => error.message)
      const password = `password = "correct horse"`
      assert.include(
        yield* message(`[console]\n${password}\n[console.users.operator]\n${password}\nrole = "support"\n`),
        "console.users.operator is the user of console.password already"
      )
      assert.include(
        yield* message(`[console.users.anna]\n${password}\nrole = "admin"\n`),
        'console.users.anna.role must be "operator" or "support" or "read-only"'
      )
      assert.include(
        yield* message(`[console.users."a b"]\n${password}\nrole = "support"\n`),
        'console.users."a b" must be a name of 1 to 64 letters'
      )
    })
  )
})
