import { existsSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Webhook } from "standardwebhooks"
import * as Anvil from "../../../../test/Anvil.ts"
import * as Folder from "../../../../test/Folder.ts"
import * as Headwater from "../../../../test/Headwater.ts"
import * as LocalServer from "../../../../test/LocalServer.ts"
import { locations } from "../../../../test/Stores.ts"
import { run } from "../Program.ts"

const watched = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
const secret = `whsec_${Buffer.from("a secret of many bytes").toString("base64")}`

interface Got {
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const receiver = (got: Array<Got>, port?: number) =>
  LocalServer.listen(
    createServer(async (request, response) => {
      got.push({ headers: request.headers, text: await text(request) })
      response.end()
    }),
    undefined,
    port
  )

describe("headwater listen", () => {
  it.live(
    "passes callbacks on to a local port, signed as in production, and goes on where it was",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const anvil = yield* Anvil.start()
        const [{ location }] = locations as [(typeof locations)[number]]
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } }
        })
        const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
        // The host is not verified: nothing is sent, and everything can be listened to.
        yield* headwater.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
          ...{ address: watched, callbackUrl: "https://hooks.example.com/", callbackSecretKey: secret }
        })
        const pay = anvil.rpc("eth_sendTransaction", [{ from, to: watched, value: "0x1" }])
        const got: Array<Got> = []
        const until = (count: number) =>
          Effect.gen(function* () {
            for (let i = 0; got.length < count; i++) {
              assert.isBelow(i, 2_400, `${got.length} of ${count}`)
              yield* Effect.sleep("50 millis")
            }
          })
        const listen = (port: number) =>
          run(
            [
              ...["listen", "ethereum/devnet", "--forward", `http://127.0.0.1:${port}/hook`],
              ...["--service", headwater.url, "--state", join(cwd, "state.json")]
            ],
            { cwd, environment: { HEADWATER_API_KEY: headwater.apiKey } }
          )
        const port = yield* Effect.scoped(
          Effect.gen(function* () {
            const port = yield* receiver(got)
            const listening = yield* Effect.forkScoped(listen(port))
            for (let i = 0; !existsSync(join(cwd, "state.json")) && i < 2_400; i++) yield* Effect.sleep("50 millis")
            yield* pay
            yield* pay
            yield* until(2)
            // It notes where it is after it has passed a callback on; killed before, it would pass that one on again.
            yield* Effect.sleep("1 second")
            yield* Fiber.interrupt(listening)
            return port
          })
        )
        // Comes while nobody listens.
        yield* pay
        yield* Effect.forkScoped(listen(port))
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* receiver(got, port), port)
        yield* pay
        yield* until(4)
        yield* Effect.sleep("300 millis")
        assert.deepStrictEqual(
          got.map(({ headers }) => headers["x-callback-sequence"]),
          ["1", "2", "3", "4"]
        )
        const keys = new Set<string>()
        for (const { headers, text } of got) {
          const body = new Webhook(secret).verify(text, headers as Record<string, string>) as {
            readonly idempotencyKey: string
          }
          assert.strictEqual(headers["webhook-id"], body.idempotencyKey)
          assert.match(String(headers["x-signature"]), /^[0-9a-f]{64}$/)
          assert.strictEqual(headers["content-type"], "application/json")
          keys.add(body.idempotencyKey)
        }
        assert.strictEqual(keys.size, 4)

        const refused = yield* run(["listen", "ethereum/devnet", "--forward", "http://127.0.0.1:1"], { cwd })
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "Give an API key by HEADWATER_API_KEY or --key")
        const wrong = yield* run(
          [
            ...["listen", "ethereum/devnet", "--forward", "http://127.0.0.1:1", "--service", headwater.url],
            ...["--key", "hw_wrong-key"]
          ],
          { cwd }
        )
        assert.strictEqual(wrong.code, 1)
        assert.notInclude(wrong.stderr, "wrong-key")
        // Without `--service` the settings say where the daemon is.
        const { port: own } = new URL(headwater.url)
        writeFileSync(
          join(cwd, "headwater.toml"),
          `[http]\nport = ${own}\n[chains."ethereum/devnet"]\nnodes = ["${anvil.url}"]\n`
        )
        const settled = yield* run(
          ["listen", "ethereum/devnet", "--forward", "http://127.0.0.1:1", "--key", "hw_wrong-key"],
          { cwd }
        )
        assert.strictEqual(settled.code, 1)
        assert.include(settled.stderr, `callbacks of ethereum/devnet at http://127.0.0.1:${own}`)
        assert.notInclude(settled.stderr, "Passing callbacks")
        assert.include(settled.stderr, "The API key is unknown")
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})
