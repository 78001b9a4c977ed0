/** The console: its door by HTTP, and its page in a real browser, where Chromium is installed. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
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
import { locations, taken } from "./Stores.ts"

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
      chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
      credits: { enabled: true, subscriptionDay: 0 },
      console: { password, port, users: { anna: { password, role: "support" } } }
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
  for (const { location, name } of taken(import.meta.url)) {
    it.live(`opens to the password alone, lets nobody guess for long, and shows no secret, ${name}`, () =>
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
        // Nobody guesses for long.
        const guess = (password: unknown) => Effect.map(post(`${url}/api/login`, { password }), ({ status }) => status)
        const guesses = Array.from({ length: 30 }, (_, i) => guess(`guess ${i}`))
        const statuses = yield* Effect.all(guesses, { concurrency: 30 })
        assert.strictEqual(statuses.filter((status) => status === 401).length, 5)
        assert.strictEqual(statuses.filter((status) => status === 429).length, 25)
        const refused = yield* post(`${url}/api/login`, { password })
        assert.strictEqual(refused.status, 429)
        assert.isAtMost(Number(refused.headers.get("retry-after")), 60)
        assert.strictEqual((yield* call(`${url}/api/login`, { method: "POST", body: "{" })).status, 415)
        assert.notInclude(headwater.log(), password)
        assert.notInclude(headwater.log(), secret)
      }).pipe(Effect.scoped)
    )
  }

  it("has a page whose scripts fit together", () => {
    const folder = fileURLToPath(new URL("../packages/daemon/src/console/page", import.meta.url))
    const root = fileURLToPath(new URL("..", import.meta.url))
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
  })
})

/** A page that notes what it complains about and whom it asks. */
const openPage = (browser: Browser) =>
  Effect.promise(async () => {
    const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1280, height: 860 } })
    const complaints: Array<string> = []
    const hosts = new Set<string>()
    page.on("console", (message) => {
      // A refused login is what the console asked for.
      if (message.type() === "error" && !message.text().includes("401")) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(error.stack ?? String(error)))
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

/** What axe finds. The page's own policy forbids foreign scripts, so it is put in from outside. */
const findings = async (page: Page): Promise<ReadonlyArray<string>> => {
  const session = await page.context().newCDPSession(page)
  const { result: loaded } = await session.send("Runtime.evaluate", { expression: "'axe' in globalThis" })
  if (loaded.value !== true) await session.send("Runtime.evaluate", { expression: readFileSync(axe, "utf8") })
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run().then(({ violations }) => JSON.stringify(violations))",
    awaitPromise: true
  })
  await session.detach()
  const found: ReadonlyArray<Finding> = JSON.parse(String(result.value))
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)
}

/** Answers of a daemon that has much to do, for states that no test would wait for. */
const bigOverview = (now: number) => {
  const period = (at: number) => ({
    at,
    attempts: 900,
    accepted: 880,
    failed: 20,
    successRate: 0.978,
    p50: 40,
    p95: 160,
    p99: 640
  })
  const summary = {
    attempts: 1_234_567,
    accepted: 1_230_000,
    failed: 4_567,
    successRate: 0.9963,
    p50: 40,
    p95: 160,
    p99: 640
  }
  const names = ["bitcoin", "ethereum", "litecoin", "dogecoin", "tron", "xrp", "polygon", "avalanche"]
  const day = 86_400_000
  return {
    now,
    needs: [
      {
        severity: "critical",
        what: "bitcoin/mainnet is failing: no node answers",
        remedy: "Look at its node.",
        command: "headwater doctor",
        code: "chain_failing",
        to: { view: "chains" }
      },
      {
        severity: "warning",
        what: "hooks.example.com fails since yesterday",
        remedy: null,
        command: null,
        code: null,
        to: { view: "host", account: "shop", host: "hooks.example.com" }
      }
    ],
    deliveries: {
      day: Array.from({ length: 144 }, (_, i) => period(now - (143 - i) * 600_000)),
      month: Array.from({ length: 30 }, (_, i) => period(now - (29 - i) * day)),
      periodMillis: 600_000,
      monthSince: now - 30 * day,
      last24h: summary,
      last30d: summary
    },
    backlog: {
      waiting: { count: 12, oldest: now - 4_000 },
      retrying: { count: 1_204, oldest: now - day },
      parked: { count: 0 },
      unwritten: { count: 0 }
    },
    hosts: { counts: { healthy: 4_210, failing: 3, unverified: 1 }, worst: [] },
    failures: [],
    chains: names.flatMap((name) =>
      ["mainnet", "testnet"].map((network, i) => ({
        ...{
          name: `${name}/${network}`,
          state: i === 0 ? "following" : "syncing",
          problem: null,
          height: 21_000_123,
          head: 21_000_125,
          lag: 2
        },
        ...{ catchingUp: i === 0 ? null : { blocks: 2, perSecond: 31, secondsLeft: 4_000 }, committedAt: now - 9_000 },
        missing: i === 0 ? [] : [{ kind: "unproven", message: "internal transactions without proof (1,204 blocks)" }]
      }))
    ),
    daemons: ["north:8080", "south:8080"].map((name, i) => ({
      ...{ name, version: "0.1.0", roles: ["follow", "deliver", "api", "market"], started: now - 86_400_000 },
      ...{ silentSeconds: i * 5, follows: ["ethereum/mainnet", "bitcoin/mainnet", "tron/mainnet"] }
    })),
    outages: [],
    full: { waitingCallbacks: 100_000, names: [] }
  }
}

