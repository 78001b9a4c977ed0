/** Blocks whose answers are larger than may be in flight: the same blocks in parts, or without the part that has none. */
import { assert, describe, it } from "@effect/vitest"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import { chainOf, hex } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

/** A node that sends its answers in pieces, and looks at what is in flight meanwhile. */
const slowNode = (answer: FakeNode.Answer, look: () => void) => {
  const calls: Array<FakeNode.Call> = []
  return Effect.map(
    FakeNode.http((request, response) => {
      void FakeNode.bodyOf(request).then(async (body) => {
        const asked = JSON.parse(body) as FakeNode.Call | ReadonlyArray<FakeNode.Call>
        const all = [asked].flat() as ReadonlyArray<FakeNode.Call>
        calls.push(...all)
        const answers = all.map((call) => FakeNode.answerTo(call, answer))
        const text = Buffer.from(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
        response.writeHead(200)
        for (let at = 0; at < text.length && !response.destroyed; at += 65_536) {
          response.write(text.subarray(at, at + 65_536))
          await new Promise(setImmediate)
          look()
        }
        response.end()
      })
    }),
    ({ url }) => ({ url, calls })
  )
}

const answersOf = (recorded: ReadonlyArray<EvmNode.RecordedBlock>, tracer: "debug" | "trace"): FakeNode.Answer => {
  const without = tracer === "debug" ? ["trace_block"] : ["debug_traceBlockByHash"]
  const answers = EvmNode.answers(recorded, { without, chainId: "0x1" })
  const transactions = new Map<string, EvmNode.Json>(
    recorded.flatMap(({ block, callTracer, traceBlock }) =>
      block.transactions.map((transaction: EvmNode.Json, index: number) => [
        transaction.hash,
        {
          transaction,
          frame: callTracer?.[index],
          traces: traceBlock?.filter(({ transactionHash }) => transactionHash === transaction.hash)
        }
      ])
    )
  )
  return (method, params) => {
    const one = transactions.get(params[0] as string)
    if (method === "eth_getTransactionByHash") return one?.transaction
    if (method === "debug_traceTransaction" && tracer === "debug") return one?.frame
    if (method === "trace_transaction" && tracer === "trace") return one?.traces
    return answers(method, params)
  }
}

const textOf = (block: unknown) =>
  JSON.stringify(block, (_, value) =>
    value instanceof Uint8Array ? hex(value) : typeof value === "bigint" ? String(value) : value
  )

const sizeOf = (json: unknown) => JSON.stringify(json ?? []).length

const open = (
  recorded: ReadonlyArray<EvmNode.RecordedBlock>,
  limit: number,
  tracer: "debug" | "trace" = "debug",
  answer = answersOf(recorded, tracer),
  traceTimeoutMillis?: number
) =>
  Effect.gen(function* () {
    const bytes = BytesInFlight.make(limit)
    let most = 0
    const node = yield* slowNode(answer, () => {
      most = Math.max(most, bytes.held())
    })
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 }).pipe(
      Effect.provideService(BytesInFlight.Current, bytes)
    )
    const source = yield* EvmSource.make(chainOf("ethereum"), rpc, {
      internal: true,
      tracers: [tracer === "debug" ? "debug_traceBlockByHash" : "trace_block"],
      ...(traceTimeoutMillis === undefined ? {} : { tracing: { nodes: [rpc], timeoutMillis: traceTimeoutMillis } })
    })
    return {
      calls: node.calls,
      blockAt: (height: number) => bytes.block(source.blockAt(height)),
      wholeBlockAt: (height: number) => bytes.block(source.wholeBlockAt!(height)),
      held: bytes.held,
      most: () => most
    }
  })

const methodsOf = (calls: ReadonlyArray<FakeNode.Call>) => new Set(calls.map(({ method }) => method))

