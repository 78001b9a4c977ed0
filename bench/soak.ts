/**
 * A long time in a short one: the daemon as its own process follows blocks of real size as they come, ten a second, tells
 * of them, and is asked meanwhile, while its clock moves on by hours, thirty days in all, so that all that is kept for a
 * while ends. Each minute a line: memory, descriptors, store, latency. In the end their slopes, by least squares, without
 * the first sixth of the time.
 *
 *     node bench/soak.ts [minutes, 60] [blocks a second, 10] [sqlite | postgres]
 *
 * One of the two receivers is away for ten of every sixty seconds. The node's blocks are the transactions of a recorded
 * one, with their receipts and calls, each with a nonce, a sender and a hash of its own; headers and roots are right.
 */
import { fork, type ChildProcess } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as Headwater from "../test/Headwater.ts"
import startPostgres from "../test/PostgresServer.ts"
import bundle from "../test/Program.ts"
import { locations } from "../test/Stores.ts"
import * as EvmNode from "../packages/indexer/test/families/evm/EvmNode.ts"
import * as SealedBlock from "../packages/indexer/test/families/evm/SealedBlock.ts"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import { percentile } from "./Samples.ts"

const [minutes = "60", perSecond = "10", kind = "sqlite", role = "soak"] = process.argv.slice(2)
const days = 30
const moves = 60
const movedMinutes = (days * 24 * 60) / moves
const transactions = 200
const subscriptions = 20
/** Blocks that the node shows: as far behind a daemon may fall where the machine is busy. */
const shown = 600
const firstHeight = 17_000_000
const hosts = ["localhost", "127.0.0.1"]
const recorded = EvmNode.bundle("ethereum-17053184").recorded
const movedTime = fileURLToPath(new URL("../test/MovedTime.mjs", import.meta.url))

const after = ({ block }: EvmNode.RecordedBlock): EvmNode.RecordedBlock =>
  SealedBlock.repeated(recorded, transactions, 1, {
    height: Number(block.number) + 1,
    parent: block.hash,
    time: Math.max(Number(block.timestamp) + 1, Math.floor(Date.now() / 1000))
  })

/** The node, which has a new block ten times a second. */
const node = Effect.gen(function* () {
  const first = SealedBlock.repeated(recorded, transactions, 1, {
    ...{ height: firstHeight, parent: `0x${"00".repeat(32)}`, time: Math.floor(Date.now() / 1000) }
  })
  const blocks = [first]
  /** No contract has a name, and no account is new. */
  const plain: Readonly<Record<string, string>> = {
    eth_call: "0x",
    eth_getCode: "0x",
    eth_getBalance: "0x1",
    eth_getTransactionCount: "0x1"
  }
  const { url } = yield* FakeNode.make(
    (method, params) =>
      plain[method] ??
      EvmNode.answers(blocks, { chainId: "0x7a69", finalized: blocks[0]!.block.number })(method, params)
  )
  setInterval(() => {
    blocks.push(after(blocks.at(-1)!))
    if (blocks.length > shown) blocks.shift()
    process.send?.(Number(blocks.at(-1)!.block.number))
  }, 1000 / Number(perSecond))
  process.send?.(url)
  return yield* Effect.never
}).pipe(Effect.scoped)

/** Both receivers; each second how many callbacks have come, and how old their blocks were. */
const receivers = () => {
  process.once("message", (certificate: { readonly cert: string; readonly key: string }) => {
    const begin = performance.now()
    const isAway = () => ((performance.now() - begin) / 1000) % 60 >= 50
    let seen = 0
    for (const [index] of hosts.entries()) {
      const server = createServer(certificate, (request, response) => {
        request.resume().on("end", () => {
          const away = index === 1 && isAway()
          if (!away) seen++
          if (away) request.socket.destroy()
          else response.end()
        })
      })
      server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
    }
    setInterval(() => process.send!({ seen }), 1000)
  })
}

