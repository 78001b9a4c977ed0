/** The console: its door by HTTP, and its page in a real browser, where Chromium is installed. */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Ports from "@headwater/daemon/demo/Ports"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Browser, Page } from "playwright-core"
import * as Anvil from "./Anvil.ts"
import * as Chromium from "./Chromium.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js")
const password = "correct horse battery"
const secret = "a secret that no page may show"
const rich = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
const watched = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const events = "/blockchain-events/ethereum/devnet"
/** Where a person who wants to look puts screenshots: HEADWATER_SCREENSHOTS=/tmp/console. */
const screenshots = process.env.HEADWATER_SCREENSHOTS

/** A daemon with a console, a chain, a receiver and two subscriptions. */
const setup = (location: (typeof locations)[number]["location"]) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start()
    const receiver = yield* Receiver.start()
    const port = yield* Ports.free(0)
    const store = yield* location as Effect.Effect<never>
    const headwater = yield* Headwater.start(store, {
      chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
      credits: { enabled: true, subscriptionDay: 0 },
      console: { password, port }
    })
    yield* Effect.gen(function* () {
      const { id } = yield* (yield* Accounts).find("test")
      yield* (yield* Credits).grant({ account: id, amount: 100_000, detail: "test" })
      yield* (yield* Domains).add(id, "hooks.example.com")
      yield* (yield* Domains).add(id, "verified.example.com")
      yield* (yield* Domains).setVerified(id, "verified.example.com")
    }).pipe(
      Effect.provide(
        Layer.mergeAll(Accounts.layer, Credits.layer, Domains.layer).pipe(Layer.provide(Database.layer(store)))
      ),
      Effect.orDie
    )
    const subscribe = (path: string, item: Record<string, unknown>) =>
      Effect.map(
        headwater.post(`${events}/${path}`, { callbackUrl: `${receiver.url}/`, callbackSecretKey: secret, ...item }),
        ({ body, status }) => {
          assert.strictEqual(status, 201, JSON.stringify(body))
          return body.data.item.referenceId as string
        }
      )
    const coins = yield* subscribe("address-coins-transactions-confirmed", { address: watched })
    const blocks = yield* subscribe("block-mined", {})
    const send = anvil.rpc<string>("eth_sendTransaction", [{ from: rich, to: watched, value: "0xde0b6b3a7640000" }])
    const url = `http://127.0.0.1:${port}`
    /** Waits until the daemon has told of the node's newest block. */
    const caughtUp = Effect.gen(function* () {
      const { hash } = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", ["latest", false])
      yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === hash))
    })
    return { caughtUp, anvil, receiver, headwater, url, coins, blocks, send, subscribe }
  })

