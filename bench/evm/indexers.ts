/**
 * The same anvil chain, indexed from nothing by Headwater, Ponder and Subsquid in turns, each a process of its own, and
 * the floor: a bare download of the same blocks and receipts. What counts as done: every ERC-20 transfer can be read.
 *
 *     node bench/evm/indexers.ts [blocks, 3000] [rounds, 1] [floor,headwater,ponder,squid]
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import pg from "pg"
import { Agent, request } from "undici"
import type { Anvil } from "../../test/Anvil.ts"
import { freePort } from "../../test/FreePort.ts"
import startPostgres from "../../test/PostgresServer.ts"
import bundle, { program } from "../../test/Program.ts"
import * as Chain from "./Chain.ts"
import * as Peers from "./Peers.ts"
import * as Comparison from "../Comparison.ts"

const blocks = Number(process.argv[2] ?? 3_000)
const rounds = Number(process.argv[3] ?? 1)
const sides = (process.argv[4] ?? "floor,headwater,ponder,squid").split(",")
const limitSeconds = 300
/** Between two looks whether a side is done: each costs the side some CPU, a daemon's `/ready` about a millisecond. */
const lookMillis = 200
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Of every process: its parent, its CPU seconds with those of children that have ended, and its largest memory. */
const processes = () => {
  const found = new Map<
    number,
    { readonly parent: number; readonly cpu: number; readonly peak: number; readonly name: string }
  >()
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${entry}/status`, "utf8"))?.[1]
      const cpu = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
      const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"))
      found.set(Number(entry), { parent: Number(fields[1]), cpu, peak: Number(peak ?? 0) / 1024, name })
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}

/** A process with its descendants. */
const usage = (root: number, all = processes()) => {
  const isBelow = (pid: number): boolean => pid === root || (all.has(pid) && isBelow(all.get(pid)!.parent))
  const tree = [...all].filter(([pid]) => isBelow(pid)).map(([, process]) => process)
  return { cpu: tree.reduce((sum, { cpu }) => sum + cpu, 0), peak: tree.reduce((sum, { peak }) => sum + peak, 0) }
}

/** The database server that this process has started. */
const postgresCpu = () => {
  const all = processes()
  const isOurs = (pid: number): boolean => pid === process.pid || (all.has(pid) && isOurs(all.get(pid)!.parent))
  return [...all]
    .filter(([pid, { name }]) => name === "postgres" && isOurs(pid))
    .reduce((sum, [, { cpu }]) => sum + cpu, 0)
}

interface Measured {
  readonly seconds: number
  readonly cpu: number
  readonly databaseCpu: number
  readonly nodeCpu: number
  readonly peak: number
  readonly bytes: number
}

/** Lets a program end by itself, so that Headwater's keeps what was compiled for its next start, as an operator's does. */
const stop = async (child: ChildProcess) => {
  const ended = once(child, "exit")
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000)
  child.kill("SIGTERM")
  await ended
  clearTimeout(timer)
}

/** Runs a program until `isDone`, and measures it from its start. */
const run = async (
  anvil: Anvil,
  options: {
    readonly args: ReadonlyArray<string>
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly isDone: () => Promise<boolean>
    readonly bytes: () => Promise<number>
  }
): Promise<Measured> => {
  const [nodeBefore, databaseBefore] = [usage(anvil.pid).cpu, postgresCpu()]
  const begin = performance.now()
  const log = openSync(join(options.cwd, "bench.log"), "w")
  const child = spawn(process.execPath, options.args, {
    cwd: options.cwd,
    env: { ...process.env, NODE_NO_WARNINGS: "1", ...options.env },
    stdio: ["ignore", log, log]
  })
  const seconds = () => (performance.now() - begin) / 1000
  while (!(await options.isDone())) {
    if (child.exitCode !== null || seconds() > limitSeconds) {
      child.kill("SIGKILL")
      throw new Error(`not done after ${seconds().toFixed(0)} s; the log is ${join(options.cwd, "bench.log")}`)
    }
    await sleep(lookMillis)
  }
  const took = seconds()
  const { cpu, peak } = usage(child.pid!)
  const nodeCpu = usage(anvil.pid).cpu - nodeBefore
  const databaseCpu = postgresCpu() - databaseBefore
  await stop(child)
  closeSync(log)
  return { seconds: took, cpu, databaseCpu, nodeCpu, peak, bytes: await options.bytes() }
}

const headwater = async (anvil: Anvil, head: number, expected: number): Promise<Measured> => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))
  const port = await Effect.runPromise(freePort)
  writeFileSync(
    join(folder, "headwater.json"),
    JSON.stringify({
      http: { host: "127.0.0.1", port },
      log: { level: "warn" },
      metrics: { token: "bench" },
      store: { sqlite: join(folder, "store.db") },
      chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0 } }
    })
  )
  const height = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/ready`, {
      headers: { authorization: "Bearer bench" }
    }).catch(() => undefined)
    // biome-ignore lint/suspicious/noExplicitAny: an answer of our own server
    return answer === undefined ? undefined : ((await answer.json()) as any).chains["ethereum/devnet"].height
  }
  const measured = await run(anvil, {
    args: [program, "serve", "--config", "headwater.json"],
    cwd: folder,
    // As the package's command has it.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") },
    isDone: async () => (await height()) === head,
    bytes: async () => {
      const sqlite = new Sqlite(join(folder, "store.db"))
      sqlite.pragma("wal_checkpoint(TRUNCATE)")
      // The log of tokens is the second of a chain's; the third byte of a chunk is its count.
      const chunks = sqlite.prepare("select data from packed_transfers where log % 4 = 1").all() as ReadonlyArray<{
        readonly data: Buffer
      }>
      const kept = chunks.reduce((sum, { data }) => sum + data[2]!, 0)
      sqlite.close()
      if (kept < expected) throw new Error(`Headwater kept ${kept} of ${expected} token transfers`)
      return statSync(join(folder, "store.db")).size
    }
  })
  rmSync(folder, { recursive: true })
  return measured
}

