/** Runs every program of `examples/` as its README says, against a real node and a real daemon. */
import { spawn } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Ports from "@headwater/daemon/demo/Ports"
import * as Effect from "effect/Effect"
import { formatEther, HDNodeWallet } from "ethers"
import { Webhook } from "standardwebhooks"
import { build, type Rolldown } from "vite"
import * as Anvil from "./Anvil.ts"
import * as Chromium from "./Chromium.ts"
import * as Folder from "./Folder.ts"
import * as Headwater from "./Headwater.ts"
import * as LocalServer from "./LocalServer.ts"

const examples = fileURLToPath(new URL("../examples", import.meta.url))
const secret = "a secret of the examples"
/** The first two of anvil's well-known accounts. */
const rich = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
const watched = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

interface Running {
  readonly lines: () => ReadonlyArray<string>
  readonly errors: () => string
  readonly ended: Effect.Effect<number | null>
}

/** Runs an example until the scope ends. */
const start = (name: string, args: ReadonlyArray<string>, environment: Record<string, string> = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [join(examples, `${name}.ts`), ...args], {
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...process.env, NODE_NO_WARNINGS: "1", ...environment }
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child): Running => {
      let output = ""
      let errors = ""
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8")
      })
      child.stderr.on("data", (chunk: Buffer) => {
        errors += chunk.toString("utf8")
      })
      const ended = Effect.callback<number | null>((resume) => {
        if (child.exitCode !== null) resume(Effect.succeed(child.exitCode))
        else child.once("close", (code) => resume(Effect.succeed(code)))
      })
      return { lines: () => output.split("\n").filter((line) => line !== ""), errors: () => errors, ended }
    }
  )

/** Runs an example to its end and gives the lines that it printed. */
const run = (name: string, args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { ended, errors, lines } = yield* start(name, args)
    assert.strictEqual(yield* ended, 0, errors())
    return lines()
  })

const until = (what: string, holds: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 2_400; i++) {
      if (holds()) return
      yield* Effect.sleep("50 millis")
    }
    return yield* Effect.die(new Error(`Not within 120 s: ${what}`))
  })

const send = (anvil: Anvil.Anvil, value: number) =>
  anvil.rpc<string>("eth_sendTransaction", [{ from: rich, to: watched, value: `0x${value.toString(16)}` }])

const temporary = Folder.scoped

/** Serves what Vite has built; the URL of its page. */
const served = (built: unknown) =>
  Effect.gen(function* () {
    const files = new Map(
      (built as Rolldown.RolldownOutput).output.map((file) => [
        `/${file.fileName}`,
        file.type === "chunk" ? file.code : file.source
      ])
    )
    const url = yield* LocalServer.http(({ url = "/" }, response) => {
      const path = url === "/" ? "/index.html" : url
      const type = path.endsWith(".js") ? "text/javascript" : "text/html"
      response.writeHead(files.has(path) ? 200 : 404, { "content-type": type }).end(files.get(path))
    })
    return `${url}/`
  })

