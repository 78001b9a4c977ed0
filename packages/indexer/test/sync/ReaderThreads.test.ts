import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { NodeSettings } from "@headwater/indexer/families/Family"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { bundleFolder } from "../../../../test/Program.ts"
import { half } from "../../../../test/Turn.ts"
import { ReaderMachine, type Thread } from "../../src/sync/internal/ReaderMachine.ts"
import type { Options } from "../../src/sync/internal/ReaderMessage.ts"
import * as FakeNode from "../FakeNode.ts"
import * as Fixtures from "../Fixtures.ts"
import * as EvmNode from "../families/evm/EvmNode.ts"
import * as SealedBlock from "../families/evm/SealedBlock.ts"
import * as TronBlocks from "../families/tron/TronBlocks.ts"
import * as TronNode from "../families/tron/TronNode.ts"
import * as UtxoBlocks from "../families/utxo/UtxoBlocks.ts"
import * as UtxoNode from "../families/utxo/UtxoNode.ts"
import * as XrpLedgers from "../families/xrp/XrpLedgers.ts"
import * as XrpServer from "../families/xrp/XrpServer.ts"
import * as InProcessReader from "./InProcessReader.ts"

const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))

const settingsOf = (url: string, more: Partial<NodeSettings> = {}): NodeSettings => ({
  nodes: [Redacted.make(url)],
  start: 0,
  timeoutMillis: 20_000,
  parallel: 4,
  verify: "roots",
  internalTransactions: true,
  announcements: false,
  ...more
})

/** Every block but the newest is past. */
const bounds = { distance: 1, worthMillis: 0, paceBlocks: 0, cpuMillis: () => 0, idleMillis: 60_000 }

const counted = (id: string) =>
  Effect.map(Metric.snapshot, (all) =>
    all.reduce(
      (sum, metric) => (metric.id === id && metric.type === "Counter" ? sum + Number(metric.state.count) : sum),
      0
    )
  )

const readByThreads = counted("headwater_blocks_read_by_threads_total")

/** Threads as the package holds them, which start in a third of the time, unless a test has a machine of its own. */
const machine = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed(
    context.mapUnsafe.has(ReaderMachine.key)
      ? Context.get(context, ReaderMachine)
      : {
          start: (options: Options): Thread =>
            new Worker(join(bundleFolder, "ReaderThread.worker.js"), { workerData: options }) as unknown as Thread
        }
  )
)

const open = (chain: Chain.Chain, settings: NodeSettings, threads = 2, within = bounds) =>
  ChainConnection.open(chain, settings).pipe(
    Effect.provideServiceEffect(
      ReaderThreads.Current,
      Effect.provideService(ReaderThreads.make({ threads }), ReaderThreads.Bounds, within)
    ),
    Effect.provideServiceEffect(ReaderMachine, machine)
  )

type Opened = Effect.Success<ReturnType<typeof open>>

const read = ({ source }: Opened, heights: ReadonlyArray<number>) =>
  Effect.forEach(heights, (height) => source.blockAt(height), { concurrency: 4 })

/** Waits until a thread has read one of the blocks. */
const untilReady = Effect.fnUntraced(function* (node: Opened, heights: ReadonlyArray<number>) {
  const before = yield* readByThreads
  while ((yield* readByThreads) === before) {
    yield* read(node, heights)
    yield* Effect.sleep("20 millis")
  }
})

/**
 * Blocks by a thread, and the blocks that the node's are without threads; `plain` makes both comparable. Each thread has its
 * modules to load, which takes longer than all else.
 */
const assertSame = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  settings: NodeSettings,
  heights: ReadonlyArray<number>,
  plain: (block: Block) => unknown = (block) => block,
  threads = 1
) {
  const node = yield* open(chain, settings, threads)
  yield* untilReady(node, heights)
  const before = yield* readByThreads
  const blocks = yield* read(node, heights)
  assert.isAtLeast((yield* readByThreads) - before, heights.length - 2)
  const expected = yield* read(yield* ChainConnection.open(chain, settings), heights)
  assert.deepStrictEqual(blocks.map(plain), expected.map(plain))
  return blocks
})

