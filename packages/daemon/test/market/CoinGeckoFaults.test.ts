/** What a provider can do wrong: the last good values stay, with their own time, and log and metrics say so. */
import { assert, describe, it } from "@effect/vitest"
import * as Asset from "@headwater/core/market/Asset"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Answer, exactly, json, start } from "./CoinGeckoServer.ts"
import * as MarketServices from "./MarketServices.ts"
import * as ShiftedClock from "./ShiftedClock.ts"

const now = Date.parse("2026-05-18T12:00:00Z")
const second = (seconds: number) => new Date(now + seconds * 1000).toISOString()

const market = (id: string, rest: object = {}) => ({ id, current_price: 50_000, last_updated: second(0), ...rest })

/** `headwater_market_requests_total answered` → how often: of CoinGecko, since other files count in the same process. */
const counters = Effect.map(
  Metric.snapshot,
  (all) =>
    new Map(
      all.flatMap(({ attributes, id, state }): ReadonlyArray<[string, number]> => {
        const { outcome, provider } = (attributes ?? {}) as Record<string, string>
        const isOwn = id.startsWith("headwater_market_") && provider === "coingecko"
        return isOwn && "count" in state ? [[`${id} ${outcome}`, Number(state.count)]] : []
      })
    )
)

/** The server's answers, the last of them again and again; asks for rates once. */
const ask = Effect.fnUntraced(function* (answers: ReadonlyArray<Answer>, waits: Record<string, number> = {}) {
  let next = 0
  const server = yield* start(() => answers[Math.min(next++, answers.length - 1)])
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
  const before = yield* counters
  const done = yield* Effect.flatMap(MarketServices.coingecko(server.url, {}, waits), (provider) =>
    MarketServices.run(provider, "rates")
  ).pipe(Effect.provide(logger), Effect.result)
  const after = yield* counters
  return {
    done,
    problem: Result.match(done, { onSuccess: () => "", onFailure: ({ message }) => message }),
    asked: server.asked,
    counted: Object.fromEntries(
      [...after].flatMap(([name, count]) => {
        const more = count - (before.get(name) ?? 0)
        return more === 0 ? [] : [[name.replace("headwater_market_", ""), more]]
      })
    ),
    log: lines.join("\n")
  }
})

const rateOf = (slug: string) =>
  Effect.gen(function* () {
    const { latestRate } = yield* (yield* Assets).bySlug(slug)
    return [latestRate.amount, latestRate.calculationTimestamp] as const
  })

const good = ["50000", now / 1000] as const

/** Two assets whose rate is known, a minute later. */
const withGoodRates = <A, E, R>(test: (setTime: (millis: number) => void) => Effect.Effect<A, E, R>) =>
  ShiftedClock.at(now, (setTime) =>
    Effect.gen(function* () {
      const entries = ["bitcoin", "ether"].map((slug) => ({
        ...{ slug, name: slug, originalSymbol: slug, providers: { coingecko: slug } }
      }))
      yield* (yield* Assets).put(yield* Schema.decodeEffect(Schema.Array(Asset.Entry))(entries), "file")
      yield* ask([json([market("bitcoin"), market("ether")])])
      assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
      setTime(now + 60_000)
      yield* test(setTime)
    })
  ).pipe(Effect.scoped, Effect.provide(MarketServices.layer))