/** Posts a body with these headers; the status that comes back. */
const post = (url: string, ca: string, headers: Record<string, string>, body: string) =>
  Effect.callback<number>((resume) => {
    const call = request(url, { method: "POST", ca, headers: { "content-type": "application/json", ...headers } })
    call.on("response", (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    call.on("error", (error) => resume(Effect.die(error)))
    call.end(body)
  })

const signed = (body: string, at: Date) => {
  const id = "forged-or-late"
  const signature = new Webhook(secret, { format: "raw" }).sign(id, at, body)
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": signature
  }
}

describe("examples", () => {
  it("are all run below", () => {
    const programs = readdirSync(examples).filter((file) => file !== "README.md")
    // Those of deposits are run by Deposits.evm.test.ts.
    assert.deepStrictEqual(programs.sort(), [
      "balance-view",
      "deposit-listener-plain.ts",
      "deposit-listener.ts",
      "derive-addresses.ts",
      "effect-app.ts",
      "fastify-app.ts",
      "fetch-client.ts",
      "match-block.ts",
      "receiver-express.ts",
      "receiver-fastify.ts",
      "typed-client.ts"
    ])
  })

  it.live("derive-addresses", () =>
    Effect.gen(function* () {
      // Account 0 of BIP-84's test vector.
      const key =
        "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
      const lines = yield* run("derive-addresses", ["bitcoin", "mainnet", key])
      assert.deepStrictEqual(lines.slice(0, 2), [
        "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
        "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"
      ])
      assert.strictEqual(lines.length, 5)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(Chromium.path === undefined)("balance-view", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const folder = yield* temporary
      // To somebody else, so that the wallet's balance has more digits than a number.
      const stranger = `0x${"12".repeat(20)}`
      yield* anvil.rpc("eth_sendTransaction", [{ from: rich, to: stranger, value: "0x20000000000001" }])
      const page = yield* served(
        yield* Effect.promise(() =>
          build({
            ...{ root: join(examples, "balance-view"), configFile: false, logLevel: "error" },
            build: { write: false }
          })
        )
      )
      const headwater = yield* Headwater.start(
        { kind: "sqlite", file: join(folder, "store.db") },
        {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
          http: { allowedOrigins: [new URL(page).origin] }
        }
      )
      const wallet = HDNodeWallet.fromPhrase(
        "test test test test test test test test test test test junk",
        "",
        "m/44'/60'/0'"
      )
      const balances = yield* Effect.forEach(Array.from({ length: 10 }), (_, index) =>
        anvil.rpc<string>("eth_getBalance", [wallet.derivePath(`0/${index}`).address, "latest"])
      )
      const whole = formatEther(balances.reduce((sum, balance) => sum + BigInt(balance), 0n))
      assert.notStrictEqual(whole, String(Number(whole)))
      const browser = yield* Chromium.launch
      yield* Effect.promise(async () => {
        const view = await browser.newPage()
        view.setDefaultTimeout(120_000)
        await view.goto(page)
        await view.getByLabel("Server").fill(headwater.url)
        await view.getByLabel("API key").fill(headwater.apiKey)
        await view.getByLabel("Chain").selectOption("ethereum/devnet")
        const ask = async (key: string) => {
          await view.getByLabel("Extended public key").fill(key)
          await view.getByRole("button", { name: "Show" }).click()
        }
        await ask(wallet.extendedKey)
        await view.getByText("is a private key").waitFor()
        assert.strictEqual(await view.locator("li").count(), 0)
        assert.notInclude(await view.locator("main").textContent(), wallet.extendedKey.slice(0, 12))
        await ask(wallet.neuter().extendedKey)
        await view.getByRole("cell", { name: "ETH" }).waitFor()
        assert.deepStrictEqual(await view.locator("td").allInnerTexts(), [whole, "ETH"])
        assert.deepStrictEqual((await view.locator("li").allInnerTexts()).slice(0, 2), [rich, watched])
        // A server that does not know the reader.
        await view.getByLabel("API key").fill("hw_nobody")
        await ask(wallet.neuter().extendedKey)
        await view.locator("[role=status]", { hasText: /key/i }).waitFor()
        assert.strictEqual(await view.locator("td").count(), 0)
      })
    }).pipe(Effect.scoped)
  )

  it.live("match-block", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const hash = yield* send(anvil, 1_500)
      const items = (yield* run("match-block", [anvil.url, "latest", watched])).map((line) => JSON.parse(line))
      assert.strictEqual(items.length, 1)
      assert.deepInclude(items[0], {
        ...{ address: watched, amount: "0.0000000000000015", direction: "incoming", transactionId: hash, unit: "ETH" }
      })
    }).pipe(Effect.scoped)
  )

  it.live("effect-app and fastify-app", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const folder = yield* temporary
      yield* send(anvil, 1)
      const port = String(yield* Ports.free(0))
      const web = yield* start("fastify-app", [anvil.url, join(folder, "web.db")], { PORT: port })
      const app = yield* start("effect-app", [anvil.url, join(folder, "app.db"), watched])
      const customer = `http://127.0.0.1:${port}/customers/${watched}`
      const json = (url: string, method = "GET") =>
        Effect.promise(() => fetch(url, { method }).then((answer) => answer.json() as Promise<unknown>))
      yield* until("listening", () => web.errors().includes("listening"))
      yield* json(customer, "POST")
      yield* send(anvil, 2)
      yield* until("both payments", () => app.lines().at(-1) === `[["${watched}","0.000000000000000003"]]`)
      const has = (amount: string) =>
        Effect.map(json(`${customer}/deposits`), (deposits) => JSON.stringify(deposits).includes(`"${amount}"`))
      while (!(yield* has("0.000000000000000002"))) yield* Effect.sleep("20 millis")
      assert.deepInclude(yield* json(`http://127.0.0.1:${port}/customers/nobody`, "POST"), { statusCode: 500 })
      // What leaves the chain is taken back.
      yield* anvil.rpc("anvil_reorg", [1, []])
      yield* until("the payment taken back", () => app.lines().at(-1) === `[["${watched}","0.000000000000000001"]]`)
      while (yield* has("0.000000000000000002")) yield* Effect.sleep("20 millis")
    }).pipe(Effect.scoped)
  )

  for (const [program, receiver] of [
    ["typed-client", "receiver-express"],
    ["fetch-client", "receiver-fastify"]
  ] as const) {
    it.live(`${program} and ${receiver}`, () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start()
        const folder = yield* temporary
        const port = yield* Ports.free(0)
        const { ca, cert, key } = yield* DevelopmentCertificate.make(["localhost"])
        const [TLS_KEY, TLS_CERT] = [join(folder, "key.pem"), join(folder, "cert.pem")]
        writeFileSync(TLS_KEY, key)
        writeFileSync(TLS_CERT, cert)
        const environment = { PORT: String(port), TLS_KEY, TLS_CERT, CALLBACK_SECRET: secret }
        const receiving = yield* start(receiver, [], environment)
        yield* until("listening", () => receiving.errors().includes("listening"))

        const headwater = yield* Headwater.start(
          { kind: "sqlite", file: join(folder, "store.db") },
          {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: ca }
          }
        )
        const url = `https://localhost:${port}/callbacks`
        const client = [headwater.url, headwater.apiKey, watched, url, secret]
        const lines = yield* run(program, client)
        assert.match(lines[0]!, /^subscribed [0-9a-f-]{36}$/)
        assert.strictEqual(lines[1], `active ${watched} ${url}`)
        if (program === "typed-client") assert.strictEqual(lines[2], "1 in all")
        assert.match((yield* run(program, client))[0]!, /has the same subscription already/)

        const hash = yield* send(anvil, 7)
        yield* until("a verified callback", () => receiving.lines().length === 1)
        const callback = JSON.parse(receiving.lines()[0]!)
        assert.strictEqual(callback.sequence, "1")
        assert.deepInclude(callback.item, { transactionId: hash, amount: "0.000000000000000007" })

        const body = JSON.stringify({ idempotencyKey: "k", data: { event: "test" } })
        assert.strictEqual(yield* post(url, ca, {}, body), 401)
        assert.strictEqual(yield* post(url, ca, signed("another body", new Date()), body), 401)
        assert.strictEqual(yield* post(url, ca, signed(body, new Date(Date.now() - 600_000)), body), 401)
        assert.strictEqual(receiving.lines().length, 1)
        for (let i = 0; i < 2; i++) assert.strictEqual(yield* post(url, ca, signed(body, new Date()), body), 204)
        yield* until("the second callback", () => receiving.lines().length > 1)
        yield* Effect.sleep("100 millis")
        assert.strictEqual(receiving.lines().length, 2, "handled once")
      }).pipe(Effect.scoped)
    )
  }
})