/** With counters of its own, and the lines of its log. */
const apart = <A, E, R>(test: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  return Effect.scoped(test(lines)).pipe(
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provide(Logger.layer([Logger.make(({ message }) => lines.push(String(message)))]))
  )
}

const tronBlocks = (first: number, count: number) =>
  TronBlocks.linked(
    Array.from({ length: count }, (_, index) => {
      const height = first + index
      const transactions = [TronBlocks.transfer(1, 2, index + 1), TronBlocks.call(1, 50)]
      return TronBlocks.blockOf(height, transactions, [
        TronBlocks.infoOf(transactions[0]!, height),
        TronBlocks.infoOf(transactions[1]!, height, {
          contract_address: TronBlocks.account(50),
          log: [TronBlocks.trc20(50, 2, 3, 2n ** 200n + BigInt(index)), TronBlocks.trc721(51, 3, 4, 7n)],
          internal_transactions: [TronBlocks.internal(50, 3, 5)]
        })
      ])
    })
  )

const first = 20_000_000
const heightsOf = (count: number) => Array.from({ length: count }, (_, index) => first + index)

/** A node of small blocks, and how it is asked for them. */
const smallNode = Effect.map(
  Effect.suspend(() => TronNode.make({ blocks: tronBlocks(first, 40) })),
  (node) => ({ node, settings: settingsOf(node.url), heights: heightsOf(39) })
)