/** A callback as the page of its subscription lists it. */
const callbackOf = (sequence: number) => ({
  ...{ sequence, idempotencyKey: `key-${sequence}`, event: "BLOCK_MINED", state: "delivered", created: sequence },
  ...{ attempts: [], nextAttempt: null }
})

/** The answer of a daemon that has nothing to do. */
const emptyOverview = (now: number) => {
  const none = { attempts: 0, accepted: 0, failed: 0 }
  const { day, month, ...deliveries } = bigOverview(now).deliveries
  const nothing = (periods: typeof day) => periods.map(({ at }) => ({ at, ...none }))
  return {
    ...{ now, needs: [], failures: [], chains: [], daemons: [], outages: [], full: { waitingCallbacks: 0, names: [] } },
    deliveries: { ...deliveries, day: nothing(day), month: nothing(month), last24h: none, last30d: none },
    backlog: { waiting: { count: 0 }, retrying: { count: 0 }, parked: { count: 0 }, unwritten: { count: 0 } },
    hosts: { counts: {}, worst: [] }
  }
}

/** The bytes of all that the page has loaded so far, as they are and as they came over the wire. */
const weight = (page: Page) =>
  page.evaluate(
    "[performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')].map(({ name, decodedBodySize, encodedBodySize }) => [new URL(name).pathname, decodedBodySize, encodedBodySize])"
  ) as Promise<ReadonlyArray<readonly [path: string, bytes: number, packed: number]>>

/** How each view is looked at; a person who wants screenshots gets both widths in both schemes. */
const looks = [
  [1280, "light"],
  [320, "dark"],
  ...(screenshots === undefined
    ? []
    : ([
        [1280, "dark"],
        [320, "light"]
      ] as const))
] as const

/** Whether the page itself can be scrolled sideways. */
const overflows = (page: Page) =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth") as Promise<boolean>

/** What stands in cells of tables and runs over what stands beside. */
const overlapping = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('tbody td')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ innerText }) => innerText)"
  ) as Promise<ReadonlyArray<string>>

const enter = async (page: Page, url: string, user: string, userPassword: string) => {
  await page.goto(url)
  await page.getByLabel("User").fill(user)
  await page.getByLabel("Password").fill(userPassword)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Overview" }).waitFor()
}
const heading = (page: Page, name: string | RegExp, level?: number) =>
  page.getByRole("heading", { name, ...(level && { level }) })

