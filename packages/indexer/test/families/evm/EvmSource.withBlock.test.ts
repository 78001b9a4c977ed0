import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Heads from "@headwater/indexer/families/node/Heads"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import { alice, atClock, bob, carol, ethereum, movesOf, recorded, sourceOf, withoutWaiting, word } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

const blockWith = (value: string, header: EvmNode.Json = {}) =>
  recorded([{ tx: { value: "0x1" }, trace: { calls: [{ type: "CALL", from: bob, to: carol, value }] } }], header)
const block = blockWith("0x2")
const moves = (internal: bigint) => [
  ["coin", alice, bob, 1n],
  ["call_0 call", bob, carol, internal]
]

const named = (hash: string) =>
  Effect.provideService(Heads.NamedHash, new Uint8Array(Buffer.from(hash.slice(2), "hex")))

/** By a clock that stands still: how long answers take on this machine decides nothing. */
const atOnce = Effect.updateService(Clock.Clock, (clock) =>
  Object.assign(Object.create(clock) as Clock.Clock, {
    monotonicTimeNanosUnsafe: () => 0n,
    sleep: () => Effect.never
  })
)

/** A node of these answers, the source of its blocks, and the methods of each request that comes from then on. */
const observed = Effect.fnUntraced(function* (
  answer: FakeNode.Answer,
  respond: (methods: ReadonlyArray<string>, response: ServerResponse, reply: () => void) => void = (_, __, reply) =>
    reply()
) {
  const asked: Array<string> = []
  const { url } = yield* FakeNode.http((request, response) => {
    void FakeNode.bodyOf(request).then((body) => {
      const calls = [JSON.parse(body)].flat() as ReadonlyArray<FakeNode.Call>
      const methods = calls.map(({ method }) => method)
      asked.push(methods.map((method) => method.replace(/^\w+_/, "")).join(" "))
      const answers = calls.map((call) => FakeNode.answerTo(call, answer))
      respond(methods, response, () => response.end(JSON.stringify(body.startsWith("[") ? answers : answers[0])))
    })
  })
  const rpc = yield* JsonRpc.make({ urls: [url], attempts: 1 })
  const source = yield* EvmSource.make(ethereum, rpc, { verify: "links", internal: true })
  asked.length = 0
  return { source, requests: () => asked.splice(0) }
})

const together = "getBlockByNumber getBlockReceipts traceBlockByHash"
const apart = ["getBlockByNumber getBlockReceipts", "traceBlockByHash"]
const isTogether = (methods: ReadonlyArray<string>) => methods.length > 1 && methods.includes("debug_traceBlockByHash")

