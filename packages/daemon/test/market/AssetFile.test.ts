import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as AssetFile from "../../src/market/AssetFile.ts"
import * as FileProvider from "../../src/market/FileProvider.ts"
import * as MarketServices from "./MarketServices.ts"

const write = Effect.fnUntraced(function* (name: string, content: string | Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/${name}`
  yield* fs.writeFile(path, Buffer.from(content))
  return path
})

/** Loads a file, and what it said on the way. */
const load = Effect.fnUntraced(function* (path: string) {
  const problems: Array<AssetFile.Problem> = []
  const progress: Array<number> = []
  const summary = yield* AssetFile.load(path, {
    advance: (bytes) => Effect.sync(() => progress.push(bytes)),
    onProblem: (problem) => Effect.sync(() => problems.push(problem))
  })
  return { summary, problems, progress }
})

const collect = () => {
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc") as () => void
  gc()
  return process.memoryUsage().heapUsed
}

describe("AssetFile", () => {
  it.live(
    "takes 12,000 assets in bounded memory with progress; one bad line is named, the rest is there",
    () =>
      Effect.gen(function* () {
        const bad = 7_337
        const logo = Buffer.alloc(1_700, "logo").toString("base64")
        const lines = Array.from({ length: 12_000 }, (_, i) =>
          JSON.stringify({
            slug: `asset-${i}`,
            name: `Asset ${i}`,
            originalSymbol: `S${i % 10_000}`,
            contracts: [
              {
                ...{ blockchain: "ethereum", network: "mainnet", standard: "ERC-20" },
                identifier: i === bad - 1 ? "0x123" : `0x${(i + 1).toString(16).padStart(40, "0")}`,
                fungibleValues: { decimals: 18 }
              }
            ],
            logo: { encoding: "base64", imageData: logo, mimeType: "image/png" },
            latestRate: { amount: `${i + 1}.${"123456789".repeat(2)}` }
          })
        )
        const path = yield* write("assets.jsonl", lines.join("\n"))
        const bytes = lines.reduce((sum, line) => sum + line.length + 1, -1)
        lines.length = 0

        const before = collect()
        let most = 0
        let read = 0
        const shares: Array<number> = []
        const problems: Array<AssetFile.Problem> = []
        const summary = yield* AssetFile.load(path, {
          advance: (some) =>
            Effect.sync(() => {
              read += some
              const share = Math.floor((read / bytes) * 20)
              if (share === shares.at(-1)) return
              shares.push(share)
              // A full collection takes longer than a share.
              if (share % 4 === 1) most = Math.max(most, collect() - before)
            }),
          onProblem: (problem) => Effect.sync(() => problems.push(problem))
        })

        assert.strictEqual(read, bytes)
        assert.deepStrictEqual(
          shares,
          Array.from({ length: 21 }, (_, i) => i)
        )
        assert.isAbove(bytes, 30_000_000)
        assert.isBelow(most, 16_000_000, "memory that is held on the way")
        assert.deepStrictEqual(problems, [
          {
            line: bad,
            message: "contracts.0.identifier address of ethereum mainnet: must be 0x and 40 hexadecimal digits"
          }
        ])
        assert.deepStrictEqual(summary, { added: 11_999, updated: 0, refused: 1, quotes: 11_999, disbelieved: 0 })
        const assets = yield* Assets
        assert.strictEqual((yield* assets.list({ limit: 1, offset: 0 })).total, 11_999)
        assert.strictEqual((yield* assets.bySlug("asset-11999")).latestRate.amount, "12000.123456789123456789")
        assert.strictEqual((yield* assets.bySlug("asset-7337")).latestRate.amount, "7338.123456789123456789")
        assert.strictEqual((yield* Effect.flip(assets.bySlug("asset-7336")))._tag, "AssetNotFound")
        assert.strictEqual((yield* assets.bySlug("asset-11999")).symbol, "S1999-ASSET-11999")
      }).pipe(Effect.scoped, Effect.provide(MarketServices.layer)),
    300_000
  )

  it.live("names every problem by line and field, whatever it is", () =>
    Effect.gen(function* () {
      const good = (slug: string) => JSON.stringify({ slug, name: slug, originalSymbol: slug })
      const path = yield* write(
        "assets.json",
        Buffer.concat([
          Buffer.from(`[\n${good("one")},\n{"slug":"two","name":"two"},\n{"slug" "three"},\n`),
          Buffer.from('{"slug":"four","name":"\xff","originalSymbol":"F"},\n', "latin1"),
          Buffer.from(`${good("one").replace('"one","o', '"eins","o')},\n`),
          Buffer.from('{"slug":"five","name":"five","originalSymbol":"5","symbol":"ONE"},\n'),
          Buffer.from('{"slug":"six","name":"","originalSymbol":"6","assetType":"stock"},\n'),
          Buffer.from(`${good("seven")}\n`)
        ])
      )
      const { problems, summary } = yield* load(path)
      assert.deepStrictEqual(
        problems.map(({ line, message }) => [line, message]),
        [
          [3, "originalSymbol is missing"],
          [4, "is not JSON: Expected ':' after property name in JSON at position 8 (line 1 column 9)"],
          [5, "is not UTF-8"],
          [
            8,
            'name must be 1 to 200 characters, without control characters and spaces around it; assetType Expected "crypto" | "fiat"'
          ],
          [7, 'symbol is already that of "one"']
        ]
      )
      assert.deepStrictEqual(summary, { added: 2, updated: 1, refused: 5, quotes: 0, disbelieved: 0 })
      const again = yield* load(path)
      assert.deepStrictEqual([again.summary.added, again.summary.updated], [0, 2])
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("takes what a listed asset costs by its slug, and the service's own answer about a currency", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const first = yield* write(
        "first.jsonl",
        [
          { slug: "florin", name: "Florin", originalSymbol: "FLN", assetType: "fiat" },
          { slug: "florin", latestRate: { amount: "0.625" } },
          { slug: "nowhere", latestRate: { amount: "1" } },
          { slug: "florin", latestRate: { amount: "much" } }
        ]
          .map((line) => JSON.stringify(line))
          .join("\n")
      )
      const { problems, summary } = yield* load(first)
      assert.deepStrictEqual(
        problems.map(({ line, message }) => `${line} ${message.split(" ").slice(0, 4).join(" ")}`),
        ["4 latestRate.amount must be a", "3 slug is that of"]
      )
      assert.deepInclude(summary, { added: 1, updated: 0, refused: 2 })
      const shown = yield* assets.bySlug("florin")
      assert.deepInclude(shown, { type: "fiat", name: "Florin" })
      assert.strictEqual(shown.latestRate.amount, "0.625")

      const again = yield* load(yield* write("again.jsonl", JSON.stringify(shown)))
      assert.deepStrictEqual(again.problems, [])
      assert.strictEqual(again.summary.refused, 0)
      assert.strictEqual((yield* assets.bySlug("florin")).type, "fiat")
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("takes a rate without a time for as old as the file, and no rate that cannot be", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const now = Math.floor(Date.now() / 1000)
      const rate = (slug: string, latestRate: object) =>
        JSON.stringify({ slug, name: slug, originalSymbol: slug, latestRate })
      const path = yield* write(
        "assets.jsonl",
        [
          rate("untimed", { amount: 1.5 }),
          rate("timed", { amount: "2", calculationTimestamp: now - 100 }),
          rate("stale", { amount: "3", calculationTimestamp: now - 31 * 86_400 }),
          rate("negative", { amount: "-4" })
        ].join("\n")
      )
      yield* fs.utimes(path, now - 5_000, now - 5_000)
      const { problems, summary } = yield* load(path)
      assert.deepStrictEqual(problems, [])
      assert.deepStrictEqual(summary, { added: 4, updated: 0, refused: 0, quotes: 2, disbelieved: 2 })
      const assets = yield* Assets
      const { latestRate } = yield* assets.bySlug("untimed")
      assert.deepStrictEqual(latestRate, { amount: "1.5", unit: "USD", calculationTimestamp: now - 5_000 })
      assert.strictEqual((yield* assets.bySlug("timed")).latestRate.calculationTimestamp, now - 100)
      for (const slug of ["stale", "negative"]) {
        assert.strictEqual((yield* Effect.flip(assets.bySlug(slug)))._tag, "RateNotAvailable")
      }
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("takes back what the service has answered, figure for figure", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const now = Math.floor(Date.now() / 1000)
      const answer = {
        contracts: [
          {
            ...{ blockchain: "tron", network: "mainnet", standard: "TRC-20" },
            identifier: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
            fungibleValues: { decimals: 6 }
          }
        ],
        latestRate: { amount: "0.999481", unit: "USD", calculationTimestamp: now - 60 },
        logo: { encoding: "base64", imageData: "iVBORw0KGgo=", mimeType: "image/png" },
        ...{ name: "Tether", originalSymbol: "USDt", referenceId: "5b1ea92e", slug: "tether", symbol: "USDT" },
        specificData: {
          "1HourPriceChangeInPercentage": "0.00213",
          "1WeekPriceChangeInPercentage": "-1.2",
          "24HoursPriceChangeInPercentage": "0",
          "24HoursTradingVolume": "10000000000",
          circulatingSupply: "189047123456.123456789",
          marketCapInUSD: "189000000000.25",
          maxSupply: "",
          type: "TOKEN"
        }
      }
      yield* load(yield* write("answer.json", JSON.stringify(answer, undefined, 2)))
      assert.deepStrictEqual(yield* assets.byId("5b1ea92e"), { ...answer, type: "crypto" })
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )

  it.live("says which file cannot be read", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(load("/nonexistent/assets.jsonl"))
      assert.match(message, /^\/nonexistent\/assets.jsonl cannot be read: /)
    }).pipe(Effect.provide(MarketServices.layer))
  )
})

describe("FileProvider", () => {
  it.live("loads the file when it has changed, and only then", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const line = (slug: string) => `${JSON.stringify({ slug, name: slug, originalSymbol: slug })}\n`
      const path = yield* write("assets.jsonl", line("one"))
      const provider = yield* FileProvider.make({ path, everySeconds: 1 })
      assert.strictEqual((yield* MarketServices.run(provider)).added, 1)
      assert.strictEqual((yield* provider.tasks[0]!.work).total, 0)
      yield* fs.writeFileString(path, line("one") + line("two"))
      yield* fs.utimes(path, 1_900_000_000, 1_900_000_000)
      assert.strictEqual((yield* provider.tasks[0]!.work).total, (line("one") + line("two")).length)
      assert.strictEqual((yield* MarketServices.run(provider)).added, 1)
      yield* fs.remove(path)
      assert.match((yield* Effect.flip(MarketServices.run(provider))).message, /cannot be read/)
      assert.strictEqual((yield* (yield* Assets).list({ limit: 10, offset: 0 })).total, 2)
    }).pipe(Effect.scoped, Effect.provide(MarketServices.layer))
  )
})
