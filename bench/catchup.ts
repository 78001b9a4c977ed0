/**
 * Catching up with more than one core: recorded blocks of a mainnet's usual size, from a node in another process into SQLite,
 * fetched, proved (`verify = "roots"`), decoded, matched and committed in order. One core beside two, both with `taskset`, in
 * turns: one core without threads, and two with them; beside two without threads, which use the second core for the store.
 *
 *     node bench/catchup.ts [chains, ethereum,bitcoin,bitcoin-raw] [blocks, 120] [rounds, 5] [threads, 1]
 *
 * A chain's name with `-raw` is of a node that shows no prevouts, whose blocks are read from their bytes.
 *
 * The node answers what it has sent before from memory, so that it takes little of the cores. A ratio of wall times wants a
 * machine that is quiet but for this; the bench says how much of the time others have taken, and the CPU of each thread, by which
 * the ratio can be judged on a busy one. Needs the recorded blocks.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as ChainSettings from "@headwater/indexer/sync/ChainSettings"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Comparison from "./Comparison.ts"
import * as MainnetNodes from "./MainnetNodes.ts"
import { median } from "./Samples.ts"

interface Task {
  readonly blockchain: string
  readonly settings: object
  readonly threads: number
  readonly first: number
  /** Blocks that are caught up with before the time begins, by which threads have started and code is compiled. */
  readonly warm: number
}

interface Measured {
  readonly seconds: number
  /** CPU seconds of each thread that worked, by its name, the most first. */
  readonly cpu: ReadonlyArray<readonly [name: string, seconds: number]>
  /** Seconds that threads were ready and had no core. */
  readonly waited: number
  readonly megabytes: number
}

/** CPU time and waiting time of each thread of this process, in seconds. */
const threadTimes = () =>
  new Map(
    readdirSync("/proc/self/task").map((task) => {
      const [cpu, waited] = readFileSync(`/proc/self/task/${task}/schedstat`, "utf8").split(" ").map(Number)
      return [task, [cpu! / 1e9, waited! / 1e9]] as const
    })
  )

const run = ({ blockchain, first, settings: written, threads, warm }: Task) =>
  Effect.gen(function* () {
    const chain = Result.getOrThrow(Chain.find(blockchain, "mainnet"))
    const settings = yield* Schema.decodeUnknownEffect(ChainSettings.schema(chain))({
      ...written,
      start: first,
      record: "all"
    })
    const node = yield* ChainConnection.open(chain, settings)
    const store = yield* ChainStore.open(chain, settings)
    const head = yield* node.source.head
    const options = {
      ...{ start: first, pollInterval: Duration.millis(100), undoDepth: settings.undoDepth },
      concurrency: settings.parallel
    }
    const warming = {
      ...node.source,
      head: Effect.map(node.source.hashAt(first + warm), (hash) => ({ ...head, hash, height: first + warm }))
    }
    const warmUp = yield* Follow.make(warming, store, options)
    yield* warmUp.step
    yield* Effect.sleep("2 seconds")
    const before = threadTimes()
    const begin = performance.now()
    const follow = yield* Follow.make(node.source, store, options)
    yield* follow.step
    const seconds = (performance.now() - begin) / 1000
    const after = [...threadTimes()].map(([task, [cpu, waited]]) => {
      const [cpuBefore, waitedBefore] = before.get(task) ?? [0, 0]
      const name = readFileSync(`/proc/self/task/${task}/comm`, "utf8").trim()
      return { name, cpu: cpu - cpuBefore, waited: waited - waitedBefore }
    })
    const busy = after.filter(({ cpu }) => cpu > 0.05)
    const height = (yield* store.cursor)?.height
    if (height !== head.height) throw new Error(`caught up to ${height}, not to ${head.height}`)
    return {
      seconds,
      cpu: busy.map(({ cpu, name }) => [name, cpu] as const).sort(([, a], [, b]) => b - a),
      waited: busy.reduce((sum, { waited }) => sum + waited, 0),
      megabytes: Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024
    } satisfies Measured
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.mergeAll(
        Database.layer({ kind: "sqlite", file: join(process.cwd(), "store.db") }),
        ChainStatus.layer,
        ReaderThreads.layer({ threads }).pipe(
          Layer.provide(
            Layer.succeed(ReaderThreads.Bounds, {
              ...{ distance: 2, worthMillis: 0, paceBlocks: 0, cpuMillis: () => 0, idleMillis: 60_000 }
            })
          )
        )
      )
    )
  )