describe("EvmSource: the traces of a block whose hash is known", () => {
  it.live("come in the request for the block; of one that no node has named behind it", () =>
    Effect.gen(function* () {
      const { requests, source } = yield* observed(EvmNode.answers([block]))
      const plain = yield* source.blockAt(100)
      assert.deepStrictEqual(requests(), apart)
      assert.deepStrictEqual(movesOf(plain.transfers), moves(2n))
      assert.deepStrictEqual(yield* named(word("b1"))(source.blockAt(100)), plain)
      assert.deepStrictEqual(requests(), [together])
    }).pipe(atOnce, Effect.scoped)
  )

  it.live.skipIf(!Fixtures.exist)("are those that a recorded block has by a request of their own", () =>
    Effect.gen(function* () {
      for (const [name, verify] of [
        ["ethereum-16899757", "roots"],
        ["ethereum-17053184", "full"]
      ] as const) {
        const { recorded: real } = EvmNode.bundle(name)
        const { node, source } = yield* sourceOf(EvmNode.answers([real]), { internal: true, verify })
        const height = Number(real.block.number)
        const plain = yield* source.blockAt(height)
        const before = node.requests()
        for (const requests of [1, 2]) {
          assert.deepStrictEqual(yield* named(real.block.hash)(source.blockAt(height)), plain)
          assert.strictEqual(node.requests(), before + requests)
        }
        assert.isTrue(plain.transfers.some(({ kind }) => kind === "internal"))
      }
    }).pipe(atOnce, Effect.scoped)
  )

  it.live(
    "are not those of the block that was named, where another one with the same transactions took its place",
    () =>
      Effect.gen(function* () {
        const former = blockWith("0x9", { hash: word("b9"), number: "0x63" })
        const { requests, source } = yield* observed(EvmNode.answers([former, block]))
        const found = yield* named(word("b9"))(source.blockAt(100))
        assert.deepStrictEqual(movesOf(found.transfers), moves(2n))
        assert.deepStrictEqual(requests(), [together, "traceBlockByHash"])
        // That says nothing of the next block.
        yield* named(word("b1"))(source.blockAt(100))
        assert.deepStrictEqual(requests(), [together])
      }).pipe(atOnce, Effect.scoped)
  )

  it.live("are asked for apart where the node does not have the named block, and together for the next one", () =>
    Effect.gen(function* () {
      const { requests, source } = yield* observed(EvmNode.answers([block]))
      const error = yield* Effect.flip(named(word("b2"))(source.blockAt(101)))
      assert.strictEqual(error._tag, "BlockMissing")
      assert.deepStrictEqual(requests(), [together])
      yield* named(word("b1"))(source.blockAt(100))
      assert.deepStrictEqual(requests(), [together])
    }).pipe(atOnce, Effect.scoped)
  )

  const faults: Record<string, (response: ServerResponse) => void> = {
    "refuses the request": (response) => response.writeHead(413).end(),
    "hangs up": (response) => response.destroy(),
    "gives one answer to all": (response) =>
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not in a batch"}}')
  }
  for (const [name, fault] of Object.entries(faults)) {
    it.live(`are asked for apart for a while where the node ${name}, and the block is whole`, () =>
      Effect.gen(function* () {
        let isFaulty = true
        const { requests, source } = yield* observed(EvmNode.answers([block]), (methods, response, reply) =>
          isFaulty && isTogether(methods) ? fault(response) : reply()
        )
        const read = named(word("b1"))(source.blockAt(100))
        for (const passedMillis of [0, 59_000]) {
          assert.deepStrictEqual(movesOf((yield* atClock(read, { passedMillis })).transfers), moves(2n))
          assert.deepStrictEqual(requests().slice(-2), apart)
        }
        isFaulty = false
        yield* atClock(read, { passedMillis: 70_000 })
        assert.deepStrictEqual(requests(), [together])
      }).pipe(atOnce, Effect.scoped)
    )
  }

  it.live("are asked for apart where a request for both is not answered in time", () =>
    Effect.gen(function* () {
      const { requests, source } = yield* observed(EvmNode.answers([block]), (methods, _, reply) => {
        if (!isTogether(methods)) reply()
      })
      const found = yield* withoutWaiting(named(word("b1"))(source.blockAt(100)))
      assert.deepStrictEqual(movesOf(found.transfers), moves(2n))
      assert.deepStrictEqual(requests().slice(-2), apart)
    }).pipe(atOnce, Effect.scoped)
  )

  it.live("are asked for apart where the node refuses them beside the block, whose answer counts all the same", () =>
    Effect.gen(function* () {
      let refusals = 0
      const answers = EvmNode.answers([block])
      const { requests, source } = yield* observed((method, params) => {
        if (method === "debug_traceBlockByHash" && refusals-- > 0) {
          throw new FakeNode.RpcError(-32000, "required historical state unavailable (reexec=128)")
        }
        return answers(method, params)
      })
      refusals = 1
      const read = named(word("b1"))(source.blockAt(100))
      assert.deepStrictEqual(movesOf((yield* read).transfers), moves(2n))
      assert.deepStrictEqual(requests(), [together, "traceBlockByHash"])
      yield* read
      assert.deepStrictEqual(requests(), apart)
    }).pipe(atOnce, Effect.scoped)
  )
})