describe("blocks by threads are those of the main thread", () => {
  it.live("Tron", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const [block] = yield* assertSame(TronBlocks.mainnet, settings, heights, undefined, 2)
        assert.isAtLeast(block!.transfers.length, 3)
      })
    )
  )

  it.live.each(half("transports", ["httpUrl", "wsUrl"] as const))("XRP Ledger, %s", (url) =>
    apart(() =>
      Effect.gen(function* () {
        const ledgers = XrpLedgers.chainOf(
          first,
          20,
          (height) =>
            [
              { drops: BigInt(height), from: 1, to: 2 },
              { drops: 5n, from: 2, to: 3 }
            ] as never
        )
        const server = yield* XrpServer.make({ ledgers })
        const blocks = yield* assertSame(XrpLedgers.mainnet, settingsOf(server[url]), heightsOf(19))
        assert.isAtLeast(blocks[0]!.transfers.length, 2)
      })
    )
  )

  for (const kind of half("forms of blocks", ["core", "boolean"] as const, 2)) {
    it.live(`Bitcoin family, ${kind === "core" ? "decoded by the node" : "raw"}`, () =>
      apart(() =>
        Effect.gen(function* () {
          const { url } = yield* FakeNode.make(UtxoNode.answers(kind, UtxoBlocks.part))
          const heights = UtxoBlocks.part.blocks.map(({ height }) => height)
          const settings = settingsOf(url)
          const chain = chainOf("bitcoin")
          const node = yield* open(chain, settings, 1, { ...bounds, distance: 0 })
          yield* untilReady(node, heights)
          const blocks = yield* read(node, heights)
          const expected = yield* read(yield* ChainConnection.open(chain, settings), heights)
          assert.deepStrictEqual(blocks.map(UtxoNode.plain), expected.map(UtxoNode.plain))
        })
      )
    )
  }

  describe.skipIf(!Fixtures.exist)("recorded", () => {
    it.live("Ethereum, with token transfers, logs and internal transactions", () =>
      apart(() =>
        Effect.gen(function* () {
          const { recorded } = EvmNode.bundle("ethereum-17053184")
          const blocks: Array<EvmNode.RecordedBlock> = []
          for (const height of heightsOf(10)) {
            const parent = blocks.at(-1)?.block.hash ?? recorded.block.hash
            blocks.push(SealedBlock.repeated(recorded, 50, 1, { height, parent, time: 1_700_000_000 + height }))
          }
          const { url } = yield* FakeNode.make(EvmNode.answers(blocks))
          const [block] = yield* assertSame(chainOf("ethereum"), settingsOf(url), heightsOf(9))
          const kinds = new Set(block!.transfers.map(({ kind }) => kind))
          assert.deepStrictEqual([...kinds].sort(), ["coin", "internal", "token"])
          assert.isNotEmpty(block!.logs)
        })
      )
    )

    it.live("small blocks of Ethereum, which share requests as many as the threads say", () =>
      apart(() =>
        Effect.gen(function* () {
          const { recorded } = EvmNode.bundle("ethereum-17053184")
          const blocks: Array<EvmNode.RecordedBlock> = []
          for (const height of heightsOf(41)) {
            const parent = blocks.at(-1)?.block.hash ?? recorded.block.hash
            blocks.push(SealedBlock.repeated(recorded, 1, 1, { height, parent, time: 1_700_000_000 + height }))
          }
          const fake = yield* FakeNode.make(EvmNode.answers(blocks))
          yield* assertSame(chainOf("ethereum"), settingsOf(fake.url), heightsOf(40))
          const node = yield* open(chainOf("ethereum"), settingsOf(fake.url), 1)
          assert.isAtMost(node.source.blocksOfRequest!(), 1)
          yield* untilReady(node, heightsOf(40))
          yield* read(node, heightsOf(40))
          assert.isAtLeast(node.source.blocksOfRequest!(), 5)
          const requests = fake.requests()
          yield* read(node, heightsOf(40))
          assert.isAtMost(fake.requests() - requests, 60)
        })
      )
    )

    const statistics = Fixtures.path("utxo-blocks/bitcoin-core/test/functional/data/rpc_getblockstats.json")
    it.live.skipIf(!existsSync(statistics))("raw blocks of Bitcoin Core", () =>
      apart(() =>
        Effect.gen(function* () {
          const { blocks } = JSON.parse(readFileSync(statistics, "utf8")) as { readonly blocks: ReadonlyArray<string> }
          const bitcoin = chainOf("bitcoin", "regtest")
          assert.isNotEmpty(blocks)
          const [read, part] = yield* rawChain(blocks)
          const { url } = yield* FakeNode.make(UtxoNode.answers("boolean", part))
          yield* assertSame(bitcoin, settingsOf(url), read.slice(0, -1), UtxoNode.plain)
        })
      )
    )

    it.live("a ledger of the XRP Ledger", () =>
      apart(() =>
        Effect.gen(function* () {
          const recorded = Fixtures.json(
            "xrp/rippled-historical-database/test/mock/ledgers/11119619.json"
          ) as XrpServer.Json
          const ledgers = XrpLedgers.sealed(
            heightsOf(4).map((height) => ({
              ...{ parent_close_time: recorded.close_time, close_flags: 0, ...recorded },
              ledger_index: String(height)
            }))
          )
          const server = yield* XrpServer.make({ ledgers })
          yield* assertSame(XrpLedgers.mainnet, settingsOf(server.httpUrl), heightsOf(3))
        })
      )
    )
  })
})

/** Raw blocks as a node has them that shows no more than ids. */
const rawChain = Effect.fnUntraced(function* (raws: ReadonlyArray<string>) {
  const RawBlock = yield* Effect.promise(() => import("../../src/families/utxo/internal/RawBlock.ts"))
  const { RawBytes } = yield* Effect.promise(() => import("../../src/families/utxo/internal/RawBytes.ts"))
  const TimeSlice = yield* Effect.promise(() => import("@headwater/indexer/TimeSlice"))
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const reversed = (bytes: Uint8Array) => hex(Uint8Array.from(bytes).reverse())
  const blocks = raws.map((raw, height): UtxoNode.NodeBlock => {
    const bytes = Buffer.from(raw, "hex")
    const counting = new RawBytes(bytes)
    counting.skip(80)
    const unlisted = new Array<Uint8Array>(counting.size()).fill(new Uint8Array(32))
    const block = TimeSlice.atOnce(RawBlock.read(chainOf("bitcoin", "regtest"), bytes, unlisted))
    return {
      hash: hex(block.hash!),
      height,
      confirmations: 1,
      version: bytes.readInt32LE(0),
      versionHex: reversed(bytes.subarray(0, 4)),
      merkleroot: hex(block.merkleRoot),
      time: bytes.readUInt32LE(68),
      mediantime: bytes.readUInt32LE(68),
      nonce: bytes.readUInt32LE(76),
      bits: reversed(bytes.subarray(72, 76)),
      difficulty: 1,
      chainwork: "00".repeat(32),
      nTx: block.body.transactions.length,
      size: bytes.length,
      strippedsize: bytes.length,
      weight: bytes.length * 4,
      ...(height === 0 ? {} : { previousblockhash: reversed(bytes.subarray(4, 36)) }),
      tx: block.body.transactions.map(hex)
    }
  })
  const part = { blocks, raw: Object.fromEntries(blocks.map(({ hash }, index) => [hash, raws[index]!])) }
  return [blocks.map(({ height }) => height), part] as const
})