const started = (as: string, execArgv: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      fork(fileURLToPath(import.meta.url), [minutes, perSecond, kind, as], { execArgv: [...execArgv] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const firstMessage = <A>(child: ChildProcess) =>
  Effect.callback<A>((resume) => void child.once("message", (message) => resume(Effect.succeed(message as A))))

/** Memory that malloc gives out in one piece to the arena of a thread. */
const arenaBytes = 64 * 2 ** 20

/** Resident megabytes of a process by who has them: malloc, files, and V8 with all other anonymous memory. */
const residentOf = (pid: number) => {
  const megabytes = { malloc: 0, files: 0, v8: 0 }
  let owner: keyof typeof megabytes = "v8"
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const region = /^([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)$/.exec(line)
    const resident = /^Rss:\s+(\d+)/.exec(line)
    if (region !== null) {
      const [, begin, name] = region as unknown as [string, string, string]
      const isArena = name === "" && BigInt(`0x${begin}`) % BigInt(arenaBytes) === 0n
      owner = name === "[heap]" || isArena ? "malloc" : name.startsWith("/") ? "files" : "v8"
    } else if (resident !== null) megabytes[owner] += Number(resident[1]) / 1024
  }
  return megabytes
}

interface Sample {
  readonly hours: number
  readonly callbacks: number
  readonly residentMegabytes: number
  readonly mallocMegabytes: number
  readonly v8Megabytes: number
  /** The least of the last ten samples: what is left when V8 has collected. */
  readonly liveMegabytes: number
  readonly heapMegabytes: number
  readonly descriptors: number
  readonly storeMegabytes: number
  readonly p50: number
  readonly p99: number
  readonly behind: number
}

/** The slope of `y` over `x` by least squares. */
const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0)
  return over / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
}

const soak = Effect.gen(function* () {
  const location = yield* locations.find(({ name }) => name === kind)!.location
  const certificate = yield* DevelopmentCertificate.make(hosts)
  const nodeProcess = yield* started("node", ["--import", movedTime])
  const nodeUrl = yield* firstMessage<string>(nodeProcess)
  let head = 0
  nodeProcess.on("message", (height: number) => {
    head = height
  })
  const receiving = yield* started("receivers")
  const ports: Array<number> = []
  let seen = 0
  receiving.on("message", (message: number | { readonly seen: number }) => {
    if (typeof message === "number") ports.push(message)
    else seen = message.seen
  })
  receiving.send({ cert: certificate.cert, key: certificate.key })
  while (ports.length < hosts.length) yield* Effect.sleep("20 millis")

  const token = "soak"
  const headwater = yield* Headwater.start(
    location,
    {
      chains: { "ethereum/devnet": { nodes: [nodeUrl], start: firstHeight, record: "watched", pollMillis: 50 } },
      callbacks: { allowHosts: hosts, extraCa: certificate.ca, keepDays: 3, heldDays: 2 },
      log: { level: "warn" },
      metrics: { token }
    },
    { node: ["--import", movedTime] }
  )
  const paid = [
    ...new Set(recorded.block.transactions.flatMap((tx: EvmNode.Json) => (BigInt(tx.value) > 0n && tx.to ? tx.to : [])))
  ]
  for (const [index, address] of paid.slice(0, subscriptions).entries()) {
    const callbackUrl = `https://${hosts[index % 2]}:${ports[index % 2]}/`
    const target = { address, callbackUrl, callbackSecretKey: "secret" }
    const { body, status } = yield* headwater.post(
      "/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed",
      target
    )
    if (status !== 201) return yield* Effect.die(new Error(JSON.stringify(body)))
  }

  const asked: Array<number> = []
  yield* Effect.gen(function* () {
    const begin = performance.now()
    yield* headwater.get("/blockchain-events/ethereum/devnet?limit=10")
    asked.push(performance.now() - begin)
    yield* Effect.sleep("200 millis")
  }).pipe(Effect.forever, Effect.forkScoped)

  const metric = Effect.promise(async () => {
    const answer = await fetch(`${headwater.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    const text = await answer.text()
    return (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1])
  })
  const pid = headwater.pid()
  const begin = performance.now()
  const samples: Array<Sample> = []
  const end = Number(minutes) * 60_000
  for (let round = 1; performance.now() - begin < end; round++) {
    yield* Effect.sleep(Math.max(0, (end * round) / moves - (performance.now() - begin)))
    const value = yield* metric
    const bytes =
      location.kind === "sqlite"
        ? ["", "-wal"].reduce(
            (sum, suffix) => sum + (statSync(location.file + suffix, { throwIfNoEntry: false })?.size ?? 0),
            0
          )
        : value("headwater_store_size_bytes")
    const { files, malloc, v8 } = residentOf(pid)
    const resident = files + malloc + v8
    const heapMegabytes = value("nodejs_heap_size_used_bytes") / 2 ** 20
    const sample: Sample = {
      hours: (performance.now() - begin) / 3_600_000,
      callbacks: seen,
      residentMegabytes: resident,
      mallocMegabytes: malloc,
      v8Megabytes: v8,
      liveMegabytes: Math.min(heapMegabytes, ...samples.slice(-9).map((sample) => sample.heapMegabytes)),
      heapMegabytes,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      storeMegabytes: bytes / 2 ** 20,
      p50: percentile(asked, 0.5),
      p99: percentile(asked.splice(0), 0.99),
      behind: head - value("headwater_chain_height_blocks")
    }
    samples.push(sample)
    console.log(
      `${(sample.hours * 60).toFixed(1).padStart(5)} min, day ${((days * round) / moves).toFixed(1)}: ` +
        `${head - firstHeight} blocks, ${sample.behind} behind, ${seen} callbacks, ` +
        `memory ${resident.toFixed(0)} MB (V8 ${v8.toFixed(0)}, of which heap ${heapMegabytes.toFixed(0)}, ` +
        `malloc ${malloc.toFixed(1)}, files ${files.toFixed(0)}), ${sample.descriptors} descriptors, ` +
        `store ${sample.storeMegabytes.toFixed(0)} MB, requests p50 ${sample.p50.toFixed(1)} ms, p99 ${sample.p99.toFixed(1)} ms`
    )
    process.kill(pid, "SIGUSR2")
    nodeProcess.kill("SIGUSR2")
  }

  const log = headwater.log()
  if (log !== "") console.log(`What the daemon said:\n${log.slice(0, 4_000)}`)
  const measured = samples.filter(({ hours }) => hours * 60 > Number(minutes) / 6)
  const kept = measured.length > 2 ? measured : samples
  const perHour = (of: (sample: Sample) => number) => slope(kept.map((sample) => [sample.hours, of(sample)]))
  const callbacksPerHour = perHour(({ callbacks }) => callbacks)
  console.table(
    Object.fromEntries(
      (
        [
          ...(["residentMegabytes", "mallocMegabytes", "v8Megabytes", "heapMegabytes", "liveMegabytes"] as const),
          ...(["descriptors", "storeMegabytes", "p50", "p99", "behind"] as const)
        ] as const
      ).map((name) => {
        const hourly = perHour((sample) => sample[name])
        return [
          name,
          {
            "at the end": samples.at(-1)![name].toFixed(1),
            "an hour": hourly.toFixed(2),
            "an hour for each 100,000 callbacks": (hourly / (callbacksPerHour / 100_000)).toFixed(3)
          }
        ]
      })
    )
  )
}).pipe(Effect.scoped)

if (role === "node") await Effect.runPromise(node)
else if (role === "receivers") receivers()
else {
  process.env.MOVED_MINUTES = String(movedMinutes)
  process.env.MOVED_TIMERS = "1"
  bundle()
  const stop = kind === "postgres" ? await startPostgres() : undefined
  await Effect.runPromise(soak)
  await stop?.()
}
