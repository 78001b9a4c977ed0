import { assert, describe, it } from "@effect/vitest"
import type { Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/Chain"
import * as EvmSource from "@headwater/indexer/sources/EvmSource"
import * as JsonRpc from "@headwater/indexer/sources/JsonRpc"
import type { NodeError } from "@headwater/indexer/sources/NodeError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as EvmNode from "../EvmNode.ts"
import * as FakeNode from "../FakeNode.ts"

const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
const ethereum = chainOf("ethereum")

const hex = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : `0x${Buffer.from(bytes).toString("hex")}`
const word = (byte: string) => `0x${byte.repeat(32)}`
const account = (byte: string) => `0x${byte.repeat(20)}`
const padded = (address: string) => `0x${"0".repeat(24)}${address.slice(2)}`
const ether = (amount: number) => `0x${(BigInt(amount) * 10n ** 18n).toString(16)}`

const [alice, bob, carol, token] = [account("aa"), account("bb"), account("cc"), account("70")]
const zero = account("00")
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

interface Tx {
  readonly tx?: EvmNode.Json
  readonly receipt?: EvmNode.Json
  readonly logs?: ReadonlyArray<EvmNode.Json>
  readonly trace?: EvmNode.Json
}

/** A block of height 100 with these transactions; receipts and traces fit unless told otherwise. */
const recorded = (txs: ReadonlyArray<Tx>, header: EvmNode.Json = {}): EvmNode.RecordedBlock => {
  const hash = word("b1")
  let logIndex = 0
  const transactions = txs.map(({ tx = {} }, index) => ({
    hash: `0x${(index + 1).toString(16).padStart(64, "0")}`,
    blockHash: hash,
    transactionIndex: `0x${index.toString(16)}`,
    from: alice,
    to: bob,
    value: "0x0",
    gas: "0x5208",
    gasPrice: "0x1",
    input: "0x",
    type: "0x0",
    ...tx
  }))
  const block = {
    number: "0x64",
    hash,
    parentHash: word("b0"),
    timestamp: "0x65f0c1a0",
    transactions,
    ...header
  }
  const callTracer = txs.map(({ trace }, index) => {
    const { from, to, value } = transactions[index]!
    return { type: to === null ? "CREATE" : "CALL", from, to: to ?? carol, value, ...trace }
  })
  return {
    block,
    receipts: txs.map(({ receipt = {}, logs = [] }, index) => ({
      transactionHash: transactions[index]!.hash,
      transactionIndex: `0x${index.toString(16)}`,
      blockHash: hash,
      status: "0x1",
      contractAddress: null,
      gasUsed: "0x5208",
      cumulativeGasUsed: "0x5208",
      logs: logs.map((log) => ({ address: token, logIndex: `0x${(logIndex++).toString(16)}`, ...log })),
      ...receipt
    })),
    callTracer,
    traceBlock: callTracer.flatMap((frame, index) => EvmNode.flatten(block, index, frame))
  }
}

const sourceOf = (
  answer: FakeNode.Answer,
  options: EvmSource.EvmSourceOptions = { internal: true },
  chain: Chain.Chain = ethereum
) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make(answer)
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
    return { node, source: yield* EvmSource.make(chain, rpc, options) }
  })

const blockOf = (
  block: EvmNode.RecordedBlock,
  options?: EvmSource.EvmSourceOptions,
  chain?: Chain.Chain,
  node?: EvmNode.Options
) =>
  Effect.gen(function* () {
    const chainId = `0x${(chain?.evm?.chainId ?? 1).toString(16)}`
    const { source } = yield* sourceOf(EvmNode.answers([block], { chainId, ...node }), options, chain)
    return yield* source.blockAt(Number(block.block.number))
  }).pipe(Effect.scoped)

/** Kind, from, to and amount of each transfer; internal ones with their operation. */
const movesOf = (transfers: ReadonlyArray<Transfer>) =>
  transfers.map((transfer) => [
    transfer.kind === "internal" ? `${transfer.operation} ${transfer.operationType}` : transfer.kind,
    hex(transfer.from),
    hex(transfer.to),
    transfer.amount
  ])

