import { assert, describe, it } from "@effect/vitest"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as SharedRequests from "@headwater/indexer/families/node/SharedRequests"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import * as FakeNode from "../../FakeNode.ts"

const heights = (count: number) => Array.from({ length: count }, (_, height) => height)

const callsOf = (height: number): ReadonlyArray<JsonRpc.Call> => [
  { method: "block", params: [height] },
  { method: "receipts", params: [height] }
]

const answersOf = (height: number) => [`block ${height}`, `receipts ${height}`]

const echo: FakeNode.Answer = (method, [height]) => `${method} ${height}`

type Respond = (
  calls: ReadonlyArray<FakeNode.Call>,
  answers: ReadonlyArray<object>
) => { readonly status?: number; readonly body: unknown } | undefined

/** A node that answers as `respond` says, and the numbers of calls in its requests. */
const nodeOf = (respond: Respond, answer: FakeNode.Answer = echo) => {
  const requests: Array<number> = []
  return Effect.map(
    FakeNode.http((request, response) => {
      void FakeNode.bodyOf(request).then((text) => {
        const calls = [JSON.parse(text)].flat() as ReadonlyArray<FakeNode.Call>
        requests.push(calls.length)
        const given = respond(
          calls,
          calls.map((call) => FakeNode.answerTo(call, answer))
        )
        if (given !== undefined) response.writeHead(given.status ?? 200).end(JSON.stringify(given.body))
      })
    }),
    ({ url }) => ({ url, requests })
  )
}

/** Blocks that are read together, by a client that has read blocks before. */
const reading = Effect.fnUntraced(function* (
  url: string,
  {
    attempts = 1,
    limit = BytesInFlight.defaultLimit,
    mostBlocks = 40
  }: { readonly attempts?: number; readonly limit?: number; readonly mostBlocks?: number } = {}
) {
  const bytesInFlight = BytesInFlight.make(limit)
  const rpc = yield* Effect.provideService(
    JsonRpc.make({ urls: [url], attempts }),
    BytesInFlight.Current,
    bytesInFlight
  )
  const block = (height: number) =>
    bytesInFlight
      .block(rpc.results(callsOf(height), "plain", "shared"))
      .pipe(Effect.provideService(SharedRequests.MostBlocks, mostBlocks))
  for (let known = 0; known < 20; known++) yield* block(0)
  return {
    rpc,
    bytesInFlight,
    block,
    together: (count: number) => Effect.forEach(heights(count), block, { concurrency: "unbounded" })
  }
})

const successes = (count: number) => heights(count).map((height) => answersOf(height).map(Result.succeed))

