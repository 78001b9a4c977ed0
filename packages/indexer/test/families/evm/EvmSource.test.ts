import { assert, describe, it } from "@effect/vitest"
import type * as Chain from "@headwater/core/chains/Chain"
import type * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"
import {
  atClock,
  alice,
  blockOf,
  bob,
  carol,
  chainOf,
  ether,
  hex,
  lacking,
  movesOf,
  recorded,
  sourceOf,
  type Tx,
  word
} from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

describe("EvmSource", () => {
  describe("coin transfers", () => {
    it.live("value of what took effect; the created contract receives what its creation carries", () =>
      Effect.gen(function* () {
        const block = yield* blockOf(
          recorded([
            { tx: { value: ether(1) } },
            { tx: { value: "0x0" } },
            { tx: { value: ether(2) }, receipt: { status: "0x0" }, trace: { error: "execution reverted" } },
            { tx: { value: ether(3), to: null }, receipt: { contractAddress: carol } },
            { tx: { value: `0x${"f".repeat(64)}`, type: "0x2" } }
          ])
        )
        assert.deepStrictEqual(movesOf(block.transfers), [
          ["coin", alice, bob, 10n ** 18n],
          ["coin", alice, carol, 3n * 10n ** 18n],
          ["coin", alice, bob, 2n ** 256n - 1n]
        ])
        assert.deepStrictEqual(
          block.transfers.map(({ transaction }) => transaction),
          [0, 3, 4]
        )
        assert.strictEqual(block.transactions.length, 5)
        assert.deepStrictEqual(
          [block.height, hex(block.hash), hex(block.parent), block.time],
          [100, word("b1"), word("b0"), 0x65f0c1a0]
        )
        assert.deepStrictEqual(block.spends, [])
      })
    )

    it.live("a creation with value whose receipt names no contract is not understood", () =>
      lacking(blockOf(recorded([{ tx: { value: "0x1", to: null } }])), /created contract/)
    )

    describe("before Byzantium, where receipts hold a state root in place of a status", () => {
      const root = { root: word("5a"), status: undefined }
      const rooted = (tx: Tx) => recorded([{ ...tx, receipt: { ...root, ...tx.receipt } }])
      const amounts = (block: EvmNode.RecordedBlock, internal: boolean) =>
        Effect.map(blockOf(block, { internal }), ({ transfers }) => transfers.length)
      it.live("the trace says what failed", () =>
        Effect.gen(function* () {
          assert.strictEqual(yield* amounts(rooted({ tx: { value: "0x1" } }), true), 1)
          assert.strictEqual(yield* amounts(rooted({ tx: { value: "0x1" }, trace: { error: "out of gas" } }), true), 0)
          // geth writes a status of 0 beside the root, which says nothing.
          const both = rooted({ tx: { value: "0x1" }, receipt: { status: "0x0" } })
          assert.strictEqual(yield* amounts(both, true), 1)
        })
      )
      it.live("without traces, what used all of its gas without a log, although it ran code, failed", () =>
        Effect.gen(function* () {
          const sent = (gas: number, used: number, input: string, logs: ReadonlyArray<EvmNode.Json> = []) =>
            amounts(
              rooted({
                tx: { value: "0x1", gas: `0x${gas.toString(16)}`, input },
                receipt: { gasUsed: `0x${used.toString(16)}` },
                logs
              }),
              false
            )
          assert.strictEqual(yield* sent(21_000, 21_000, "0x"), 1, "a plain transfer")
          assert.strictEqual(yield* sent(21_072, 21_072, "0x00ff"), 1, "data, no code")
          assert.strictEqual(yield* sent(90_000, 50_000, "0x1234"), 1, "gas left")
          assert.strictEqual(yield* sent(90_000, 90_000, "0x1234"), 0, "out of gas")
          const log = { topics: [word("01")], data: "0x" }
          assert.strictEqual(yield* sent(90_000, 90_000, "0x1234", [log]), 1, "a log: it did not fail")
        })
      )
      it.live("neither status nor root is not understood", () =>
        lacking(blockOf(recorded([{ receipt: { status: undefined } }])), /status/)
      )
      it.live("a root beside a status of 1 or of no content leaves the status to say", () =>
        Effect.gen(function* () {
          assert.strictEqual(
            yield* amounts(recorded([{ tx: { value: "0x1" }, receipt: { root: word("5a") } }]), false),
            1
          )
          for (const empty of ["0x", word("00")]) {
            const failed = recorded([{ tx: { value: "0x1" }, receipt: { root: empty, status: "0x0" } }])
            assert.strictEqual(yield* amounts(failed, false), 0)
          }
        })
      )
    })
  })

  describe("blocks that are not there", () => {
    const block = recorded([])
    const missing = (answer: FakeNode.Answer, tag: (params: ReadonlyArray<unknown>) => boolean) =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([block])
        const { source } = yield* sourceOf((method, params) =>
          method === "eth_getBlockByNumber" && tag(params) ? answer(method, params) : answers(method, params)
        )
        return [yield* Effect.flip(source.blockAt(101)), yield* Effect.flip(source.hashAt(101))] as const
      }).pipe(Effect.scoped)
    const refusals: Record<string, FakeNode.Answer> = {
      null: () => null,
      "header not found": () => {
        throw new FakeNode.RpcError(-32000, "header not found")
      },
      "Avalanche's unfinalized data": () => {
        throw new FakeNode.RpcError(-32000, "cannot query unfinalized data")
      },
      "geth's Unknown block": () => {
        throw new FakeNode.RpcError(-39001, "Unknown block")
      },
      "anvil's out of range": () => {
        throw new FakeNode.RpcError(-32602, "BlockOutOfRangeError: block height is 5 but requested was 101")
      }
    }
    for (const [name, answer] of Object.entries(refusals)) {
      it.live(`${name} is BlockMissing`, () =>
        Effect.gen(function* () {
          for (const error of yield* missing(answer, ([tag]) => tag === "0x65")) {
            assert.deepInclude(error, { _tag: "BlockMissing", block: "101" })
          }
        })
      )
    }
    it.live("another refusal stays what it is", () =>
      Effect.gen(function* () {
        const broken: FakeNode.Answer = () => {
          throw new FakeNode.RpcError(-32000, "database corrupt")
        }
        for (const error of yield* missing(broken, ([tag]) => tag === "0x65")) {
          assert.deepInclude(error, { _tag: "NodeRejected", code: -32000 })
        }
      })
    )
  })

  describe("head", () => {
    const at = (number: number, byte: string) => recorded([], { number: `0x${number.toString(16)}`, hash: word(byte) })
    const headOf = (blocks: ReadonlyArray<EvmNode.RecordedBlock>, node: EvmNode.Options) =>
      Effect.gen(function* () {
        const { source } = yield* sourceOf(EvmNode.answers(blocks, node))
        const { height, hash, final } = yield* source.head
        return [height, hex(hash), final] as const
      }).pipe(Effect.scoped)
    it.live("newest and final block in one request", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([at(90, "90"), at(100, "b1")], { finalized: "0x5a" }))
        const before = node.requests()
        const { height, hash, final } = yield* source.head
        assert.deepStrictEqual([height, hex(hash), final], [100, word("b1"), 90])
        assert.strictEqual(node.requests() - before, 1)
      }).pipe(Effect.scoped)
    )
    it.live("no final height where the node has none, refuses the tag, or says one above the head", () =>
      Effect.gen(function* () {
        const newest = at(100, "b1")
        assert.deepStrictEqual(yield* headOf([newest], { finalized: null }), [100, word("b1"), undefined])
        assert.deepStrictEqual(yield* headOf([newest], {}), [100, word("b1"), undefined])
        const above = [at(101, "b2"), newest]
        assert.deepStrictEqual(yield* headOf(above, { finalized: "0x65" }), [100, word("b1"), undefined])
      })
    )
    it.live("a refused tag is not asked for at every poll", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([at(100, "b1")]))
        const asked = () => node.calls.filter(({ params }) => params[0] === "finalized").length
        const before = asked()
        for (let poll = 0; poll < 5; poll++) yield* source.head
        assert.strictEqual(asked() - before, 1)
      }).pipe(Effect.scoped)
    )
    it.live("a tag that was refused while the clock was ahead is asked for again as soon", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([at(100, "b1")]))
        const asked = () => node.calls.filter(({ params }) => params[0] === "finalized").length
        yield* atClock(source.head, { aheadMillis: 86_400_000 })
        const before = asked()
        yield* source.head
        yield* atClock(source.head, { passedMillis: 300_000 })
        assert.strictEqual(asked() - before, 1)
      }).pipe(Effect.scoped)
    )
  })

  describe("capabilities", () => {
    const block = recorded([{}])
    const capabilitiesOf = (node: EvmNode.Options, options?: EvmSource.EvmSourceOptions, chain?: Chain.Chain) =>
      Effect.gen(function* () {
        const { source } = yield* sourceOf(EvmNode.answers([block], node), options, chain)
        return new Map((yield* source.capabilities).map(({ name, available, detail }) => [name, { available, detail }]))
      }).pipe(Effect.scoped)
    it.live("the tracer that the node has is found", () =>
      Effect.gen(function* () {
        const both = yield* capabilitiesOf({})
        assert.deepStrictEqual(both.get("internal transactions"), { available: true, detail: "debug_traceBlockByHash" })
        const flat = yield* capabilitiesOf({ without: ["debug_traceBlockByHash"] })
        assert.deepStrictEqual(flat.get("internal transactions"), { available: true, detail: "trace_block" })
        const none = yield* capabilitiesOf({ without: ["debug_traceBlockByHash", "trace_block"] })
        assert.isFalse(none.get("internal transactions")!.available)
        assert.match(none.get("internal transactions")!.detail, /enable debug_traceBlockByHash or trace_block/)
      })
    )
    it.live("a node that ignores the tracer's name has no traces for us", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([block], { without: ["trace_block"] })
        const { source } = yield* sourceOf((method, params) =>
          method === "debug_traceBlockByHash"
            ? [{ txHash: block.block.transactions[0].hash, result: { gas: 21000, failed: false, structLogs: [] } }]
            : answers(method, params)
        )
        const capability = (yield* source.capabilities).find(({ name }) => name === "internal transactions")!
        assert.isFalse(capability.available)
        assert.match(capability.detail, /another form/)
        assert.deepStrictEqual((yield* source.blockAt(100)).transfers, [])
      }).pipe(Effect.scoped)
    )
    it.live("hardhat's and ganache's words for a missing method are understood", () =>
      Effect.gen(function* () {
        const words: ReadonlyArray<readonly [number, string]> = [
          [-32004, "Method eth_getBlockReceipts is not supported"],
          [-32700, "The method eth_getBlockReceipts does not exist/is not available"],
          [-32601, "Method not found"]
        ]
        for (const [code, message] of words) {
          const answers = EvmNode.answers([block])
          const { source } = yield* sourceOf((method, params) => {
            if (method === "eth_getBlockReceipts") throw new FakeNode.RpcError(code, message)
            return answers(method, params)
          })
          const capability = (yield* source.capabilities).find(({ name }) => name === "receipts of a block")!
          assert.isFalse(capability.available)
          assert.strictEqual((yield* source.blockAt(100)).transactions.length, 1)
        }
      }).pipe(Effect.scoped)
    )
    it.live("a tracer that runs out of time says nothing: it is presumed, and the chain is followed", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([block], { without: ["trace_block"] })
        const { source } = yield* sourceOf((method, params) => {
          if (method === "debug_traceBlockByHash") throw new FakeNode.RpcError(-32000, "execution timeout")
          return answers(method, params)
        })
        const capability = (yield* source.capabilities).find(({ name }) => name === "internal transactions")!
        assert.deepInclude(capability, { available: true, unsure: true })
        assert.deepStrictEqual((yield* source.blockAt(100)).missing, [
          { part: "internal", reason: "debug_traceBlockByHash: execution timeout" }
        ])
      }).pipe(Effect.scoped)
    )
    it.live("a tracer is tried on a recent block that has transactions", () =>
      Effect.gen(function* () {
        const empty = recorded([], { number: "0x65", hash: word("b2") })
        const { node } = yield* sourceOf(EvmNode.answers([block, empty]))
        const traced = node.calls.filter(({ method }) => method === "debug_traceBlockByHash")
        assert.deepStrictEqual(
          traced.map(({ params }) => params),
          [[word("b1"), { tracer: "callTracer", timeout: "54000ms" }]]
        )
      }).pipe(Effect.scoped)
    )
    it.live("a chain that has only its genesis block", () =>
      Effect.gen(function* () {
        const genesis = recorded([], { number: "0x0" })
        const { source } = yield* sourceOf(EvmNode.answers([genesis]))
        const capability = (yield* source.capabilities).find(({ name }) => name === "internal transactions")!
        assert.deepStrictEqual(capability, {
          name: "internal transactions",
          available: true,
          detail: "debug_traceBlockByHash"
        })
        assert.strictEqual((yield* source.blockAt(0)).height, 0)
      }).pipe(Effect.scoped)
    )
    it.live("a node of another network is told", () =>
      Effect.gen(function* () {
        assert.isTrue((yield* capabilitiesOf({})).get("network")!.available)
        const wrong = (yield* capabilitiesOf({ chainId: "0xaa36a7" })).get("network")!
        assert.isFalse(wrong.available)
        assert.match(wrong.detail, /chain id 11155111, not 1/)
        const devnet = yield* capabilitiesOf({ chainId: "0x7a69" }, undefined, chainOf("ethereum", "devnet"))
        assert.isTrue(devnet.get("network")!.available)
        assert.isTrue((yield* capabilitiesOf({ without: ["eth_chainId"] })).get("network")!.available)
      })
    )
    it.live("finality is told", () =>
      Effect.gen(function* () {
        assert.isFalse((yield* capabilitiesOf({})).get("finality")!.available)
        assert.isTrue((yield* capabilitiesOf({ finalized: "0x64" })).get("finality")!.available)
      })
    )
  })
})