const inconsistent = (effect: Effect.Effect<unknown, NodeError>, pattern: RegExp) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "NodeInconsistent")
    assert.match(error.message, pattern)
  })

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

    it.live("a creation with value whose receipt names no contract is inconsistent", () =>
      inconsistent(blockOf(recorded([{ tx: { value: "0x1", to: null } }])), /created contract/)
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
      it.live("neither status nor root is inconsistent", () =>
        inconsistent(blockOf(recorded([{ receipt: { status: undefined } }])), /status/)
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

  describe("internal transfers", () => {
    const call = (type: string, from: string, to: string, value: string, more: EvmNode.Json = {}) => ({
      type,
      from,
      to,
      value,
      ...more
    })
    const trace = {
      calls: [
        call("CALL", bob, carol, "0x1", {
          calls: [
            call("DELEGATECALL", carol, token, "0x1"),
            call("STATICCALL", carol, token, "0x0"),
            call("CALLCODE", carol, token, "0x7"),
            call("CALL", carol, alice, "0x2")
          ]
        }),
        call("CALL", bob, carol, "0x8", {
          error: "execution reverted",
          calls: [call("CALL", carol, alice, "0x9", { calls: [call("CREATE", alice, token, "0xa")] })]
        }),
        call("CREATE", bob, token, "0x3"),
        call("CREATE2", bob, token, "0x4", { calls: [call("SELFDESTRUCT", token, alice, "0x5")] }),
        call("CALL", bob, carol, "0x0", { calls: [call("CALL", carol, bob, "0x6")] }),
        call("DELEGATECALL", bob, token, "0xb", { error: "out of gas", calls: [call("CALL", bob, alice, "0xc")] })
      ]
    }
    const expected = [
      ["call_0 call", bob, carol, 1n],
      ["call_0_3 call", carol, alice, 2n],
      ["call_2 create", bob, token, 3n],
      ["call_3 create2", bob, token, 4n],
      ["call_3_0 selfdestruct", token, alice, 5n],
      ["call_4_0 call", carol, bob, 6n]
    ]
    const block = recorded([{ trace }, { tx: { value: "0x1" } }])

    it.live("frames that moved coins, of either tracer; nothing under an error", () =>
      Effect.gen(function* () {
        const tree = yield* blockOf(block, { internal: true })
        assert.deepStrictEqual(movesOf(tree.transfers), [...expected, ["coin", alice, bob, 1n]])
        const list = yield* blockOf(block, { internal: true, tracers: ["trace_block"] })
        assert.deepStrictEqual(list, tree)
      })
    )

    it.live("a list out of order, with block rewards, gives the same", () =>
      Effect.gen(function* () {
        const reward = {
          type: "reward",
          action: { author: alice, value: "0x1" },
          blockHash: word("b1"),
          transactionHash: null,
          traceAddress: []
        }
        const shuffled = { ...block, traceBlock: [reward, ...[...block.traceBlock!].reverse()] }
        const list = yield* blockOf(shuffled, { internal: true, tracers: ["trace_block"] })
        assert.deepStrictEqual(list, yield* blockOf(block))
      })
    )

    it.live("a failed transaction moves nothing below its top either", () =>
      Effect.gen(function* () {
        const failed = recorded([{ trace: { ...trace, error: "execution reverted" }, receipt: { status: "0x0" } }])
        assert.deepStrictEqual((yield* blockOf(failed)).transfers, [])
        const silent = recorded([{ trace, receipt: { status: "0x0" } }])
        assert.deepStrictEqual((yield* blockOf(silent)).transfers, [])
      })
    )

    it.live("not wanted: no trace is asked for", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([block]), { internal: false })
        assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), [["coin", alice, bob, 1n]])
        assert.isFalse(node.calls.some(({ method }) => method.includes("trace")))
        const capability = (yield* source.capabilities).find(({ name }) => name === "internal transactions")
        assert.isFalse(capability!.available)
      }).pipe(Effect.scoped)
    )

    describe("what does not belong together is inconsistent", () => {
      const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
        "too few traces": [{ callTracer: block.callTracer!.slice(1) }, /1 traces for 2/],
        "too many traces": [{ callTracer: [...block.callTracer!, block.callTracer![0]!] }, /3 traces for 2/],
        "a negative amount": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol, "-0x1")] },
              { type: "CALL" }
            ]
          },
          /frame.value/
        ],
        "an amount over 256 bits": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol, `0x1${"0".repeat(64)}`)] },
              { type: "CALL" }
            ]
          },
          /frame.value/
        ],
        "an address of 19 bytes": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol.slice(0, -2), "0x1")] },
              { type: "CALL" }
            ]
          },
          /frame.to/
        ]
      }
      for (const [name, [change, pattern]] of Object.entries(broken)) {
        it.live(name, () => inconsistent(blockOf({ ...block, ...change }), pattern))
      }

      it.live("traces of another transaction", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([block])
          const swapped = yield* sourceOf((method, params) => {
            const answer = answers(method, params)
            return method === "debug_traceBlockByHash" ? [...(answer as Array<unknown>)].reverse() : answer
          })
          yield* inconsistent(swapped.source.blockAt(100), /trace 0 is not of transaction 0/)
        }).pipe(Effect.scoped)
      )

      it.live("anvil's and geth's per-transaction error inside a good answer", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([block])
          let healthy = true
          const { source } = yield* sourceOf((method, params) =>
            method === "debug_traceBlockByHash" && !healthy
              ? block.block.transactions.map((tx: EvmNode.Json) => ({ txHash: tx.hash, error: "Resource not found" }))
              : answers(method, params)
          )
          healthy = false
          yield* inconsistent(source.blockAt(100), /transaction 0 could not be traced: Resource not found/)
        }).pipe(Effect.scoped)
      )

      const listed: Record<string, readonly [(traces: Array<EvmNode.Json>) => ReadonlyArray<EvmNode.Json>, RegExp]> = {
        "a transaction without a trace": [
          (traces) => traces.filter((t) => t.transactionPosition !== 1),
          /1 traces for 2/
        ],
        "a trace of a foreign transaction": [
          (traces) => traces.map((t) => (t.transactionPosition === 1 ? { ...t, transactionHash: word("77") } : t)),
          /no trace of transaction 1/
        ],
        "a trace of another block": [(traces) => traces.map((t) => ({ ...t, blockHash: word("b2") })), /another block/],
        "a missing top frame": [
          (traces) => traces.filter((t) => t.transactionPosition !== 0 || t.traceAddress.length > 0),
          /no top frame/
        ],
        "a broken trace address": [(traces) => traces.map((t) => ({ ...t, traceAddress: ["0"] })), /traceAddress/],
        "no list at all": [() => ({}) as never, /must be an array/]
      }
      for (const [name, [change, pattern]] of Object.entries(listed)) {
        it.live(`trace_block: ${name}`, () =>
          Effect.gen(function* () {
            const answers = EvmNode.answers([block])
            let healthy = true
            const { source } = yield* sourceOf(
              (method, params) =>
                method === "trace_block" && !healthy
                  ? change([...block.traceBlock!] as Array<EvmNode.Json>)
                  : answers(method, params),
              { internal: true, tracers: ["trace_block"] }
            )
            healthy = false
            yield* inconsistent(source.blockAt(100), pattern)
          }).pipe(Effect.scoped)
        )
      }

      it.live("a tree deeper than the EVM allows does not overflow the stack", () => {
        let frame: EvmNode.Json = call("CALL", bob, carol, "0x1")
        for (let depth = 0; depth < 1_500; depth++) frame = { ...call("CALL", bob, carol, "0x0"), calls: [frame] }
        return inconsistent(blockOf({ ...recorded([{}]), callTracer: [frame] }), /deeper/)
      })
    })
  })

  describe("what does not belong together is inconsistent", () => {
    const good = recorded([
      { tx: { value: "0x1" } },
      {
        logs: [
          { topics: [], data: "0x" },
          { topics: [], data: "0x" }
        ]
      }
    ])
    const [first, second] = good.receipts as [EvmNode.Json, EvmNode.Json]
    const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
      "a receipt too few": [{ receipts: [first] }, /1 receipts for 2/],
      "a receipt too many": [{ receipts: [first, second, second] }, /3 receipts for 2/],
      "receipts in another order": [{ receipts: [second, first] }, /receipt 0 is not of transaction 0/],
      "a receipt of a foreign transaction": [
        { receipts: [first, { ...second, transactionHash: word("99") }] },
        /receipt 1 is not of transaction 1/
      ],
      "a receipt of another block": [
        { receipts: [first, { ...second, blockHash: word("b2") }] },
        /receipt 1 is of another block/
      ],
      "a receipt with another's index": [{ receipts: [first, { ...second, transactionIndex: "0x0" }] }, /index/],
      "a status of 2": [{ receipts: [first, { ...second, status: "0x2" }] }, /status/],
      "log indices that fall": [
        { receipts: [first, { ...second, logs: [...second.logs].reverse() }] },
        /log indices must rise/
      ],
      "receipts that do not hash to the header's root": [
        {
          block: { ...good.block, receiptsRoot: word("0b") },
          receipts: [first, second].map((receipt) => ({ ...receipt, logsBloom: `0x${"00".repeat(256)}` }))
        },
        /receiptsRoot/
      ],
      "another block than asked": [
        { block: { ...good.block, number: "0x65" } },
        /asked for block 100, answered block 101/
      ],
      "transactions without their content": [
        { block: { ...good.block, transactions: good.block.transactions.map((tx: EvmNode.Json) => tx.hash) } },
        /full transactions/
      ],
      "a transaction of another block": [
        {
          block: {
            ...good.block,
            transactions: [{ ...good.block.transactions[0], blockHash: word("b2") }, good.block.transactions[1]]
          }
        },
        /transaction 0 is of another block/
      ],
      "transactions in another order": [
        { block: { ...good.block, transactions: [...good.block.transactions].reverse() } },
        /not in its place/
      ],
      "a hash of 31 bytes": [
        { block: { ...good.block, parentHash: word("b0").slice(0, -2) } },
        /parentHash must be 0x and 64 hex digits/
      ],
      "a hash that is not hex": [{ block: { ...good.block, parentHash: `0x${"zz".repeat(32)}` } }, /parentHash/],
      "a hash of wide letters": [{ block: { ...good.block, parentHash: `0x${"ａ".repeat(64)}` } }, /parentHash/],
      "a time that is no integer": [{ block: { ...good.block, timestamp: `0x${"f".repeat(16)}` } }, /timestamp/],
      "a value that is a number": [
        {
          block: {
            ...good.block,
            transactions: [{ ...good.block.transactions[0], value: 1 }, good.block.transactions[1]]
          }
        },
        /transaction.value/
      ],
      "a block that is no object": [{ block: [] as never }, /block must be an object/]
    }
    for (const [name, [change, pattern]] of Object.entries(broken)) {
      it.live(name, () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([good])
          let node = answers
          const { source } = yield* sourceOf((method, params) => node(method, params), { internal: false })
          node = (method, params) =>
            method === "eth_getBlockByNumber" && change.block !== undefined
              ? change.block
              : method === "eth_getBlockReceipts" && change.receipts !== undefined
                ? change.receipts
                : answers(method, params)
          yield* inconsistent(source.blockAt(100), pattern)
        }).pipe(Effect.scoped)
      )
    }

    it.live("a root of zeros, or none, is a node that builds no trie", () =>
      Effect.gen(function* () {
        const receipts = good.receipts.map((receipt) => ({ ...receipt, logsBloom: `0x${"00".repeat(256)}` }))
        for (const receiptsRoot of [word("00"), null]) {
          const block = yield* blockOf({ ...good, receipts, block: { ...good.block, receiptsRoot } })
          assert.strictEqual(block.transfers.length, 1)
        }
      })
    )

    it.live("a block whose transactions were left out does not hash to its receiptsRoot", () =>
      inconsistent(blockOf(recorded([], { receiptsRoot: word("0b") })), /receiptsRoot/)
    )

    it.live("receipts of a block without transactions are not asked of a node that lacks them, and not believed", () =>
      Effect.gen(function* () {
        const empty = { ...recorded([]), receipts: [first] }
        assert.deepStrictEqual((yield* blockOf(empty)).transfers, [])
      })
    )

    it.live("receipts by number that are of another block, as in a reorganisation, are asked for by hash", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good])
        const { node, source } = yield* sourceOf((method, params) => {
          const answer = answers(method, params)
          return method === "eth_getBlockReceipts" && params[0] === "0x64"
            ? (answer as Array<EvmNode.Json>).map((receipt) => ({ ...receipt, blockHash: word("b2") }))
            : answer
        })
        assert.strictEqual((yield* source.blockAt(100)).transfers.length, 1)
        assert.deepStrictEqual(
          node.calls.filter(({ method }) => method === "eth_getBlockReceipts").map(({ params }) => params[0]),
          ["0x64", "0x64", word("b1")]
        )
      }).pipe(Effect.scoped)
    )

    it.live("block and receipts are one request, and traces a second for the very hash", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([good]))
        const before = node.requests()
        const calls = node.calls.length
        yield* source.blockAt(100)
        assert.strictEqual(node.requests() - before, 2)
        assert.deepStrictEqual(
          node.calls.slice(calls).map(({ method, params }) => [method, params[0]]),
          [
            ["eth_getBlockByNumber", "0x64"],
            ["eth_getBlockReceipts", "0x64"],
            ["debug_traceBlockByHash", word("b1")]
          ]
        )
      }).pipe(Effect.scoped)
    )

    it.live("a node that lost eth_getBlockReceipts, as after a fail-over, is asked for single receipts", () =>
      Effect.gen(function* () {
        let without: ReadonlyArray<string> = []
        const { source } = yield* sourceOf((method, params) => EvmNode.answers([good], { without })(method, params))
        const before = yield* source.blockAt(100)
        without = ["eth_getBlockReceipts"]
        assert.deepStrictEqual(yield* source.blockAt(100), before)
      }).pipe(Effect.scoped)
    )

    it.live("a receipt that is not there yet is inconsistent", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good], { without: ["eth_getBlockReceipts"] })
        const { source } = yield* sourceOf((method, params) =>
          method === "eth_getTransactionReceipt" ? null : answers(method, params)
        )
        yield* inconsistent(source.blockAt(100), /receipt 0 must be an object/)
      }).pipe(Effect.scoped)
    )
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
    it.live("a tracer that runs out of time says nothing: the source is not made, and tried again", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([block], { without: ["trace_block"] })
        const error = yield* Effect.flip(
          sourceOf((method, params) => {
            if (method === "debug_traceBlockByHash") throw new FakeNode.RpcError(-32000, "execution timeout")
            return answers(method, params)
          })
        )
        assert.deepInclude(error, { _tag: "NodeRejected", method: "debug_traceBlockByHash" })
      }).pipe(Effect.scoped)
    )
    it.live("a tracer is tried on a recent block that has transactions", () =>
      Effect.gen(function* () {
        const empty = recorded([], { number: "0x65", hash: word("b2") })
        const { node } = yield* sourceOf(EvmNode.answers([block, empty]))
        const traced = node.calls.filter(({ method }) => method === "debug_traceBlockByHash")
        assert.deepStrictEqual(
          traced.map(({ params }) => params),
          [[word("b1"), { tracer: "callTracer" }]]
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

  describe("each chain's own", () => {
    it.live("OP stack: system and deposit transactions; a mint moves nothing, and pays for what it covers", () =>
      Effect.gen(function* () {
        const deposit = (value: string, mint: string | undefined, status = "0x1") => ({
          tx: { type: "0x7e", value, mint, gasPrice: "0x0", sourceHash: word("50"), isSystemTx: false },
          receipt: { type: "0x7e", status, depositNonce: "0x1", depositReceiptVersion: "0x1" }
        })
        const block = recorded([
          {
            ...deposit("0x0", undefined),
            tx: { ...deposit("0x0", undefined).tx, from: "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001" }
          },
          deposit("0x5", "0x5"),
          deposit("0x0", "0x6"),
          deposit("0x7", undefined),
          deposit("0x8", "0x1"),
          deposit("0x9", "0x9", "0x0")
        ])
        for (const name of ["optimism", "base"]) {
          assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf(name))).transfers), [
            ["coin", undefined, bob, 5n],
            ["coin", alice, bob, 7n],
            ["coin", alice, bob, 8n]
          ])
        }
      })
    )

    it.live("Arbitrum: types 0x64 to 0x6a and 0x78; a deposit is paid by nobody on the chain", () =>
      Effect.gen(function* () {
        const block = recorded([
          {
            tx: {
              type: "0x6a",
              from: "0x00000000000000000000000000000000000a4b05",
              to: "0x00000000000000000000000000000000000a4b05"
            }
          },
          { tx: { type: "0x64", value: "0x1" } },
          { tx: { type: "0x65", value: "0x2" } },
          { tx: { type: "0x66", value: "0x3", to: null }, receipt: { contractAddress: carol } },
          { tx: { type: "0x68", value: "0x4" } },
          { tx: { type: "0x69", value: "0x0", retryValue: "0x9", depositValue: "0x9" } },
          { tx: { type: "0x78", value: "0x5" } }
        ])
        assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf("arbitrum"))).transfers), [
          ["coin", undefined, bob, 1n],
          ["coin", alice, bob, 2n],
          ["coin", alice, carol, 3n],
          ["coin", alice, bob, 4n],
          ["coin", alice, bob, 5n]
        ])
      })
    )

    it.live("Arbitrum: the tracer's own transfer lists and frame types are not taken for calls", () =>
      Effect.gen(function* () {
        const own = { purpose: "feePayment", from: alice, to: null, value: "0x7b" }
        const trace = {
          beforeEVMTransfers: [own],
          afterEVMTransfers: [own],
          calls: [{ type: "INVALID", from: bob, to: carol, value: "0x9" }]
        }
        assert.deepStrictEqual(
          (yield* blockOf(recorded([{ trace }]), { internal: true }, chainOf("arbitrum"))).transfers,
          []
        )
      })
    )

    describe("Polygon: the state-sync transaction at a block's end", () => {
      const log = { topics: [transferTopic, padded(zero), padded(carol)], data: `0x${"2a".padStart(64, "0")}` }
      const full = recorded([{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, gas: "0x0" }, logs: [log] }])
      const polygon = chainOf("polygon")
      const expected = [
        ["coin", alice, bob, 1n],
        ["token", zero, carol, 42n]
      ]
      it.live("with its receipt and trace", () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(movesOf((yield* blockOf(full, { internal: true }, polygon)).transfers), expected)
        })
      )
      it.live("without a trace, in either form, and with its receipt only by itself", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([{ ...full, callTracer: full.callTracer!.slice(0, 1) }], { chainId: "0x89" })
          const lists = (full.traceBlock as ReadonlyArray<EvmNode.Json>).filter((t) => t.transactionPosition === 0)
          const { source } = yield* sourceOf(
            (method, params) => {
              const answer = answers(method, params)
              return method === "eth_getBlockReceipts" ? (answer as Array<unknown>).slice(0, 1) : answer
            },
            { internal: true },
            polygon
          )
          assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), expected)
          const flat = { ...full, traceBlock: lists }
          const options = { internal: true, tracers: ["trace_block"] } as const
          assert.deepStrictEqual(
            movesOf((yield* blockOf(flat, options, polygon, { chainId: "0x89" })).transfers),
            expected
          )
        }).pipe(Effect.scoped)
      )
      it.live("any other transaction must have its receipt", () =>
        inconsistent(
          blockOf({ ...recorded([{}, {}]), receipts: recorded([{}]).receipts }, { internal: false }, polygon),
          /1 receipts for 2/
        )
      )
      it.live("its own type 0x7f of later blocks", () =>
        Effect.gen(function* () {
          const typed = recorded(
            [{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, type: "0x7f" }, logs: [log] }],
            {
              receiptsRoot: word("12")
            }
          )
          assert.deepStrictEqual(movesOf((yield* blockOf(typed, { internal: true }, polygon)).transfers), expected)
        })
      )
    })

    it.live("Ethereum: withdrawals are no transfers", () =>
      Effect.gen(function* () {
        const withdrawals = [{ index: "0x1", validatorIndex: "0x2", address: bob, amount: "0x3b9aca00" }]
        assert.deepStrictEqual(
          (yield* blockOf(recorded([], { withdrawals, withdrawalsRoot: word("11") }))).transfers,
          []
        )
      })
    )

    it.live("BNB Smart Chain: system transactions without a gas price move what they say", () =>
      Effect.gen(function* () {
        const block = recorded([
          { tx: { value: "0x5", gasPrice: "0x0", to: "0x0000000000000000000000000000000000001000" } }
        ])
        const { transfers } = yield* blockOf(block, { internal: true }, chainOf("binance-smart-chain"))
        assert.deepStrictEqual(movesOf(transfers), [["coin", alice, "0x0000000000000000000000000000000000001000", 5n]])
      })
    )

    it.live("Avalanche and Ethereum Classic: receipts without a type are legacy", () =>
      Effect.gen(function* () {
        const block = recorded([{ tx: { value: "0x5", type: undefined } }])
        for (const name of ["avalanche", "ethereum-classic"]) {
          assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf(name))).transfers), [
            ["coin", alice, bob, 5n]
          ])
        }
      })
    )
  })
})