describe("SharedRequests", () => {
  it.live("blocks that are read together share a request, whatever the order of the answers", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* nodeOf((_, answers) => ({ body: answers.toReversed() }))
      const { rpc, together } = yield* reading(url)
      requests.length = 0
      assert.deepStrictEqual(yield* together(10), successes(10))
      assert.deepStrictEqual(requests, [20])
      assert.strictEqual(rpc.blocksOfRequest!(), 20)
    })
  )

  it.live("no more blocks share a request than one may be for", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* nodeOf((_, answers) => ({ body: answers }))
      const { together } = yield* reading(url, { mostBlocks: 3 })
      requests.length = 0
      assert.deepStrictEqual(yield* together(10), successes(10))
      assert.deepStrictEqual(requests.toSorted(), [2, 6, 6, 6])
    })
  )

  it.live(
    "neither blocks that are waited for by themselves do, nor calls for no block, nor blocks of unknown size",
    () =>
      Effect.gen(function* () {
        const { requests, url } = yield* nodeOf((_, answers) => ({ body: answers }))
        const { bytesInFlight, rpc } = yield* reading(url)
        requests.length = 0
        const results = (height: number) => rpc.results(callsOf(height), "plain", "shared")
        yield* Effect.forEach(heights(3), (height) => bytesInFlight.block(results(height)), { concurrency: 3 })
        yield* Effect.forEach(heights(3), results, { concurrency: 3 })
        const fresh = yield* JsonRpc.make({ urls: [url] })
        yield* Effect.forEach(heights(3), (height) => fresh.results(callsOf(height), "plain", "shared"), {
          concurrency: 3
        }).pipe(Effect.provideService(SharedRequests.MostBlocks, 40))
        assert.deepStrictEqual(requests, Array(9).fill(2))
      })
  )

  it.live("large blocks are asked for one by one again", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* nodeOf(
        (_, answers) => ({ body: answers }),
        (method, [height]) => (height === 3 ? "0".repeat(200_000) : `${method} ${height}`)
      )
      const { block, rpc, together } = yield* reading(url)
      yield* block(3)
      assert.strictEqual(rpc.blocksOfRequest!(), 0)
      requests.length = 0
      yield* together(3)
      assert.deepStrictEqual(requests, [2, 2, 2])
    })
  )

  describe("a node that", () => {
    const sized = (most: number, refusal: Respond): Respond => {
      return (calls, answers) => (calls.length > most ? refusal(calls, answers) : { body: answers })
    }
    const refusals: Readonly<Record<string, Respond>> = {
      "refuses many calls by its status": () => ({ status: 400, body: "no" }),
      "refuses many calls with one error": () => ({ body: { error: { code: -32600, message: "batch too large" } } }),
      "answers too few of many calls": (_, answers) => ({ body: answers.slice(1) }),
      "answers all but some of many calls with errors": (calls, answers) => ({
        body: answers.map((answer, place) =>
          place < 3 ? answer : { id: calls[place]!.id, error: { code: -32003, message: "response too large" } }
        )
      }),
      "answers many calls with what is no answer": () => ({ body: 7 })
    }
    for (const [name, refusal] of Object.entries(refusals)) {
      it.live(`${name} is asked for each block alone, and then for fewer together`, () =>
        Effect.gen(function* () {
          const { requests, url } = yield* nodeOf(sized(8, refusal))
          const { bytesInFlight, rpc, together } = yield* reading(url)
          requests.length = 0
          assert.deepStrictEqual(yield* together(10), successes(10))
          assert.deepStrictEqual(requests, [20, ...Array(10).fill(2)])
          assert.strictEqual(rpc.blocksOfRequest!(), 5)
          assert.strictEqual(bytesInFlight.held(), 0)
          requests.length = 0
          assert.deepStrictEqual(yield* together(5), successes(5))
          assert.deepStrictEqual(yield* together(5), successes(5))
          assert.deepStrictEqual(requests, [10, ...Array(5).fill(2), 4, 4, 2])
        })
      )
    }
  })

  it.live("an error to a call is that of a request for its block alone", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* nodeOf(
        (calls, answers) => ({
          body: answers.map((answer, place) =>
            "error" in answer
              ? { id: calls[place]!.id, error: { code: -32000, message: `one of ${calls.length}` } }
              : answer
          )
        }),
        (method, [height]) => {
          if (height === 2 && method === "receipts") throw new FakeNode.RpcError(-32000, "broken")
          return echo(method, [height])
        }
      )
      const { together } = yield* reading(url)
      requests.length = 0
      const [first, second, third, fourth] = yield* together(4)
      assert.deepStrictEqual(
        [first, second, fourth],
        [0, 1, 3].map((height) => successes(4)[height])
      )
      assert.deepStrictEqual(third![0], Result.succeed("block 2"))
      assert.strictEqual(Result.isFailure(third![1]!) && third![1].failure.message, "one of 2")
      assert.deepStrictEqual(requests, [8, 2])
    })
  )

  it.live("a rate limit is judged by the requests for each block, and their attempts", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* nodeOf((calls, answers) =>
        calls.length > 2 ? { status: 429, body: {} } : { body: answers }
      )
      const { together } = yield* reading(url)
      requests.length = 0
      assert.deepStrictEqual(yield* together(3), successes(3))
      assert.deepStrictEqual(requests, [6, 2, 2, 2])
    })
  )

  it.live("an answer above the bound of bytes is asked for in parts", () =>
    Effect.gen(function* () {
      let isLarge = false
      const { requests, url } = yield* nodeOf(
        (_, answers) => ({ body: answers }),
        () => "0".repeat(isLarge ? 3_000 : 10)
      )
      const { bytesInFlight, together } = yield* reading(url, { limit: 20_000 })
      requests.length = 0
      isLarge = true
      const blocks = yield* together(10)
      assert.isTrue(blocks.every((results) => results.every(Result.isSuccess)))
      assert.strictEqual(requests[0], 20)
      assert.isTrue(requests.slice(1).every((calls) => calls === 2))
      assert.strictEqual(bytesInFlight.held(), 0)
    })
  )

  /** Requests that a test answers. */
  const manual = Effect.fnUntraced(function* (limit = BytesInFlight.defaultLimit) {
    const bytesInFlight = BytesInFlight.make(limit)
    const sent: Array<number> = []
    const answering = yield* Latch.make(true)
    const alone: Array<number> = []
    const send = (calls: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        sent.push(calls.length)
        yield* answering.await
        const receiver = yield* BytesInFlight.CurrentReceiver
        assert.strictEqual(receiver!.take(100 * calls.length), "taken")
        return calls.map((call) => Result.succeed(call))
      })
    const shared = SharedRequests.make(send, limit)
    const results = (call: number) =>
      shared.results(
        [call],
        "plain",
        Effect.suspend(() => {
          alone.push(call)
          return Effect.succeed([Result.succeed(-call)])
        })
      )
    const allowed = Effect.provideService(SharedRequests.MostBlocks, 40)
    for (let known = 0; known < 60; known++) yield* allowed(bytesInFlight.block(results(0)))
    alone.length = 0
    return { alone, answering, sent, bytesInFlight, results: (call: number) => allowed(results(call)) }
  })

  it.effect("an answer that does not come is waited for alone after five seconds", () =>
    Effect.gen(function* () {
      const { alone, answering, bytesInFlight, results, sent } = yield* manual()
      yield* answering.close
      const blocks = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], (call) => bytesInFlight.block(results(call)), { concurrency: 3 })
      )
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual([sent, alone], [[3], []])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        yield* Fiber.join(blocks),
        [1, 2, 3].map((call) => [Result.succeed(-call)])
      )
      assert.deepStrictEqual(alone.toSorted(), [1, 2, 3])
    })
  )

  it.effect("after a minute without a failure twice as many calls share a request", () =>
    Effect.gen(function* () {
      const { answering, bytesInFlight, results, sent } = yield* manual()
      const together = (count: number) =>
        Effect.forEach(heights(count), (call) => bytesInFlight.block(results(call)), { concurrency: "unbounded" })
      yield* answering.close
      const failing = yield* Effect.forkChild(together(4))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(failing)
      yield* answering.open
      sent.length = 0
      yield* together(4)
      yield* TestClock.adjust("59 seconds")
      yield* together(4)
      yield* TestClock.adjust("1 second")
      yield* together(4)
      assert.deepStrictEqual(sent, [2, 2, 2, 2, 4])
    })
  )

  it.live("where the reading is interrupted that sends a request, the others send theirs", () =>
    Effect.gen(function* () {
      const { alone, answering, bytesInFlight, results, sent } = yield* manual()
      yield* answering.close
      const [first, ...others] = yield* Effect.forEach([1, 2, 3], (call) =>
        Effect.forkChild(bytesInFlight.block(results(call)), { startImmediately: true })
      )
      yield* Effect.sleep("5 millis")
      assert.deepStrictEqual(sent, [3])
      yield* Fiber.interrupt(first!)
      assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), [[Result.succeed(-2)], [Result.succeed(-3)]])
      assert.deepStrictEqual(alone, [2, 3])
      const early = yield* Effect.forkChild(bytesInFlight.block(results(4)), { startImmediately: true })
      yield* Fiber.interrupt(early)
      yield* answering.open
      assert.deepStrictEqual(yield* bytesInFlight.block(results(5)), [Result.succeed(-5)])
    })
  )

  it.live("each block holds its own part of an answer's bytes", () =>
    Effect.gen(function* () {
      const { bytesInFlight, results } = yield* manual()
      const read = yield* Latch.make(false)
      const blocks = yield* Effect.forEach([1, 2, 3, 4], (call) =>
        Effect.forkChild(bytesInFlight.block(Effect.andThen(results(call), call === 1 ? Effect.void : read.await)), {
          startImmediately: true
        })
      )
      yield* Fiber.join(blocks[0]!)
      assert.strictEqual(bytesInFlight.held(), 300)
      yield* read.open
      yield* Effect.forEach(blocks, Fiber.join)
      assert.strictEqual(bytesInFlight.held(), 0)
    })
  )
})