const child = (cores: string, task: Task) =>
  new Promise<Measured>((resolve, reject) => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-catchup-"))
    const file = fileURLToPath(import.meta.url)
    const started = spawn("taskset", ["-c", cores, process.execPath, file, "--task", JSON.stringify(task)], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] }
    })
    let text = ""
    started.stdout.on("data", (chunk) => {
      text += chunk
    })
    started.on("exit", (code) => {
      rmSync(folder, { recursive: true, force: true })
      const line = text.trim().split("\n").at(-1) ?? ""
      if (code === 0 && line.startsWith("{")) resolve(JSON.parse(line) as Measured)
      else reject(new Error(`ended with ${code}: ${text}`))
    })
  })

const sum = (cpu: Measured["cpu"]) => cpu.reduce((sum, [, seconds]) => sum + seconds, 0)
const startNodes = (blockchain: string, blocks: number, shown: "prevouts" | "raw") =>
  new Promise<{ readonly nodes: ChildProcess; readonly ready: MainnetNodes.Ready }>((resolve) => {
    const file = fileURLToPath(new URL("./MainnetNodes.ts", import.meta.url))
    const nodes = fork(file, [String(blocks + 2), blockchain, String(blocks + 2), shown])
    nodes.once("message", (ready: MainnetNodes.Ready) => resolve({ nodes, ready }))
  })

const grow = (nodes: ChildProcess, blockchain: string, blocks: number) =>
  new Promise<void>((resolve) => {
    let left = blocks
    const listener = () => {
      if (--left > 0) return
      nodes.off("message", listener)
      resolve()
    }
    nodes.on("message", listener)
    for (let block = 0; block < blocks; block++) nodes.send(blockchain)
  })

const compare = async () => {
  const [chains = "ethereum,bitcoin,bitcoin-raw", blocksText = "120", roundsText = "5", threadsText = "1"] =
    process.argv.slice(2)
  const [blocks, rounds, threads] = [Number(blocksText), Number(roundsText), Number(threadsText)]
  const warm = Math.floor(blocks * 0.4)
  for (const name of chains.split(",")) {
    const blockchain = name.replace(/-raw$/, "")
    const { nodes, ready } = await startNodes(blockchain, blocks, name === blockchain ? "prevouts" : "raw")
    await grow(nodes, blockchain, blocks)
    const task = { blockchain, settings: ready.nodes[blockchain]!.settings, first: MainnetNodes.firstHeight, warm }
    const ways = {
      one: () => child("0", { ...task, threads: 0 }),
      plain: () => child("0,1", { ...task, threads: 0 }),
      two: () => child("0,1", { ...task, threads })
    }
    const measured = { one: [], plain: [], two: [] } as Record<keyof typeof ways, Array<Measured>>
    // The node has made its answers once.
    await ways.two()
    for (let round = 0; round < rounds; round++) {
      for (const way of ["one", "plain", "two"] as const) measured[way].push(await ways[way]())
      const line = (["one", "plain", "two"] as const).map((way) => {
        const { cpu, megabytes, seconds, waited } = measured[way].at(-1)!
        const all = cpu.map(([name, one]) => `${name} ${one.toFixed(2)}`).join(" + ")
        return `${way} ${seconds.toFixed(2)} s (CPU ${all}; waited ${waited.toFixed(2)}; ${megabytes.toFixed(0)} MB)`
      })
      console.log(`${name}, round ${round + 1}: ${line.join(", ")}`)
    }
    const rates = (way: keyof typeof ways) => measured[way].map(({ seconds }) => (blocks - warm) / seconds)
    const ratio = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) => median(a.map((one, i) => one / b[i]!))
    const [one, plain, two] = [rates("one"), rates("plain"), rates("two")]
    const bound = median(
      measured.two.map(
        ({ cpu: [[, most] = ["", 0], ...others] }, round) =>
          sum(measured.one[round]!.cpu) / Math.max(most, (most + sum(others)) / 2)
      )
    )
    console.log(
      `${name}: ${median(one).toFixed(1)} blocks/s on one core, ${median(plain).toFixed(1)} on two without threads ` +
        `(${ratio(plain, one).toFixed(2)} times), ${median(two).toFixed(1)} on two with ${threads} threads (${ratio(two, one).toFixed(2)} times); ` +
        `by CPU time alone, on two free cores, ${bound.toFixed(2)} times`
    )
    Comparison.report({
      ...{ work: `catching up with ${name} on two cores, threads: ${threads}`, unit: "blocks/s", better: "more" },
      ...{ ours: two, peer: { name: "two without threads", values: plain }, floor: { name: "one core", values: one } }
    })
    nodes.kill("SIGKILL")
  }
}

if (process.argv[2] === "--task") {
  console.log(JSON.stringify(await Effect.runPromise(run(JSON.parse(process.argv[3]!) as Task))))
  process.exit(0)
} else await compare()