describe("CoinGecko's faults", () => {
  for (const [name, answer, problem] of [
    ["500", { status: 500, body: "oops" }, /^CoinGecko answered 500 to \/coins\/markets$/],
    ["503", { status: 503, body: "<html>" }, /^CoinGecko answered 503/],
    ["truncated JSON", { body: '[{"id":"bitcoin","current_price":9' }, /^CoinGecko answered with broken JSON/],
    ["a body that is cut off", { body: "[]   ", cut: true }, /^CoinGecko did not answer/],
    ["HTML with 200", { body: "<html>maintenance</html>" }, /^CoinGecko answered with broken JSON/]
  ] as const) {
    it.live(`${name}: asked again four times with backoff, then given up`, () =>
      withGoodRates(() =>
        Effect.gen(function* () {
          const { asked, counted, problem: said } = yield* ask([answer], { backoffMillis: 20 })
          assert.match(said, problem)
          assert.lengthOf(asked, 4)
          assert.isAtLeast(asked[3]!.at - asked[0]!.at, (20 + 40 + 80) * 0.75 - 5)
          assert.deepStrictEqual(counted, { "requests_total failed": 4 })
          assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
        })
      )
    )
  }

  it.live("a fault that passes is no fault", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const fresh = json([market("bitcoin", { current_price: 50_001.5, last_updated: second(50) })])
        const { asked, counted, problem } = yield* ask([{ status: 502 }, { body: "[" }, fresh])
        assert.strictEqual(problem, "")
        assert.lengthOf(asked, 3)
        assert.deepStrictEqual(counted, {
          "requests_total failed": 2,
          "requests_total answered": 1,
          "quotes_total kept": 1
        })
        assert.deepStrictEqual(yield* rateOf("bitcoin"), ["50001.5", now / 1000 + 50])
      })
    )
  )

  it.live("no answer at all: given up in time", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const { asked, problem } = yield* ask([{ silent: true }], { timeoutMillis: 250 })
        assert.match(problem, /^CoinGecko did not answer within 250 ms/)
        assert.lengthOf(asked, 4)
        assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
      })
    )
  )

  it.live("nobody there: told with the system's reason", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const gone = yield* Effect.scoped(start(() => undefined))
        const provider = yield* MarketServices.coingecko(gone.url, { key: "very-secret" })
        const { message } = yield* Effect.flip(MarketServices.run(provider, "rates"))
        assert.match(message, /^CoinGecko did not answer \(ECONNREFUSED\)/)
      })
    )
  )

  it.live("429: waits as long as it was told, then goes on", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const limited = { status: 429, headers: { "retry-after": "1" } }
        const fresh = json([market("bitcoin", { last_updated: second(30) })])
        const { asked, counted, problem } = yield* ask([limited, fresh])
        assert.strictEqual(problem, "")
        assert.isAtLeast(asked[1]!.at - asked[0]!.at, 990)
        assert.strictEqual(counted["requests_total limited"], 1)
        assert.deepStrictEqual(yield* rateOf("bitcoin"), ["50000", now / 1000 + 30])
      })
    )
  )

  it.live("429 for longer than there is patience: the work ends, and knows when to come back", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const { asked, done, problem } = yield* ask([{ status: 429, headers: { "retry-after": "3600" } }])
        assert.match(problem, /wants to be left alone for 3600 s/)
        assert.lengthOf(asked, 1)
        assert.isTrue(Result.isFailure(done) && "retryAfter" in done.failure && done.failure.retryAfter === 3_600_000)
        assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
      })
    )
  )

  it.live("401: not asked again, the key not told", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const server = yield* start(() => ({ status: 401, body: '{"error":"bad key very-secret"}' }))
        const provider = yield* MarketServices.coingecko(server.url, { key: "very-secret" })
        const { message } = yield* Effect.flip(MarketServices.run(provider, "rates"))
        assert.strictEqual(message, "CoinGecko answered 401 to /coins/markets: is the key right, and of this plan?")
        assert.lengthOf(server.asked, 1)
      })
    )
  )

  it.live("a redirect is not followed", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const elsewhere = yield* start(() => json([market("bitcoin", { last_updated: second(10) })]))
        const { problem } = yield* ask([{ status: 302, headers: { location: elsewhere.url } }])
        assert.match(problem, /^CoinGecko answered 302/)
        assert.lengthOf(elsewhere.asked, 0)
      })
    )
  )

  it.live("an answer without end is cut", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const { problem } = yield* ask([{ body: Buffer.alloc(17_000_000, " ") }])
        assert.match(problem, /^CoinGecko sent more than 16777216 bytes/)
      })
    )
  )

  for (const [name, rest, reason, logged] of [
    ["a negative price", { current_price: -1 }, "price_not_positive", "bitcoin"],
    ["a price of nothing", { current_price: 0 }, "price_not_positive", "bitcoin"],
    ["a price beyond everything", { current_price: exactly("1e30") }, "price_absurd", "bitcoin"],
    ["a price beyond all numbers", { current_price: exactly("1e400") }, "unreadable", "bitcoin: current_price: "],
    ["a price of words", { current_price: "much" }, "unreadable", "bitcoin: current_price: must be a decimal number"],
    ["a price a thousand times the last", { current_price: 5e7 }, "price_jump", "bitcoin"],
    ["a price a thousandth of the last", { current_price: 50 }, "price_jump", "bitcoin"],
    ["a negative volume", { total_volume: -5 }, "negative_figure", "bitcoin"],
    ["a clock that is ahead", { last_updated: second(3600) }, "from_the_future", "bitcoin"],
    ["a clock of long ago", { last_updated: "1970-01-01T00:00:00Z" }, "too_old", "bitcoin"],
    ["a time that is none", { last_updated: "yesterday" }, "unreadable", "bitcoin: last_updated: is not a time"],
    ["no time", { last_updated: null }, "unreadable", "bitcoin: last_updated: is not a time"]
  ] as const) {
    it.live(`${name}: not believed, and costs nobody else his rate`, () =>
      withGoodRates(() =>
        Effect.gen(function* () {
          const ether = market("ether", { current_price: 3_000, last_updated: second(40) })
          const { counted, done, log } = yield* ask([
            json([market("bitcoin", { last_updated: second(40), ...rest }), ether])
          ])
          assert.isTrue(Result.isSuccess(done) && done.success.quotes === 1 && done.success.disbelieved === 1)
          assert.strictEqual(counted[`quotes_total ${reason}`], 1)
          assert.include(log, `Quotes of coingecko not believed (${reason}), the last good ones stay: ${logged}`)
          assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
          assert.deepStrictEqual(yield* rateOf("ether"), ["3000", now / 1000 + 40])
        })
      )
    )
  }

  it.live("no price, no news and no known asset are no faults", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const rows = [
          market("bitcoin", { current_price: null }),
          market("ether"),
          market("stranger"),
          null,
          7,
          { name: "x" }
        ]
        const { counted, log, problem } = yield* ask([json(rows)])
        assert.strictEqual(problem, "")
        assert.deepStrictEqual(counted, { "requests_total answered": 1, "quotes_total unchanged": 1 })
        assert.strictEqual(log, "")
        assert.deepStrictEqual(yield* rateOf("bitcoin"), good)
      })
    )
  )

  it.live("an answer of another shape is refused by its field", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const { problem } = yield* ask([json({ error: "no" })])
        assert.match(problem, /^CoinGecko's answer cannot be read: the answer: /)
      })
    )
  )

  it.live("three assets in a row that cannot be read end the day's reading; one does not", () =>
    withGoodRates(() =>
      Effect.gen(function* () {
        const coin = (id: string) => json({ id, symbol: id, name: id })
        const broken = new Set(["one"])
        const server = yield* start(({ path }) => {
          const id = path.slice("/coins/".length)
          return broken.has(id) ? { status: 500 } : coin(id)
        })
        const ids = ["one", "two", "three", "four"]
        const provider = yield* MarketServices.coingecko(server.url, { ids })
        const first = yield* MarketServices.run(provider, "catalogue")
        assert.deepStrictEqual([first.added, first.refused], [3, 1])
        for (const id of ["bitcoin", "ether", "five", "six", "seven"]) broken.add(id)
        const more = yield* MarketServices.coingecko(server.url, { ids: ["five", "six", "seven", "eight"] })
        const { message } = yield* Effect.flip(MarketServices.run(more, "catalogue"))
        assert.match(message, /3 assets in a row could not be read/)
        broken.clear()
        const again = yield* MarketServices.run(more, "catalogue")
        assert.strictEqual(again.added, 4)
      })
    )
  )
})
