import { fork, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
const [chain = "ethereum", blocks = "160", rounds = "2", ...variants] = process.argv.slice(2)
const nodes = fork(new URL("./MainnetNodes.ts", import.meta.url), [String(Number(blocks) + 2), chain, String(Number(blocks) + 2)])
const ready: any = await new Promise((r) => nodes.once("message", r))
let left = Number(blocks)
await new Promise<void>((r) => { nodes.on("message", () => { if (--left === 0) r() }); for (let i = 0; i < Number(blocks); i++) nodes.send(chain) })
const task = (threads: number) => JSON.stringify({ blockchain: chain, settings: ready.nodes[chain].settings, first: 20_000_000, warm: Math.floor(Number(blocks) * 0.4), threads })
const run = (v: string) => new Promise<any>((resolve) => {
  const [threads, env = ""] = v.split(":")
  const cwd = mkdtempSync(join(tmpdir(), "vary-"))
  const flags = env.startsWith("--") ? [env] : []
  const c = spawn(process.execPath, [...flags, new URL("./catchup.ts", import.meta.url).pathname, "--task", task(Number(threads))], { cwd, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TRY_YOUNG: env } })
  let t = ""; c.stdout.on("data", (d) => { t += d }); c.on("exit", () => { rmSync(cwd, { recursive: true }); resolve(JSON.parse(t.trim().split("\n").at(-1)!)) })
})
await run(variants[0]!)
for (let i = 0; i < Number(rounds); i++) for (const v of variants) {
  const m = await run(v)
  const by: Record<string, number> = {}
  for (const [n, s] of m.cpu) by[n] = (by[n] ?? 0) + s
  const sum = m.cpu.reduce((a: number, [, s]: any) => a + s, 0)
  console.log(v.padEnd(30), "wall", m.seconds.toFixed(2), "sum", sum.toFixed(2), Object.entries(by).map(([n, s]) => `${n} ${s.toFixed(2)}`).join(" "), m.megabytes.toFixed(0))
}
nodes.kill("SIGKILL")
