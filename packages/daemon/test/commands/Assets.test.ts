import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import { assets } from "../../src/commands/Assets.ts"
import * as Catalogue from "../../src/market/Catalogue.ts"
import { json, start } from "../market/CoinGeckoServer.ts"

/** Runs `headwater assets …` with a settings file; what it printed, and what it failed with. */
const headwater = Effect.fnUntraced(function* (settings: string, args: ReadonlyArray<string>) {
  const out: Array<string> = []
  const err: Array<string> = []
  const console_: Console.Console = Object.assign(Object.create(console), {
    log: (...text: ReadonlyArray<unknown>) => out.push(text.join(" ")),
    error: (...text: ReadonlyArray<unknown>) => err.push(text.join(" "))
  })
  const done = yield* Command.runWith(assets, { version: "0" })([...args, "--config", settings]).pipe(
    Effect.provideService(Console.Console, console_),
    Effect.result
  )
  return {
    out: out.join("\n"),
    err: err.join("\n"),
    failure: Result.match(done, { onSuccess: () => "", onFailure: (error) => (error as Error).message })
  }
})

/** A folder with settings that name a store in it. */
const folder = Effect.fnUntraced(function* (marketData: object = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectoryScoped()
  const settings = {
    store: { sqlite: `${path}/store.db` },
    chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:8545"] } },
    marketData,
    log: { level: "error" }
  }
  yield* fs.writeFileString(`${path}/settings.json`, JSON.stringify(settings))
  return { path, settings: `${path}/settings.json` }
})

describe("headwater assets", () => {
  it.live("imports a file, names the bad line, and lists the rest", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { path, settings } = yield* folder()
      const line = (slug: string, rest: object = {}) =>
        JSON.stringify({ slug, name: slug, originalSymbol: slug, latestRate: { amount: 2.5 }, ...rest })
      yield* fs.writeFileString(
        `${path}/assets.jsonl`,
        [line("one"), line("two", { symbol: "BTC" }), line("three")].join("\n")
      )
      const first = yield* headwater(settings, ["import", `${path}/assets.jsonl`])
      assert.strictEqual(first.err, 'line 2: symbol is already that of "bitcoin"')
      assert.strictEqual(first.out, "2 assets added, 0 changed, 1 refused; 2 rates kept, 0 not believed")
      assert.strictEqual(first.failure, `1 entry of ${path}/assets.jsonl could not be taken; the others were`)
      const again = yield* headwater(settings, ["import", `${path}/assets.jsonl`, "--json"])
      assert.deepStrictEqual(JSON.parse(again.out), {
        ...{ added: 0, updated: 0, refused: 1, quotes: 0, disbelieved: 0 },
        problems: [{ line: 2, message: 'symbol is already that of "bitcoin"' }]
      })
      const listed = yield* headwater(settings, ["list", "--limit", "30"])
      assert.match(listed.out, /^SYMBOL +NAME +SLUG +ID +RATE +AS OF\nBTC +Bitcoin +bitcoin +[0-9a-f]{24} +- +-$/m)
      assert.match(listed.out, /^USD .* 1 USD +always$/m)
      assert.match(listed.out, /^THREE .* 2\.5 USD +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m)
      const page = JSON.parse((yield* headwater(settings, ["list", "--json", "--limit", "1", "--offset", "1"])).out)
      const total = Catalogue.entries.length + 2
      assert.deepStrictEqual([page.total, page.items.length, page.items[0].symbol], [total, 1, "ETH"])
      assert.match((yield* headwater(settings, ["import", `${path}/none.jsonl`])).err, /none\.jsonl/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("refreshes from a provider, and says what it could not", () =>
    Effect.gen(function* () {
      const price = (id: string) => ({ id, current_price: 3, last_updated: new Date().toISOString() })
      const server = yield* start(({ path, query }) => {
        if (path === "/coins/markets") return json((query.get("ids") ?? "").split(",").map(price))
        if (path === "/exchange_rates") return { status: 400, body: "{}" }
        const id = path.slice("/coins/".length)
        return json({ id, symbol: id, name: id })
      })
      const { settings } = yield* folder({ coingecko: { url: server.url, top: 0, requestsPerMinute: 60_000 } })
      const { failure, out } = yield* headwater(settings, ["refresh"])
      const coins = Catalogue.entries.filter(({ assetType }) => assetType === "crypto").length
      assert.strictEqual(out, `0 assets added, 0 changed, 0 refused; ${coins} rates kept, 0 not believed`)
      assert.strictEqual(failure, "CoinGecko answered 400 to /exchange_rates")
      assert.match((yield* headwater(settings, ["list", "--limit", "1"])).out, /^BTC .* 3 USD /m)
      assert.match((yield* headwater(settings, ["refresh", "file"])).failure, /only coingecko$/)
      const none = yield* folder()
      assert.match((yield* headwater(none.settings, ["refresh"])).failure, /^No provider of market data is configured/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
