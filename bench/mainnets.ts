/**
 * All sixteen mainnets on one daemon with a million subscriptions, `record = "watched"`, SQLite and the settings that nobody
 * changed: CPU of each chain's blocks, the multiple of real time that one core sustains, memory, and how late callbacks
 * come. Nodes are in another process: chains of recorded transactions, blocks as large and as often as each network's
 * (`bench/MainnetNodes.ts` says by which source), announced as each family announces them, proved at `verify = "roots"`.
 *
 *     node bench/mainnets.ts [subscriptions, 1000000] [pace of the run, 10] [its seconds, 30]
 *                            [blocks of each chain alone, 20, or a minute's where they are more] [minutes before, 10]
 *
 * First as many blocks as these minutes have in reality, as fast as the daemon takes them: Node compiles what runs often while a
 * process runs, and a block of a fast chain costs a third less then. Then the chains one after the other, a block at a time, which
 * tells what a block costs; then all at once, `pace` times as fast as in reality. Needs the recorded blocks.
 */
import { type ChildProcess, fork } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Folder from "../test/Folder.ts"
import * as Headwater from "../test/Headwater.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as MachineTime from "./MachineTime.ts"
import * as MainnetNodes from "./MainnetNodes.ts"
import * as Receiver from "./Receiver.ts"
import * as Comparison from "./Comparison.ts"
import { percentile } from "./Samples.ts"

const [subscriptions = 1_000_000, pace = 10, seconds = 30, alone = 20, minutes = 10] = process.argv.slice(2).map(Number)
const idleSeconds = 10

const mainnets = MainnetNodes.all.map((mainnet) => ({
  ...mainnet,
  chain: Result.getOrThrow(Chain.find(mainnet.blockchain, "mainnet"))
}))

/** CPU seconds of a process, all its threads that still run. */
const cpuOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e9,
    0
  )

/** Megabytes: at present, and at most. */
const memoryOf = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024
  return { now: of("VmRSS"), most: of("VmHWM") }
}

/** An address as the family has them, and as nobody else: a script that pays a key's hash, or an account. */
const addressOf = (chain: Chain.Chain) => {
  const key = crypto.getRandomValues(new Uint8Array(20))
  return (chain.family === "utxo"
    ? Buffer.concat([Buffer.from("76a914", "hex"), key, Buffer.from("88ac", "hex")])
    : key) as unknown as AddressBytes
}

/** The chains in the order in which their blocks come in reality, at least three of each. */
const inOrder = mainnets
  .flatMap(({ blockSeconds, blockchain }) => {
    const blocks = Math.max(3, Math.round((minutes * 60) / blockSeconds))
    return Array.from({ length: blocks }, (_, n) => ({ blockchain, at: (n + 0.5) / blocks }))
  })
  .toSorted((a, b) => a.at - b.at)

/** Rows that nobody's block touches, spread over all chains, before a daemon opens the store. */
const fill = Effect.gen(function* () {
  const { insertMany, query, transaction } = yield* Database
  const { create } = yield* Subscriptions
  const each = Math.ceil(subscriptions / mainnets.length)
  for (const { chain } of mainnets) {
    yield* create({
      ...{ account: 1_000, chain, address: addressOf(chain), secret: "a secret of the benchmark" },
      ...({ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: false } as const),
      callbackUrl: "https://elsewhere.test/callbacks"
    })
    const [row] = yield* query((db) => db.selectFrom("chain").selectAll().where("name", "=", Chain.nameOf(chain)))
    const [model] = yield* query((db) =>
      db.selectFrom("subscription").selectAll().where("chain", "=", row!.id).limit(1)
    )
    const { id: _, ...same } = model!
    for (let first = 0; first < each; first += 10_000) {
      yield* transaction(
        insertMany(
          "subscription",
          Array.from({ length: Math.min(10_000, each - first) }, (_, i) => ({
            ...same,
            ...{ secret: null, address: addressOf(chain), reference_id: crypto.randomUUID() },
            revision: row!.revision + first + i + 1
          }))
        )
      )
    }
    yield* query((db) =>
      db
        .updateTable("chain")
        .set({ revision: row!.revision + each })
        .where("id", "=", row!.id)
    )
  }
})

const startNodes = Effect.acquireRelease(
  Effect.callback<{ readonly child: ChildProcess; readonly nodes: MainnetNodes.Ready["nodes"] }>((resume) => {
    const blocks = Math.max(
      ...mainnets
        .filter(({ chain }) => chain.family === "xrp" || chain.family === "tron")
        .map(({ blockSeconds }) => Math.ceil((seconds * pace + minutes * 60) / blockSeconds))
    )
    const child = fork(fileURLToPath(new URL("./MainnetNodes.ts", import.meta.url)), [String(blocks + alone + 20)])
    child.once("message", (ready: MainnetNodes.Ready) => resume(Effect.succeed({ child, nodes: ready.nodes })))
  }),
  ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
)