/** Threads in this process, which are told apart by their order. */
const inProcess = (started: Array<InProcessReader.InProcessThread>, deliver: (message: () => void) => void) => ({
  start: () => {
    const thread = InProcessReader.start(Context.empty(), deliver)
    started.push(thread)
    return thread
  }
})

describe("threads start where what is left takes long", () => {
  /** How many are started; each look at the CPU that was taken takes so much, and `pass` so long. */
  const started = Effect.fnUntraced(function* (
    stepMillis: number,
    paceBlocks: number,
    reading: (
      node: Opened,
      heights: ReadonlyArray<number>,
      pass: (millis: number) => void
    ) => Effect.Effect<unknown, unknown>
  ) {
    const { heights, settings } = yield* smallNode
    const threads: Array<InProcessReader.InProcessThread> = []
    let millis = 0
    const clock = yield* Clock.Clock
    const timed: Clock.Clock = Object.assign(Object.create(clock), {
      monotonicTimeNanosUnsafe: () => BigInt(millis) * 1_000_000n
    })
    const cpuMillis = () => {
      millis += stepMillis
      return millis
    }
    yield* Effect.gen(function* () {
      const node = yield* open(TronBlocks.mainnet, settings, 1, { ...bounds, worthMillis: 300, paceBlocks, cpuMillis })
      yield* reading(node, heights, (passed) => {
        millis += passed
      })
    }).pipe(
      Effect.provideService(ReaderMachine, inProcess(threads, setImmediate)),
      Effect.provideService(Clock.Clock, timed)
    )
    return threads.length
  })

  it.live("none for blocks that are soon read", () =>
    apart(() => Effect.map(started(0, 0, read), (threads) => assert.strictEqual(threads, 0)))
  )

  it.live("one once the pace says that it pays", () =>
    apart(() => Effect.map(started(10, 0, read), (threads) => assert.strictEqual(threads, 1)))
  )

  it.live("none before enough blocks were read to know the pace", () =>
    apart(() => Effect.map(started(10, 1_000, read), (threads) => assert.strictEqual(threads, 0)))
  )

  it.live("after a block near the head the pace is measured anew", () =>
    apart(() =>
      Effect.gen(function* () {
        const threads = yield* started(0, 0, (node, heights, pass) =>
          Effect.gen(function* () {
            yield* read(node, heights.slice(0, 4))
            yield* node.source.blockAt(first + 39)
            pass(3_600_000)
            yield* read(node, heights)
          })
        )
        assert.strictEqual(threads, 0)
      })
    )
  )

  it.live("after a pause the pace is measured anew: what is read now and then needs none", () =>
    apart(() =>
      Effect.gen(function* () {
        const threads = yield* started(0, 0, (node, heights, pass) =>
          Effect.gen(function* () {
            for (let time = 0; time < 3; time++) {
              yield* read(node, heights.slice(0, 8))
              pass(3_600_000)
            }
          })
        )
        assert.strictEqual(threads, 0)
      })
    )
  )
})