describe.skipIf(Chromium.path === undefined)("the console in Chromium", () => {
  it.live(
    "tells an operator, a support and an account what each may see; no finding of axe, dark or light, desktop or phone",
    () =>
      Effect.gen(function* () {
        const { anvil, caughtUp, coins, headwater, receiver, send, subscribe, url } = yield* setup(
          locations[0]!.location
        )
        const run = Effect.runPromiseWith(yield* Effect.context<never>())
        const failing = yield* subscribe("block-mined", { callbackUrl: "https://localhost:1/", allowDuplicates: true })
        yield* subscribe("block-mined", { callbackUrl: "https://hooks.example.com/", allowDuplicates: true })
        yield* send
        yield* anvil.rpc("anvil_mine", ["0x3"])
        yield* caughtUp
        yield* anvil.rpc("anvil_reorg", [2, []])
        yield* receiver.until((accepted) => accepted.some(({ body }) => body.referenceId === coins))
        const browser = yield* Chromium.launch

        const { complaints, hosts, page } = yield* openPage(browser)
        yield* Effect.promise(async () => {
          /** Looks at a view: on a desktop, and in dark on the narrowest phone. */
          const sound = async (name: string) => {
            for (const [width, colorScheme] of looks) {
              await page.setViewportSize({ width, height: 860 })
              await page.emulateMedia({ colorScheme })
              await look(page, `${name}-${colorScheme}-${width}`)
              assert.deepStrictEqual(await findings(page), [], `${name} ${width}`)
              assert.isFalse(await overflows(page), `${name} ${width}`)
              assert.deepStrictEqual(await overlapping(page), [], `${name} ${width}`)
            }
            await page.setViewportSize({ width: 1280, height: 860 })
            await page.emulateMedia({ colorScheme: "light" })
          }
          const search = async (words: string) => {
            await page.getByRole("heading", { level: 1 }).click()
            await page.keyboard.press("/")
            await page.keyboard.type(words)
            await page.keyboard.press("Enter")
            await page.getByText(`for “${words}”`).waitFor()
          }

          await page.goto(url)
          await page.getByLabel("Password").fill("not the password")
          await page.keyboard.press("Enter")
          await page.getByText("Wrong").waitFor()
          await sound("login")
          await enter(page, url, "operator", password)
          await page.getByRole("region", { name: "Chains" }).getByText("● following").waitFor()
          await page.locator(".u-legend").first().waitFor()
          await page.locator(".u-over").first().hover()
          await page.locator(".u-legend").first().getByText(/^0$/).first().waitFor()
          const loaded = await weight(page)
          const bytes = loaded.filter(([path]) => !path.startsWith("/uplot")).reduce((sum, [, size]) => sum + size, 0)
          assert.isBelow(bytes, 100_000, JSON.stringify(loaded))
          const onWire = loaded.reduce((sum, [, , size]) => sum + size, 0)
          assert.isBelow(onWire, 100_000, "with the charts, packed")
          if (screenshots !== undefined) console.log(`first view: ${bytes} bytes; ${onWire} with the charts, packed`)
          await page.getByRole("group", { name: "Failures" }).getByText("ECONNREFUSED").first().waitFor()
          await sound("overview")
          await page.getByRole("button", { name: "30 days" }).click()
          await page.getByText("Attempts by day").first().waitFor()

          await search(watched)
          await sound("search")
          await page.keyboard.press("Escape")
          await page.getByRole("row", { name: "address" }).getByRole("link").first().click()
          await heading(page, `Address ${watched}`).waitFor()
          await page.getByRole("group", { name: "Callbacks" }).waitFor()
          await sound("address")
          await page.getByRole("group", { name: "Callbacks" }).getByRole("link").first().click()
          await page.getByText("● received").waitFor()
          await heading(page, "What happened").waitFor()
          assert.notInclude(await page.content(), secret)
          await sound("callback")
          const before = receiver.deliveries.length
          await page.getByRole("button", { name: "Redeliver" }).press("Enter")
          await page.getByText("The callback is sent again").waitFor()
          const focused = await page.evaluate("document.activeElement.textContent.trim()")
          assert.strictEqual(focused, "Redeliver", "the keyboard goes on where it was")
          await run(receiver.until(() => receiver.deliveries.length > before))
          await page.locator("dt", { hasText: "Block" }).locator("xpath=..").getByRole("link").click()
          await heading(page, /^Block /).waitFor()
          await page
            .getByText(/final|committed/)
            .first()
            .waitFor()
          await sound("block")
          await page.goBack()
          await heading(page, /^Callback /).waitFor()
          await page.locator("dt", { hasText: "Transaction" }).locator("xpath=..").getByRole("link").click()
          await heading(page, /^Transaction /).waitFor()
          await page.getByRole("group", { name: "Callbacks" }).waitFor()
          assert.match(await page.title(), /^Transaction 0x/)
          await sound("transaction")

          await page.goto(`${url}/#/subscriptions/${failing}`)
          await page.getByText("✕ failing").waitFor()
          await sound("subscription")
          for (const [name, title, words] of [
            ["Chains", "Chains", "Height"],
            ["Deliveries", "Deliveries", "Send all again"],
            ["Subscriptions", "Subscriptions", "✕ failing"],
            ["Domains", "Domains", "● verified"],
            ["Credits", "Credits", "Consumed by test"],
            ["Progress", "Progress", "No movement of coins is in doubt."],
            ["Audit log", "Audit log", "login"]
          ] as const) {
            await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name }).click()
            await heading(page, title, 1).waitFor()
            await page.getByText(words).first().waitFor()
            await sound(name.toLowerCase().replace(" ", "-"))
          }

          await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Accounts" }).click()
          await page.getByRole("link", { name: "test" }).click()
          await page.locator("summary", { hasText: "Create a key" }).click()
          await page.getByLabel("Name", { exact: true }).fill("for a test")
          await page.getByRole("button", { name: "Create" }).click()
          const key = (await page.locator("#new-key").textContent()) ?? ""
          assert.isAbove(key.length, 20)
          await sound("account")
          await page.getByRole("button", { name: "Done" }).click()
          assert.notInclude(await page.content(), key)
          page.once("dialog", (dialog) => dialog.accept())
          await page.getByRole("button", { name: "Revoke for a test" }).click()
          await page.getByText("Key for a test is revoked").waitFor()

          await page.getByRole("button", { name: "Log out" }).click()
          await enter(page, url, "anna", password)
          const acts = page.getByRole("button", { name: /Deactivate|Delete|Create/ })
          await page.goto(`${url}/#/subscriptions/${coins}`)
          await page.getByRole("button", { name: "Send a test" }).waitFor()
          assert.strictEqual(await acts.count(), 0)
          assert.strictEqual(await page.getByRole("link", { name: "Audit log" }).count(), 0)

          await page.getByRole("button", { name: "Log out" }).click()
          await page.getByRole("button", { name: "Log in with an API key" }).click()
          await page.getByLabel("API key").fill(headwater.apiKey)
          await page.keyboard.press("Enter")
          await heading(page, "Overview").waitFor()
          await page.getByRole("link", { name: "Account" }).waitFor()
          for (const name of ["Chains", "Accounts", "Audit log"]) {
            assert.strictEqual(await page.getByRole("navigation").getByRole("link", { name, exact: true }).count(), 0)
          }
          await sound("tenant")
          // What a key with an allow-list is answered: the parts that the key may not read are absent.
          const answers = {
            "accounts/test": { account: { name: "test", created: 1, retractions: false }, limits: [] },
            "subscriptions/narrow": {
              ...{ callbacks: [], hasMore: false },
              subscription: { referenceId: "narrow", account: "test", chain: "ethereum/devnet", event: "BLOCK_MINED" }
            },
            "stories/address?*": { watchedFrom: null, callbacks: [], hasMore: false, notKept: [] }
          }
          for (const [path, json] of Object.entries(answers)) {
            await page.route(`**/api/${path}`, (route) => route.fulfill({ json }))
          }
          await page.goto(`${url}/#/accounts/test`)
          await page.getByText("Retractions").waitFor()
          assert.strictEqual(await page.getByRole("heading", { name: "API keys" }).count(), 0)
          await page.goto(`${url}/#/subscriptions/narrow`)
          await page.getByText("No callbacks yet.").waitFor()
          await page.goto(`${url}/#/addresses/ethereum/devnet/${watched}`)
          await page.getByText("No callback of its subscriptions is kept.").waitFor()
          assert.strictEqual(await page.getByRole("heading", { name: "Subscriptions" }).count(), 0)
          await page.close()
        })
        assert.deepStrictEqual(complaints, [])
        assert.deepStrictEqual([...hosts], [new URL(url).host])

        const again = yield* openPage(browser)
        yield* Effect.promise(async () => {
          const { page } = again
          await enter(page, url, "operator", password)
          const now = Date.now()
          const big = bigOverview(now)
          await page.route("**/api/overview", (route) => route.fulfill({ json: big }))
          await page.reload()
          await page.getByRole("row").getByText("avalanche/testnet").waitFor()
          await page.getByText("1,234,567").waitFor()
          await page.getByText("21,000,123").first().waitFor()
          await page.locator(".u-legend").first().waitFor()
          await look(page, "sixteen-chains")
          await page.setViewportSize({ width: 320, height: 860 })
          await look(page, "sixteen-chains-320")
          assert.isFalse(await overflows(page))
          await page.setViewportSize({ width: 1280, height: 860 })
          await page.route("**/api/overview", (route) => route.fulfill({ json: emptyOverview(now) }))
          await page.reload()
          await page.getByText("Nothing needs you now.").waitFor()
          await page.getByText("The settings name no chain yet.").waitFor()
          await page.locator(".u-legend").first().waitFor()
          await look(page, "empty")
          await page.unroute("**/api/overview")
          await page.route("**/api/overview", (route) => route.abort())
          await page.getByText(/The daemon does not answer\. What is shown is of/).waitFor()
          await look(page, "stale")
          await page.reload()
          await page.getByText("The daemon does not answer.").waitFor()
          await look(page, "silent")

          let newest = 10
          await page.route("**/api/subscriptions/busy*", (route) => {
            const before = Number(new URL(route.request().url()).searchParams.get("before") ?? newest + 1)
            const callbacks = [1, 2, 3].map((back) => callbackOf(before - back))
            const subscription = {
              referenceId: "busy",
              account: "test",
              chain: "ethereum/devnet",
              event: "BLOCK_MINED"
            }
            return route.fulfill({ json: { subscription, callbacks, hasMore: true } })
          })
          const numbers = async (...wanted: ReadonlyArray<number>) => {
            let shown: ReadonlyArray<string> = []
            for (let looks = 0; looks < 300 && shown.join() !== wanted.join(); looks++) {
              await page.waitForTimeout(100)
              shown = await page.locator("tbody td:first-child").allTextContents()
            }
            assert.deepStrictEqual(shown, wanted.map(String))
          }
          await page.goto(`${url}/#/subscriptions/busy`)
          await numbers(10, 9, 8)
          await page.getByRole("button", { name: "Older callbacks" }).click()
          await numbers(10, 9, 8, 7, 6, 5)
          newest = 12
          await numbers(12, 11, 10, 9, 8, 7, 6, 5)
          // Those between are not known: as if they had never been, the list went on behind them.
          newest = 20
          await numbers(20, 19, 18)
          await page.getByRole("button", { name: "Older callbacks" }).click()
          await numbers(20, 19, 18, 17, 16, 15)
          // Nothing is called done that was not.
          await page.route("**/api/subscriptions/busy/delete", (route) => route.abort())
          page.once("dialog", (dialog) => dialog.accept())
          await page.getByRole("button", { name: "Delete" }).click()
          await page.getByText("The daemon does not answer").waitFor()
          await page.getByRole("button", { name: "Delete" }).waitFor()
          assert.match(page.url(), /subscriptions\/busy$/)
          await page.route("**/api/logout", (route) => route.abort())
          await page.getByRole("button", { name: "Log out" }).click()
          await page.getByText("The daemon does not answer").waitFor()
          await page.getByRole("button", { name: "Log out" }).waitFor()
          await page.unroute("**/api/logout")
          await page.goto(`${url}/#/accounts`)
          await page.getByLabel("Name of a new account").fill("   ")
          await page.getByRole("button", { name: "Create" }).click()
          assert.strictEqual(await page.locator("input[name=name]:invalid").count(), 1)
          assert.strictEqual(await page.getByRole("alert").count(), 0)
          await page.getByRole("button", { name: "Log out" }).click()
          await page.getByRole("button", { name: "Log in with an API key" }).click()
          await page.getByLabel("API key").fill(` ${headwater.apiKey} `)
          await page.keyboard.press("Enter")
          await page.getByRole("link", { name: "Account" }).waitFor()
          await page.getByRole("button", { name: "Log out" }).click()
          await enter(page, url, "operator", password)
          for (const [view, what] of [
            ["blocks", "block"],
            ["transactions/ethereum", "transaction"],
            ["addresses/ethereum/devnet", "address"],
            ["callbacks", "callback"]
          ]) {
            await page.goto(`${url}/#/${view}`)
            await page.getByText(`There is no such ${what}`).waitFor()
          }
        })
        assert.deepStrictEqual(
          again.complaints.filter((text) => !/ERR_FAILED|404/.test(text)),
          []
        )
      }).pipe(Effect.scoped)
  )

  it.live("believes no answer that was cut off or never came, and shows whose session it is", () =>
    Effect.gen(function* () {
      const { headwater, url } = yield* setup(locations[0]!.location)
      const browser = yield* Chromium.launch
      yield* Effect.promise(async () => {
        const context = await browser.newContext({
          viewport: { width: 1280, height: 860 },
          timezoneId: "Pacific/Kiritimati"
        })
        // Half a second of patience, in place of thirty.
        await context.addInitScript(
          "AbortSignal.timeout = ((timeout, millis) => timeout.call(AbortSignal, millis / 60)).bind(null, AbortSignal.timeout)"
        )
        const page = await context.newPage()
        await enter(page, url, "operator", password)
        const silence = page.getByRole("alert").filter({ hasText: "The daemon does not answer" })
        await page.route("**/api/accounts", (route) =>
          route.fulfill({ contentType: "application/json", body: '{"items":[{"na' })
        )
        await page.goto(`${url}/#/accounts`)
        await silence.waitFor()
        await page.unroute("**/api/accounts")
        await page.route("**/api/domains", () => {})
        await page.goto(`${url}/#/domains`)
        await silence.waitFor()
        await page.route("**/api/session", (route) => route.abort())
        await page.reload()
        await silence.waitFor()
        assert.strictEqual(await page.getByLabel("Password").count(), 0)
        await page.unrouteAll()
        await heading(page, "Domains").waitFor()

        const today = Math.floor(Date.now() / 86_400_000) * 86_400_000
        await page.route("**/api/overview", (route) => route.fulfill({ json: bigOverview(today) }))
        await page.goto(`${url}/#/overview`)
        await page.getByRole("button", { name: "30 days" }).click()
        await page.locator("summary", { hasText: "Figures" }).first().click()
        const newest = page.getByRole("group", { name: "Attempts by day (UTC)" }).locator("tbody td").first()
        const utc = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
        assert.strictEqual(await newest.textContent(), utc.format(today))

        await page.setViewportSize({ width: 320, height: 860 })
        const name = "nowhere to break".replaceAll(" ", "").repeat(4)
        const many = Array.from({ length: 500 }, () => ({ name, balance: 1, created: 1, retractions: false }))
        await page.route("**/api/accounts", (route) => route.fulfill({ json: { items: many, hasMore: true } }))
        await page.goto(`${url}/#/accounts`)
        await page.getByText("Only the 500 oldest accounts are shown").waitFor()
        assert.deepStrictEqual(await overlapping(page), [])
        await page.unrouteAll()

        const other = await context.newPage()
        await other.goto(url)
        await other.getByRole("button", { name: "Log out" }).click()
        await page.getByLabel("Password").waitFor()
        await other.getByRole("button", { name: "Log in with an API key" }).click()
        await other.getByLabel("API key").fill(headwater.apiKey)
        await other.keyboard.press("Enter")
        await page.getByText("account key").waitFor({ state: "attached" })
        assert.strictEqual(await page.getByText("The session has ended").count(), 0)
        await context.clearCookies()
        await page.goto(`${url}/#/domains`)
        await page.getByText("The session has ended").waitFor()
      })
    }).pipe(Effect.scoped)
  )
})