const administer = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows
}

const peer = async (anvil: Anvil, peer: Peers.Peer, expected: number): Promise<Measured> => {
  const cwd = Peers.prepare(peer)
  rmSync(join(cwd, ".ponder"), { recursive: true, force: true })
  const admin = process.env.DATABASE_URL!
  await administer(admin, "drop database if exists bench with (force)")
  await administer(admin, "create database bench")
  const url = new URL(admin)
  url.pathname = "/bench"
  const port = String(await Effect.runPromise(freePort))
  const measured = await run(anvil, {
    args: peer.command,
    cwd,
    env: {
      ...{ DATABASE_URL: url.href, DB_URL: url.href, NODE_URL: anvil.url, CONTRACT: Chain.coin },
      ...{ PORT: port, PROMETHEUS_PORT: String(await Effect.runPromise(freePort)), PONDER_TELEMETRY_DISABLED: "1" }
    },
    isDone: async () => {
      const rows = await administer(url.href, `select count(*)::int as count from ${peer.table}`).catch(() => [])
      return (rows[0]?.count ?? 0) >= expected
    },
    bytes: async () => Number((await administer(admin, "select pg_database_size('bench') as size"))[0].size)
  })
  await administer(admin, "drop database bench with (force)")
  return measured
}

/** Downloads and parses every block with its receipts, and does nothing with them. */
const floor = async (anvil: Anvil, head: number): Promise<Measured> => {
  const agent = new Agent({ connections: 8 })
  const nodeBefore = usage(anvil.pid).cpu
  const before = process.cpuUsage()
  const begin = performance.now()
  let next = 0
  const worker = async () => {
    while (next <= head) {
      const tag = `0x${(next++).toString(16)}`
      const { body } = await request(anvil.url, {
        dispatcher: agent,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify([
          { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [tag, true] },
          { jsonrpc: "2.0", id: 2, method: "eth_getBlockReceipts", params: [tag] }
        ])
      })
      await body.json()
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const { system, user } = process.cpuUsage(before)
  const seconds = (performance.now() - begin) / 1000
  await agent.close()
  const nodeCpu = usage(anvil.pid).cpu - nodeBefore
  return { seconds, cpu: (system + user) / 1e6, databaseCpu: 0, nodeCpu, peak: 0, bytes: 0 }
}

bundle()
const stopPostgres = await startPostgres()
await Effect.runPromise(
  Effect.gen(function* () {
    const anvil = yield* Chain.anvil(blocks)
    const head = Number(yield* anvil.rpc("eth_blockNumber", []))
    let expected = 0
    for (let from = 0; from <= head; from += 500) {
      const [fromBlock, toBlock] = [from, Math.min(head, from + 499)].map((height) => `0x${height.toString(16)}`)
      const filter = { fromBlock, toBlock, address: Chain.coin, topics: [transferTopic] }
      expected += (yield* anvil.rpc<ReadonlyArray<unknown>>("eth_getLogs", [filter])).length
    }
    console.log(`${head + 1} blocks, ${expected} ERC-20 transfers`)
    const runs: Readonly<Record<string, () => Promise<Measured>>> = {
      floor: () => floor(anvil, head),
      headwater: () => headwater(anvil, head, expected),
      ponder: () => peer(anvil, Peers.ponder, expected),
      squid: () => peer(anvil, Peers.squid, expected)
    }
    const costs: Record<string, Array<number>> = {}
    for (let round = 0; round < rounds; round++) {
      for (const side of sides) {
        const result = yield* Effect.promise(() => runs[side]!().catch((error: Error) => error))
        if (result instanceof Error) {
          console.log(`${side.padEnd(10)} ${result.message}`)
          continue
        }
        const { bytes, cpu, databaseCpu, nodeCpu, peak, seconds } = result
        costs[side] = [...(costs[side] ?? []), cpu + databaseCpu]
        console.log(
          `${side.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${(expected / seconds).toFixed(0).padStart(6)} events/s` +
            `  ${(expected / (cpu + databaseCpu)).toFixed(0).padStart(6)} events/CPU s  own ${cpu.toFixed(1)} s` +
            `  database ${databaseCpu.toFixed(1)} s  node ${nodeCpu.toFixed(1)} s  ${peak.toFixed(0)} MB` +
            `  ${(bytes / 1e6).toFixed(1)} MB on disk`
        )
      }
    }
    // A side that failed in a round is not compared.
    const whole = (side: string) => (costs[side]?.length === rounds ? { name: side, values: costs[side] } : undefined)
    const [own, bare] = [whole("headwater"), whole("floor")]
    for (const other of [whole("ponder"), whole("squid")]) {
      if (own === undefined || other === undefined) continue
      Comparison.report({
        ...{
          work: "an anvil chain indexed from nothing",
          unit: "CPU s",
          better: "less",
          ours: own.values,
          peer: other
        },
        ...(bare === undefined ? {} : { floor: bare })
      })
    }
  }).pipe(Effect.scoped)
)
await stopPostgres?.()