describe("a thread that ends", () => {
  it.live("loses nothing: what it was reading is read again, in order, and the log says so", () =>
    apart((lines) =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const started: Array<InProcessReader.InProcessThread> = []
        const machine = inProcess(started, (message) => setTimeout(message, 1))
        const node = yield* Effect.provideService(open(TronBlocks.mainnet, settings), ReaderMachine, machine)
        yield* untilReady(node, heights)
        const given: Array<number> = []
        yield* Stream.fromIterable(heights).pipe(
          Stream.mapEffect((height) => node.source.blockAt(height), { concurrency: 4 }),
          Stream.runForEach(({ height }) =>
            Effect.sync(() => {
              given.push(height)
              if (height === first + 10) started[0]!.crash()
              if (height === first + 20) started[1]!.crash()
            })
          )
        )
        assert.deepStrictEqual(given, heights)
        const ended = lines.filter((line) => line.includes("A thread that reads blocks has ended"))
        assert.lengthOf(ended, 2)
        assert.include(ended[0], "ERR_WORKER_OUT_OF_MEMORY")
        assert.notInclude(lines.join(), "secret")
      })
    )
  )

  it.live("a real one without memory, and one that is ended", () =>
    apart((lines) =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const poor = {
          start: (): Thread =>
            new Worker(new URL("../../src/sync/internal/ReaderThread.worker.ts", import.meta.url), {
              ...{ workerData: { minimumLogLevel: "Info" }, resourceLimits: { maxOldGenerationSizeMb: 4 } },
              stderr: true
            }) as unknown as Thread
        }
        const node = yield* Effect.provideService(open(TronBlocks.mainnet, settings, 1), ReaderMachine, poor)
        while (!lines.some((line) => line.includes("ERR_WORKER_OUT_OF_MEMORY"))) {
          const blocks = yield* read(node, heights)
          assert.deepStrictEqual(
            blocks.map(({ height }) => height),
            heights
          )
          yield* Effect.sleep("20 millis")
        }
        assert.strictEqual(yield* readByThreads, 0)
      })
    )
  )

  it.live("where none can start, blocks are read without", () =>
    apart((lines) =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const machine = {
          start: (): Thread => {
            throw Object.assign(new Error("at http://user:secret@node"), { code: "ERR_WORKER_INIT_FAILED" })
          }
        }
        const node = yield* Effect.provideService(open(TronBlocks.mainnet, settings), ReaderMachine, machine)
        assert.lengthOf(yield* read(node, heights), heights.length)
        assert.isTrue(lines.some((line) => line.includes("ERR_WORKER_INIT_FAILED")))
        assert.notInclude(lines.join(), "secret")
      })
    )
  )

  it.live("one that hangs is ended, and what it was reading is read again", () =>
    apart((lines) =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        let hangs = false
        const machine = inProcess([], (message) => {
          if (!hangs) setTimeout(message, 1)
        })
        const node = yield* open(TronBlocks.mainnet, settings, 1, { ...bounds, idleMillis: 200 }).pipe(
          Effect.provideService(ReaderMachine, machine)
        )
        yield* untilReady(node, heights)
        hangs = true
        assert.lengthOf(yield* read(node, heights), heights.length)
        assert.isTrue(lines.some((line) => line.includes("has ended (no sign of life)")))
      })
    )
  )

  it.live("a read that is given up is given up in the thread, and the scope ends the threads", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, node: tron, settings } = yield* smallNode
        const started: Array<InProcessReader.InProcessThread> = []
        const sent: Array<string> = []
        const machine = {
          start: () => {
            const thread = InProcessReader.start(Context.empty(), (message) => setImmediate(message))
            started.push(thread)
            return {
              ...thread,
              postMessage: (request: Parameters<Thread["postMessage"]>[0]) => {
                sent.push(request.kind)
                thread.postMessage(request)
              },
              terminate: () => {
                sent.push("terminate")
                return thread.terminate()
              }
            }
          }
        }
        yield* Effect.gen(function* () {
          const node = yield* Effect.provideService(open(TronBlocks.mainnet, settings), ReaderMachine, machine)
          yield* untilReady(node, heights)
          // The node hangs from now on.
          tron.override = (path) =>
            path === "/wallet/getblockbynum" || path === "/wallet/getblock" ? new Promise(() => {}) : undefined
          const fiber = yield* Effect.forkChild(read(node, heights))
          while (sent.lastIndexOf("read") < 0) yield* Effect.sleep("5 millis")
          yield* Effect.sleep("50 millis")
          yield* Fiber.interrupt(fiber)
          assert.include(sent, "giveUp")
        }).pipe(Effect.scoped)
        assert.lengthOf(
          sent.filter((kind) => kind === "terminate"),
          started.length
        )
      })
    )
  )
})