const program = Effect.gen(function* () {
  const folder = yield* Folder.scoped
  const location: Location = { kind: "sqlite", file: join(folder, "store.db") }
  yield* Effect.provide(fill, Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location))))
  const { child, nodes } = yield* startNodes

  /** When each block was shown, by chain and height; how late each was committed and called back, in milliseconds. */
  const shownAt = new Map<string, number>()
  const commits: Array<number> = []
  const calls: Array<number> = []
  let isMeasured = false
  const receiver = yield* Receiver.start((_, body, at) => {
    const { blockchain, minedInBlock } = JSON.parse(body).data.item as {
      readonly blockchain: string
      readonly minedInBlock: { readonly height: number }
    }
    const shown = shownAt.get(`${blockchain}/${minedInBlock.height}`)
    if (isMeasured && shown !== undefined) calls.push(MachineTime.offset + at - shown)
  })
  const starting = performance.now()
  const headwater = yield* Headwater.start(
    location,
    {
      chains: Object.fromEntries(
        mainnets.map(({ blockchain, chain }) => [
          Chain.nameOf(chain),
          { ...nodes[blockchain]!.settings, start: MainnetNodes.firstHeight }
        ])
      ),
      callbacks: { allowHosts: [Receiver.host], extraCa: receiver.ca },
      log: { level: "warn" }
    },
    // The sources, which find zeromq beside them.
    { program: fileURLToPath(new URL("../packages/daemon/src/main.ts", import.meta.url)) }
  )
  const pid = headwater.pid()

  const store = new Sqlite(location.file, { readonly: true })
  const query = store.prepare("select name, height from chain where height is not null")
  const names = new Map(mainnets.map(({ blockchain, chain }) => [Chain.nameOf(chain), blockchain]))
  const committed = new Map<string, number>()
  /** Takes note of what is committed. */
  const look = () => {
    const at = MachineTime.millis()
    for (const { height, name } of query.all() as ReadonlyArray<{ readonly name: string; readonly height: number }>) {
      const blockchain = names.get(name)!
      for (let next = (committed.get(blockchain) ?? height - 1) + 1; next <= height; next++) {
        const shown = shownAt.get(`${blockchain}/${next}`)
        if (isMeasured && shown !== undefined) commits.push(at - shown)
      }
      committed.set(blockchain, height)
    }
  }
  const heights = new Map(mainnets.map(({ blockchain }) => [blockchain, MainnetNodes.firstHeight]))
  const reached = (blockchain: string) =>
    Effect.gen(function* () {
      const begin = performance.now()
      for (;;) {
        look()
        if ((committed.get(blockchain) ?? 0) >= heights.get(blockchain)!) return
        if (performance.now() - begin > 300_000) {
          return yield* Effect.die(
            new Error(`${blockchain} does not reach ${heights.get(blockchain)}: ${headwater.log().slice(-2_000)}`)
          )
        }
        yield* Effect.sleep("2 millis")
      }
    })
  child.on("message", ({ at, blockchain, height }: { at: number; blockchain: string; height: number }) => {
    shownAt.set(`${blockchain}/${height}`, at)
  })
  const grow = (blockchain: string) => {
    heights.set(blockchain, heights.get(blockchain)! + 1)
    child.send(blockchain)
  }

  yield* Effect.forEach(mainnets, ({ blockchain }) => reached(blockchain))
  console.log(`started and at the head of 16 chains after ${((performance.now() - starting) / 1000).toFixed(0)} s`)
  for (const { blockchain } of mainnets) {
    for (const address of new Set(nodes[blockchain]!.touched)) {
      const { body, status } = yield* headwater.post(
        `/blockchain-events/${blockchain}/mainnet/address-coins-transactions-confirmed`,
        { address, callbackSecretKey: "a secret of the benchmark", callbackUrl: `${receiver.url}/${blockchain}` }
      )
      if (status !== 201) return yield* Effect.die(new Error(`${blockchain} ${address}: ${JSON.stringify(body)}`))
    }
  }

  const warming = performance.now()
  for (const { blockchain } of inOrder) {
    grow(blockchain)
    yield* reached(blockchain)
  }
  console.log(
    `${inOrder.length} blocks of ${minutes} minutes in ${((performance.now() - warming) / 1000).toFixed(0)} s`
  )
  /** Cores that are used while no block comes. */
  const atRest = Effect.gen(function* () {
    const rested = cpuOf(pid)
    yield* Effect.sleep(idleSeconds * 1_000)
    return (cpuOf(pid) - rested) / idleSeconds
  })
  const soonAfterStart = yield* atRest

  const spent: Array<{ readonly cpu: number; readonly seconds: number; readonly blocks: number }> = []
  for (const { blockSeconds, blockchain } of mainnets) {
    const [from, before] = [performance.now(), cpuOf(pid)]
    // A collection of garbage that falls into few blocks of a fast chain would count for much.
    const blocks = Math.max(alone, Math.round(60 / blockSeconds))
    for (let i = 0; i < blocks; i++) {
      grow(blockchain)
      yield* reached(blockchain)
    }
    // What follows a commit belongs to the block.
    yield* Effect.sleep("300 millis")
    spent.push({ blocks, cpu: cpuOf(pid) - before, seconds: (performance.now() - from) / 1_000 })
  }
  // Soon after a start there is more to do at rest than later: a block is rather charged too much than too little.
  const idle = Math.min(soonAfterStart, yield* atRest)
  const costs = spent.map(({ blocks, cpu, seconds }) => (cpu - idle * seconds) / blocks)

  console.log(`\n${"".padEnd(20)} block time  transactions  CPU a block  of a core in real time   transactions by`)
  const shares = mainnets.map(({ blockSeconds }, i) => costs[i]! / blockSeconds)
  for (const [i, { blockSeconds, blockchain, source, transactions }] of mainnets.entries()) {
    console.log(
      `${blockchain.padEnd(20)} ${`${blockSeconds} s`.padStart(10)}  ${String(transactions).padStart(12)}  ` +
        `${`${(costs[i]! * 1_000).toFixed(1)} ms`.padStart(11)}  ${`${(shares[i]! * 100).toFixed(2)} %`.padStart(23)}   ${source}`
    )
  }
  const share = shares.reduce((sum, one) => sum + one, 0)
  const multiple = (1 - idle) / share
  console.log(
    `all ${mainnets.length}: ${(share * 100).toFixed(1)} % of a core in real time, and ${(idle * 100).toFixed(1)} % at rest: ` +
      `one core sustains ${multiple.toFixed(1)} times real time`
  )

  isMeasured = true
  const blocks = mainnets.map(({ blockSeconds }) => Math.max(1, Math.round((seconds * pace) / blockSeconds)))
  const [begin, before] = [performance.now(), cpuOf(pid)]
  yield* Effect.raceFirst(
    Effect.forEach(
      mainnets,
      ({ blockchain }, i) =>
        Effect.gen(function* () {
          for (let n = 0; n < blocks[i]!; n++) {
            // Not all in step.
            const due = ((n + (i + 1) / (mainnets.length + 1)) / blocks[i]!) * seconds * 1_000
            yield* Effect.sleep(Math.max(0, begin + due - performance.now()))
            grow(blockchain)
          }
        }),
      { concurrency: "unbounded" }
    ).pipe(Effect.andThen(Effect.sleep(Math.max(0, begin + seconds * 1_000 - performance.now())))),
    Effect.forever(
      Effect.andThen(
        Effect.sync(() => look()),
        Effect.sleep("5 millis")
      )
    )
  )
  const behind = mainnets.reduce(
    (sum, { blockchain }) => sum + heights.get(blockchain)! - (committed.get(blockchain) ?? 0),
    0
  )
  yield* Effect.forEach(mainnets, ({ blockchain }) => reached(blockchain))
  yield* Effect.sleep("1 second")
  const took = (performance.now() - begin) / 1_000
  const used = cpuOf(pid) - before - idle * Math.max(0, took - seconds)
  const memory = memoryOf(pid)
  store.close()

  const sum = blocks.reduce((total, count) => total + count, 0)
  const cores = used / seconds
  const latency = (values: ReadonlyArray<number>) =>
    `p50 ${percentile(values, 0.5).toFixed(0)} ms, p99 ${percentile(values, 0.99).toFixed(0)} ms (${values.length})`
  console.log(
    `\nat once, ${pace} times as fast as in reality for ${seconds} s: ${sum} blocks, ${behind} of them not committed at the end; ` +
      `${cores.toFixed(2)} cores, so that one sustains ${(pace / cores).toFixed(1)} times real time`
  )
  console.log(`  announcement → commit    ${latency(commits)}`)
  console.log(`  announcement → receiver  ${latency(calls)}`)
  console.log(`  memory ${memory.now.toFixed(0)} MB, ${memory.most.toFixed(0)} MB at most`)
  console.log(
    `\nFor the README:\n16 mainnets on one daemon, ${subscriptions.toLocaleString("en")} subscriptions, verify = "roots": ` +
      `${multiple.toFixed(0)} times real time on one core (${(share * 100).toFixed(1)} % of a core, ${(idle * 100).toFixed(1)} % at rest), ` +
      `${memory.most.toFixed(0)} MB; a callback ${percentile(calls, 0.5).toFixed(0)} ms after its block's announcement ` +
      `(p99 ${percentile(calls, 0.99).toFixed(0)} ms) at ${pace} times real time`
  )
  Comparison.report({
    ...{ work: `16 mainnets, ${subscriptions} subscriptions`, unit: "times real time on a core", better: "more" },
    ours: [multiple]
  })
  if (multiple < 10) process.exitCode = 1
}).pipe(Effect.scoped)

if (!Fixtures.exist) console.log("There are no recorded blocks: nothing is measured")
else await Effect.runPromise(program)
process.exit()