const call = (url: string, options: RequestInit = {}) => Effect.promise(() => fetch(url, options))
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  call(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
const text = (response: Response) => Effect.promise(() => response.text())

describe("the console's door", () => {
  for (const { location, name } of locations) {
    it.live(`opens to the password alone, and shows no secret, ${name}`, () =>
      Effect.gen(function* () {
        const { anvil, blocks, caughtUp, coins, headwater, receiver, send, url } = yield* setup(location)
        const paths = [
          ...["/api/chains", "/api/reorganisations", "/api/subscriptions?search=0x", `/api/subscriptions/${coins}`],
          ...["/api/accounts", "/api/credits?account=test", "/api/domains", "/api/progress", "/api/deliveries"]
        ]
        for (const path of paths) {
          assert.strictEqual((yield* call(`${url}${path}`)).status, 401, path)
          const forged = yield* call(`${url}${path}`, { headers: { cookie: `headwater_console=${"A".repeat(43)}` } })
          assert.strictEqual(forged.status, 401, path)
        }
        const page = yield* call(url)
        assert.strictEqual(page.status, 200)
        const policy = page.headers.get("content-security-policy") ?? ""
        assert.include(policy, "default-src 'none'")
        assert.notInclude(policy, "unsafe")
        assert.notMatch(yield* text(page), /<style|<script>|style=|\son\w+=|https?:/)

        const entered = yield* post(`${url}/api/login`, { password })
        assert.strictEqual(entered.status, 200)
        const set = entered.headers.get("set-cookie")!
        assert.match(set, /^headwater_console=[\w-]{43};/)
        assert.include(set, "HttpOnly")
        assert.include(set, "SameSite=Strict")
        const cookie = set.split(";")[0]!

        yield* send
        yield* receiver.until((accepted) => accepted.some(({ body }) => body.referenceId === coins))
        yield* anvil.rpc("anvil_mine", ["0x2"])
        yield* caughtUp
        yield* anvil.rpc("anvil_reorg", [2, []])
        yield* anvil.rpc("anvil_mine", ["0x1"])
        const get = (path: string) =>
          Effect.gen(function* () {
            const answer = yield* call(`${url}${path}`, { headers: { cookie } })
            const body = yield* text(answer)
            assert.strictEqual(answer.status, 200, body)
            assert.notInclude(body, secret)
            return JSON.parse(body)
          })
        for (const path of paths) yield* get(path)
        for (let i = 0; i < 1_200 && (yield* get("/api/reorganisations")).items.length === 0; i++) {
          yield* Effect.sleep("50 millis")
        }
        const [reorganisation] = (yield* get("/api/reorganisations")).items
        assert.deepInclude(reorganisation, { chain: "ethereum/devnet", depth: 2 })
        assert.match(reorganisation.oldHash, /^0x[0-9a-f]{64}$/)

        const [shown] = (yield* get("/api/chains")).chains
        assert.deepStrictEqual(
          shown.gaps.map(({ kind }: { readonly kind: string }) => kind),
          ["unproven"]
        )
        assert.match(shown.gaps[0].message, /^internal transactions without proof \(.+ block/)

        const search = (words: string) =>
          Effect.map(get(`/api/subscriptions?search=${encodeURIComponent(words)}`), ({ items }) =>
            items.map(({ referenceId }: { readonly referenceId: string }) => referenceId)
          )
        assert.deepStrictEqual(yield* search(""), [blocks, coins])
        assert.deepStrictEqual(yield* search(watched), [coins])
        assert.deepStrictEqual(yield* search(watched.toLowerCase()), [coins])
        assert.deepStrictEqual(yield* search(blocks.slice(0, 18)), [blocks])
        assert.deepStrictEqual(yield* search("tes"), [blocks, coins])
        assert.deepStrictEqual(yield* search("https://local"), [blocks, coins])
        assert.deepStrictEqual(yield* search("127.0.0.1"), [])
        assert.deepStrictEqual(yield* search(rich), [])
        assert.deepStrictEqual(yield* search("' or 1=1 --"), [])

        const { callbacks, subscription } = yield* get(`/api/subscriptions/${coins}`)
        assert.deepInclude(subscription, { address: watched, account: "test", signed: true, active: true })
        assert.strictEqual(callbacks[0].state, "delivered")
        assert.strictEqual(callbacks[0].attempts[0].status, 200)
        const first = (yield* get(`/api/subscriptions/${blocks}?before=3`)).callbacks
        assert.deepStrictEqual(
          first.map(({ sequence }: { readonly sequence: number }) => sequence),
          [2, 1]
        )
        const { days } = yield* get("/api/credits?account=test")
        assert.strictEqual(days.length, 30)
        assert.strictEqual(days[29].granted, 100_000)
        assert.isAbove(days[29].consumed, 0)
        assert.deepStrictEqual(
          (yield* get("/api/domains")).items.map(
            ({ name, verified }: { readonly name: string; readonly verified: number | null }) => [
              name,
              verified !== null
            ]
          ),
          [
            ["verified.example.com", true],
            ["hooks.example.com", false]
          ]
        )

        const again = `${url}/api/subscriptions/${coins}/callbacks/${callbacks[0].idempotencyKey}/redeliver`
        assert.strictEqual((yield* post(again, {})).status, 401)
        assert.strictEqual((yield* post(again, {}, { cookie, "content-type": "text/plain" })).status, 415)
        const before = receiver.deliveries.length
        assert.strictEqual((yield* post(again, {}, { cookie })).status, 200)
        yield* receiver.until(() => receiver.deliveries.length > before)
        const sent = receiver.deliveries.length
        const all = `${url}/api/subscriptions/${coins}/recover`
        assert.strictEqual((yield* post(all, {})).status, 401)
        assert.strictEqual((yield* post(all, { since: "x" }, { cookie })).status, 400)
        assert.strictEqual((yield* post(all.replace(coins, "nobody"), {}, { cookie })).status, 404)
        assert.strictEqual((yield* post(all, { since: 0 }, { cookie })).status, 200)
        yield* receiver.until(() => receiver.deliveries.length > sent)
        const everywhere = `${url}/api/recoveries`
        assert.strictEqual((yield* post(everywhere, { account: "nobody" }, { cookie })).status, 404)
        assert.strictEqual((yield* post(everywhere, {}, { cookie })).status, 400)
        const none = yield* post(everywhere, { account: "test", host: "other.example" }, { cookie })
        assert.deepStrictEqual([none.status, yield* text(none)], [200, '{"subscriptions":0}'])
        const other = again.replace(coins, blocks)
        assert.strictEqual((yield* post(other, {}, { cookie })).status, 404)

        // Each port has its own routes only.
        assert.strictEqual((yield* call(`${url}/health`)).status, 404)
        assert.strictEqual((yield* call(`${headwater.url}/api/chains`)).status, 404)

        assert.strictEqual((yield* post(`${url}/api/logout`, {}, { cookie })).status, 200)
        assert.strictEqual((yield* call(`${url}/api/chains`, { headers: { cookie } })).status, 401)
        assert.notInclude(headwater.log(), password)
        assert.notInclude(headwater.log(), secret)
      }).pipe(Effect.scoped)
    )
  }

  it.live("lets nobody guess for long", () =>
    Effect.gen(function* () {
      const { url } = yield* setup(locations[0]!.location)
      const guess = (password: unknown) => Effect.map(post(`${url}/api/login`, { password }), ({ status }) => status)
      const guesses = Array.from({ length: 30 }, (_, i) => guess(`guess ${i}`))
      const statuses = yield* Effect.all(guesses, { concurrency: 30 })
      assert.strictEqual(statuses.filter((status) => status === 401).length, 5)
      assert.strictEqual(statuses.filter((status) => status === 429).length, 25)
      const refused = yield* post(`${url}/api/login`, { password })
      assert.strictEqual(refused.status, 429)
      assert.isAtMost(Number(refused.headers.get("retry-after")), 60)
      assert.strictEqual((yield* call(`${url}/api/login`, { method: "POST", body: "{" })).status, 415)
    }).pipe(Effect.scoped)
  )

  it.live("is closed without a password in the settings", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const headwater = yield* Headwater.start(yield* locations[0]!.location as Effect.Effect<never>, {
        chains: { "ethereum/devnet": { nodes: [anvil.url], pollMillis: 50 } }
      })
      assert.notInclude(headwater.log(), "console")
      assert.strictEqual((yield* call(`${headwater.url}/console.js`)).status, 404)
    }).pipe(Effect.scoped)
  )

  it("has a page whose scripts fit together", () => {
    const folder = fileURLToPath(new URL("../packages/daemon/src/console/page", import.meta.url))
    const root = fileURLToPath(new URL("..", import.meta.url))
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
  })
})