describe("a thread asks nodes as the main thread does", () => {
  it.live("with the settings' credentials, and the next node where one is down", () =>
    apart((lines) =>
      Effect.gen(function* () {
        const { heights, node: tron, settings } = yield* smallNode
        const down = yield* FakeNode.http((_, response) => void response.writeHead(503).end())
        const password = "a password of the node"
        yield* assertSame(
          TronBlocks.mainnet,
          {
            ...settings,
            nodes: [Redacted.make(down.url), ...settings.nodes],
            ...{ user: "headwater", password: Redacted.make(password) }
          },
          heights
        )
        const expected = `Basic ${Buffer.from(`headwater:${password}`).toString("base64")}`
        assert.deepStrictEqual([...new Set(tron.requests.map(({ headers }) => headers.authorization))], [expected])
        assert.notInclude(lines.join(), password)
      })
    )
  )
})

describe("what a thread does not give, the main thread reads", () => {
  it.live("failures are those of the main thread, and both count in the metrics", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, node: tron, settings } = yield* smallNode
        const node = yield* open(TronBlocks.mainnet, settings, 1)
        yield* untilReady(node, heights)
        tron.override = (path, { id_or_num, num }) =>
          String(id_or_num ?? num) === String(first + 7) && path !== "/wallet/gettransactioninfobyblocknum"
            ? 500
            : undefined
        const results = yield* Effect.forEach(
          heights.slice(0, 12),
          (height) => Effect.result(node.source.blockAt(height)),
          {
            concurrency: 4
          }
        )
        assert.deepStrictEqual(
          results.flatMap((result, index) => (Result.isFailure(result) ? [[index, result.failure._tag]] : [])),
          [[7, "NodeUnreachable"]]
        )
        // As many attempts by the thread as by the main thread.
        assert.isAtLeast(yield* counted("headwater_node_errors_total"), 8)
        tron.override = undefined
        assert.lengthOf(yield* read(node, heights), heights.length)
      })
    )
  )

  it.live("a block that cannot be made a message", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        let failures = -1
        const machine = {
          start: () =>
            InProcessReader.start(
              Context.empty(),
              (message) => setImmediate(message),
              (message, transfer = []) => {
                if (failures >= 0 && (message as { readonly kind: string }).kind === "block") {
                  failures++
                  throw new RangeError("Array buffer allocation failed")
                }
                return structuredClone(message, { transfer: [...transfer] })
              }
            )
        }
        const node = yield* Effect.provideService(open(TronBlocks.mainnet, settings), ReaderMachine, machine)
        yield* untilReady(node, heights)
        failures = 0
        assert.lengthOf(yield* read(node, heights), heights.length)
        assert.isAtLeast(failures, 1)
      })
    )
  )

  it.live("a block alone, and blocks near the head, are never a thread's", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const node = yield* open(TronBlocks.mainnet, settings, 1)
        yield* untilReady(node, heights)
        const before = yield* readByThreads
        for (const height of heights) yield* node.source.blockAt(height)
        yield* read(node, [first + 39, first + 39, first + 39])
        assert.strictEqual(yield* readByThreads, before)
      })
    )
  )

  it.live("a block whose answers are above a thread's share of bytesInFlight", () =>
    apart(() =>
      Effect.gen(function* () {
        const { heights, settings } = yield* smallNode
        const started: Array<InProcessReader.InProcessThread> = []
        const machine = inProcess(started, setImmediate)
        // Of 4,000 bytes each of four threads has 1,000: less than a block's answer.
        const node = yield* open(TronBlocks.mainnet, { ...settings, bytesInFlight: 4_000 }, 4).pipe(
          Effect.provideService(ReaderMachine, machine)
        )
        for (let round = 0; round < 5; round++) {
          assert.lengthOf(yield* read(node, heights), heights.length)
          yield* Effect.sleep("50 millis")
        }
        assert.lengthOf(started, 4)
        assert.strictEqual(yield* readByThreads, 0)
      })
    )
  )
})
