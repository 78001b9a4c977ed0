/**
 * The daemon beside a node whose traces of one block are several hundred megabytes: memory of the process, and how long
 * `/health` takes meanwhile. The block and its traces are recorded ones of Ethereum, the calls of each transaction repeated.
 *
 *     node bench/largeAnswers.ts [megabytes] [checkout]
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const [megabytes = "300", checkout = join(import.meta.dirname, "..")] = process.argv.slice(2)

const node = spawn(process.execPath, [join(import.meta.dirname, "LargeTraces.ts"), megabytes], {
  stdio: ["ignore", "pipe", "inherit"]
})
const [url, height] = String(await new Promise((resolve) => node.stdout.once("data", resolve))).split(" ")

const cwd = mkdtempSync(join(tmpdir(), "headwater-bench-"))
const port = 20_000 + (process.pid % 20_000)
writeFileSync(
  join(cwd, "headwater.json"),
  JSON.stringify({
    http: { port },
    store: { sqlite: join(cwd, "headwater.db") },
    log: { format: "logfmt" },
    metrics: { token: "bench" },
    chains: {
      "ethereum/mainnet": {
        nodes: [url],
        start: Number(height),
        timeoutMillis: 300_000
      }
    }
  })
)
const daemon = spawn(
  process.execPath,
  [join(checkout, "packages/daemon/src/main.ts"), "serve", "--config", "headwater.json"],
  {
    cwd,
    stdio: "ignore"
  }
)

const residentMegabytes = () => {
  const status = readFileSync(`/proc/${daemon.pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1000
}

const health = async () => {
  const begin = performance.now()
  const answered = await fetch(`http://127.0.0.1:${port}/health`).then(
    (response) => response.status,
    () => undefined
  )
  return { answered, millis: performance.now() - begin }
}

while ((await health()).answered === undefined) await sleep(50)
const latencies: Array<number> = []
let memory = 0
const begin = performance.now()
while (performance.now() - begin < 240_000 && daemon.exitCode === null) {
  const { millis } = await health()
  latencies.push(millis)
  memory = Math.max(memory, residentMegabytes())
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: "Bearer bench" }
  }).then((response) => response.text())
  if (/headwater_chain_height_blocks\{[^}]*\} \d/.test(metrics)) break
  await sleep(5)
}
latencies.sort((a, b) => a - b)
console.log(
  `${megabytes} MB of traces: ${((performance.now() - begin) / 1000).toFixed(1)} s, at most ${memory.toFixed(0)} MB; ` +
    `/health at most ${latencies.at(-1)!.toFixed(0)} ms, 99 of 100 within ${latencies[Math.floor(latencies.length * 0.99)]!.toFixed(0)} ms`
)
daemon.kill("SIGKILL")
node.kill("SIGKILL")
rmSync(cwd, { recursive: true, force: true })