/** A page that notes what it complains about and whom it asks. */
const openPage = (browser: Browser, colorScheme: "light" | "dark") =>
  Effect.promise(async () => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 860 } })
    const complaints: Array<string> = []
    const hosts = new Set<string>()
    page.on("console", (message) => {
      // A refused login is what the console asked for.
      if (message.type() === "error" && !message.text().includes("401")) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("request", (request) => hosts.add(new URL(request.url()).host))
    return { page, complaints, hosts }
  })

const look = async (page: Page, name: string) => {
  if (screenshots === undefined) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
}

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** What axe finds that is serious. The page's own policy forbids foreign scripts, so it is put in from outside. */
const findings = async (page: Page): Promise<ReadonlyArray<string>> => {
  const session = await page.context().newCDPSession(page)
  const source = await import("node:fs").then(({ readFileSync }) => readFileSync(axe, "utf8"))
  await session.send("Runtime.evaluate", { expression: source })
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run().then(({ violations }) => JSON.stringify(violations))",
    awaitPromise: true
  })
  await session.detach()
  const found: ReadonlyArray<Finding> = JSON.parse(String(result.value))
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)
}

describe.skipIf(Chromium.path === undefined)("the console in Chromium", () => {
  it.live(
    "shows chains live, finds subscriptions, redelivers; no serious finding of axe, dark or light",
    () =>
      Effect.gen(function* () {
        const { anvil, blocks, caughtUp, coins, receiver, send, subscribe, url } = yield* setup(locations[0]!.location)
        const failing = yield* subscribe("block-mined", { callbackUrl: "https://localhost:1/", allowDuplicates: true })
        yield* subscribe("block-mined", { callbackUrl: "https://hooks.example.com/", allowDuplicates: true })
        yield* send
        yield* anvil.rpc("anvil_mine", ["0x3"])
        yield* caughtUp
        yield* anvil.rpc("anvil_reorg", [2, []])
        yield* receiver.until((accepted) => accepted.some(({ body }) => body.referenceId === coins))
        const browser = yield* Chromium.launch
        for (const scheme of ["light", "dark"] as const) {
          const { complaints, hosts, page } = yield* openPage(browser, scheme)
          yield* Effect.promise(async () => {
            const sound = async (name: string) => {
              await look(page, `${name}-${scheme}`)
              assert.deepStrictEqual(await findings(page), [], name)
            }
            await page.goto(url)
            await page.getByLabel("Password of the console").fill("not the password")
            await page.keyboard.press("Enter")
            await page.getByText("Wrong password").waitFor()
            await sound("login")
            await page.getByLabel("Password of the console").fill(password)
            await page.keyboard.press("Enter")
            const card = page.locator('[data-chain="ethereum/devnet"]')
            await card.getByText("following").waitFor()
            await page.getByText("Last common block").waitFor()
            const height = Number(await Effect.runPromise(anvil.rpc<string>("eth_blockNumber", [])))
            await Effect.runPromise(anvil.rpc("anvil_mine", ["0x1"]))
            await card.locator("dd", { hasText: new RegExp(`^${height + 1}$`) }).waitFor({ timeout: 60_000 })
            await page.waitForTimeout(4_500)
            await sound("chains")

            await page.keyboard.press("/")
            await page.getByLabel("Address, reference, account or host").fill(watched)
            await page.keyboard.press("Enter")
            await page.getByText("1 for").waitFor()
            await sound("subscriptions")
            await page.keyboard.press("Tab")
            await page.getByRole("heading", { name: "Subscriptions" }).click()
            await page.keyboard.press("j")
            await page.keyboard.press("Enter")
            await page.getByRole("heading", { name: coins }).waitFor()
            await page.getByText("● delivered").first().waitFor()
            await page.locator("summary").first().click()
            await page.getByText("· 200 ·").first().waitFor()
            await sound("subscription")
            assert.notInclude(await page.content(), secret)

            const before = receiver.deliveries.length
            await page.getByRole("button", { name: "Redeliver callback 1" }).click()
            await Effect.runPromise(receiver.until(() => receiver.deliveries.length > before))
            assert.strictEqual(receiver.deliveries.at(-1)!.body.referenceId, coins)
            await page.getByText("Callback 1 is sent again").waitFor()
            await page.locator("summary", { hasText: /^[2-9] attempts/ }).waitFor()

            const told = receiver.deliveries.length
            await page.getByRole("button", { name: "Send all again" }).click()
            await page.getByText("The callbacks of 1 subscription are sent again").waitFor()
            await Effect.runPromise(receiver.until(() => receiver.deliveries.length > told))

            await page.goto(`${url}/#/subscriptions/${blocks}`)
            await page.getByRole("heading", { name: blocks }).waitFor()
            const rows = await page.locator("tbody tr").count()
            await Effect.runPromise(anvil.rpc("anvil_mine", ["0x1"]))
            await page.locator("tbody tr").nth(rows).waitFor({ timeout: 60_000 })

            await page.keyboard.press("2")
            const hosts = page.getByRole("region", { name: "Hosts" })
            // One of its subscriptions is accepted, which does not make the host green.
            await hosts.getByText("✕ failing").waitFor()
            await hosts.getByText("○ not verified").waitFor()
            await page.getByRole("region", { name: "Failures" }).getByText("ECONNREFUSED").first().waitFor()
            await sound("deliveries")
            await page.getByLabel("Account").fill("test")
            await page.getByLabel("Host (all").fill("hooks.example.com")
            await page.getByLabel("Since").fill("2026-01-01T00:00")
            await page.getByRole("button", { name: "Send all again" }).click()
            await page.getByText(/The callbacks of \d+ subscriptions? are sent again/).waitFor()
            await page.getByRole("link", { name: failing.slice(0, 8) }).click()
            await page.getByText("✕ failing").waitFor()
            await sound("failing")
            await page.keyboard.press("3")
            await page.getByText("✕ failing").first().waitFor()
            await page.getByText("● healthy").first().waitFor()
            await sound("all-subscriptions")

            await page.keyboard.press("4")
            await page.getByText("Consumed by test").waitFor()
            await page.waitForTimeout(200)
            await sound("credits")
            await page.keyboard.press("5")
            await page.getByText("hooks.example.com").waitFor()
            await sound("domains")
            await page.keyboard.press("6")
            await page.getByText("No movement of coins is in doubt.").waitFor()
            await sound("progress")
            await page.keyboard.press("?")
            await page.getByRole("heading", { name: "Keys" }).waitFor()
            await sound("keys")
            if (scheme === "light") await page.keyboard.press("Escape")
            else await page.getByRole("button", { name: "Close" }).click()
            await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "hidden" })
            await page.setViewportSize({ width: 390, height: 800 })
            await page.keyboard.press("1")
            await card.getByText("following").waitFor()
            await page.waitForTimeout(1_500)
            await sound("narrow")
            await page.keyboard.press("2")
            await page.getByText("✕ failing").first().waitFor()
            await sound("narrow-deliveries")
            await page.getByRole("button", { name: "Log out" }).click()
            await page.getByLabel("Password of the console").waitFor()
            await page.close()
          })
          assert.deepStrictEqual(complaints, [])
          assert.deepStrictEqual([...hosts], [new URL(url).host])
        }
      }).pipe(Effect.scoped),
    600_000
  )
})