describe.skipIf(!Fixtures.exist)("EvmSource, with little room for answers", () => {
  const recorded = () => EvmNode.bundle("ethereum-16899757").recorded
  const heightOf = ({ block }: EvmNode.RecordedBlock) => Number(block.number)
  /** Room for a block and its receipts, and for the largest trace beside them, but not for all traces. */
  const limitOf = ({ block, callTracer, receipts, traceBlock }: EvmNode.RecordedBlock, tracer = "debug") =>
    Math.ceil(sizeOf(block) + sizeOf(receipts) * 1.05 + sizeOf(tracer === "debug" ? callTracer : traceBlock) * 0.6)

  for (const tracer of ["debug", "trace"] as const) {
    it.live(`a block whose traces are too large is whole, by the traces of its transactions (${tracer})`, () =>
      Effect.gen(function* () {
        const block = recorded()
        const whole = yield* (yield* open([block], 2 ** 30, tracer)).blockAt(heightOf(block))
        assert.isTrue(whole.transfers.some(({ kind }) => kind === "internal"))
        const limit = limitOf(block, tracer)
        const { blockAt, calls, held, most } = yield* open([block], limit, tracer)
        const read = yield* blockAt(heightOf(block))
        assert.isUndefined(read.missing)
        assert.strictEqual(textOf(read), textOf(whole))
        assert.isTrue(methodsOf(calls).has(tracer === "debug" ? "debug_traceTransaction" : "trace_transaction"))
        assert.isAtMost(most(), limit)
        assert.strictEqual(held(), 0)
      })
    )
  }

  it.live(
    "where the trace of one transaction is too large as well, the traces are missing, and the rest is whole",
    () =>
      Effect.gen(function* () {
        const block = recorded()
        const answers = answersOf([block], "debug")
        const last = block.block.transactions.at(-1).hash
        const padded: FakeNode.Answer = (method, params) => {
          const answer = answers(method, params)
          const pads = method === "debug_traceTransaction" && params[0] === last
          return pads ? { ...(answer as EvmNode.Json), output: `0x${"00".repeat(1_000_000)}` } : answer
        }
        const whole = yield* (yield* open([block], 2 ** 30)).blockAt(heightOf(block))
        const { blockAt, most } = yield* open([block], limitOf(block), "debug", padded)
        const read = yield* blockAt(heightOf(block))
        assert.deepStrictEqual(
          read.transfers,
          whole.transfers.filter(({ kind }) => kind !== "internal")
        )
        assert.match(read.missing![0]!.reason, /^debug_traceBlockByHash: transaction 146: answer larger than \d+ bytes/)
        assert.isAtMost(most(), limitOf(block))
      })
  )

  it.live("each transaction's trace has the node's limit, which a node that refuses the limit does without", () =>
    Effect.gen(function* () {
      const block = recorded()
      const answers = answersOf([block], "debug")
      const limits: Array<unknown> = []
      let refuses = false
      const node: FakeNode.Answer = (method, params) => {
        if (method === "debug_traceTransaction") {
          const { timeout } = params[1] as { readonly timeout?: string }
          limits.push(timeout)
          if (refuses && timeout !== undefined) throw new FakeNode.RpcError(-32602, "timeout must not exceed 10s")
        }
        return answers(method, params)
      }
      const { blockAt } = yield* open([block], limitOf(block), "debug", node, 50_000)
      assert.isUndefined((yield* blockAt(heightOf(block))).missing)
      assert.deepStrictEqual(new Set(limits), new Set(["45000ms"]))
      limits.length = 0
      refuses = true
      assert.isUndefined((yield* blockAt(heightOf(block))).missing)
      assert.deepStrictEqual(limits.slice(0, 3), ["45000ms", undefined, undefined])
    })
  )

  it.live("traces one by one take no longer than those of a block may, unless no block waits for them", () =>
    Effect.gen(function* () {
      const block = recorded()
      const answers = answersOf([block], "debug")
      let asked = 0
      // Each answer is prompt, all of them together are not.
      const node: FakeNode.Answer = (method, params) => {
        if (method === "debug_traceTransaction") {
          asked++
          const until = performance.now() + 20
          while (performance.now() < until);
        }
        return answers(method, params)
      }
      const { blockAt, wholeBlockAt } = yield* open([block], limitOf(block), "debug", node, 400)
      const read = yield* blockAt(heightOf(block))
      assert.match(read.missing![0]!.reason, /: the traces of its transactions take longer than 400 ms together$/)
      // A request that was under way may come to the node behind the answer.
      yield* Effect.sleep("200 millis")
      const before = asked
      assert.match((yield* blockAt(heightOf(block))).missing![0]!.reason, /take longer than 400 ms together$/)
      assert.strictEqual(asked, before, "the node rests")
      assert.isUndefined((yield* wholeBlockAt(heightOf(block))).missing)
    })
  )

  it.live("receipts that are too large beside their block are asked for in batches, and the block is whole", () =>
    Effect.gen(function* () {
      const block = recorded()
      const whole = yield* (yield* open([block], 2 ** 30)).blockAt(heightOf(block))
      // Room for the largest trace beside the block, not for all receipts.
      const limit = sizeOf(block.block) + 480_000
      assert.isBelow(limit, sizeOf(block.block) + sizeOf(block.receipts))
      const { blockAt, calls, most } = yield* open([block], limit)
      const read = yield* blockAt(heightOf(block))
      assert.isUndefined(read.missing)
      assert.strictEqual(textOf(read), textOf(whole))
      assert.isTrue(methodsOf(calls).has("eth_getTransactionReceipt"))
      assert.isAtMost(most(), limit)
    })
  )

  it.live("where the node itself refuses answers that are too large, the block is whole in parts", () =>
    Effect.gen(function* () {
      const block = recorded()
      const answers = answersOf([block], "debug")
      let limited = false
      const reth: FakeNode.Answer = (method, params) => {
        const isLarge = params[1] === true || ["eth_getBlockReceipts", "debug_traceBlockByHash"].includes(method)
        if (limited && isLarge) throw new FakeNode.RpcError(-32008, "Response is too big")
        return answers(method, params)
      }
      const whole = yield* (yield* open([block], 2 ** 30)).blockAt(heightOf(block))
      const { blockAt, calls } = yield* open([block], 2 ** 30, "debug", reth)
      limited = true
      const read = yield* blockAt(heightOf(block))
      assert.isUndefined(read.missing)
      assert.strictEqual(textOf(read), textOf(whole))
      for (const method of ["eth_getTransactionByHash", "eth_getTransactionReceipt", "debug_traceTransaction"]) {
        assert.isTrue(methodsOf(calls).has(method), method)
      }
    })
  )

  it.live("many blocks at a time stay below the limit, and all come to their end", () =>
    Effect.gen(function* () {
      const blocks = ["ethereum-17053184", "ethereum-16899757"].map((name) => EvmNode.bundle(name).recorded)
      const largest = Math.max(
        ...blocks.map(({ block, callTracer, receipts }) => sizeOf(block) + sizeOf(receipts) + sizeOf(callTracer))
      )
      const limit = Math.ceil(largest * 1.3)
      const { blockAt, held, most } = yield* open(blocks, limit)
      const heights = Array.from({ length: 4 }, () => blocks.map(heightOf)).flat()
      const read = yield* Effect.forEach(heights, blockAt, { concurrency: 8 })
      assert.deepStrictEqual(
        read.map(({ height }) => height),
        heights
      )
      assert.isTrue(read.every(({ missing }) => missing === undefined))
      assert.isAtMost(most(), limit)
      assert.isAbove(most(), largest / 2)
      assert.strictEqual(held(), 0)
    })
  )
})
