/**
 * The measurements that stand beside a peer or a floor, one after the other, and at the end one table of them: what was
 * done, ours, the peer's and the floor's figure, how many times as good ours is, and the spread over the rounds. Each pair is of one
 * run. On a busy machine ratios of CPU time still say something, those of rates little.
 *
 *     npm run bench                                  # all, some twenty minutes
 *     npm run bench -- http callbacks                # those whose names hold one of these
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Comparison from "./Comparison.ts"

/** As the bench stands in this folder, with its arguments. */
const benches: ReadonlyArray<string> = [
  "blocks.ts 300 50 5",
  "proofs.ts 9",
  "utxo.ts index 150 3",
  "evm/ingest.ts 500000 3",
  "evm/ingest.ts 500000 3 both 10",
  "evm/indexers.ts 1000 3",
  "matching.ts 1",
  "derive.ts 500 5",
  "callbacks.ts 20000 5",
  "push.ts 60",
  "http.ts 4 5",
  "catchup.ts ethereum,bitcoin,bitcoin-raw 120 5 1",
  "mainnets.ts"
]

const wanted = process.argv.slice(2)
const chosen = benches.filter((bench) => wanted.length === 0 || wanted.some((word) => bench.includes(word)))
if (chosen.length === 0) {
  console.error(`There is no bench of that name: there are ${benches.map((bench) => bench.split(".")[0]).join(", ")}`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), "headwater-bench-lines-"))
const lines = join(folder, "lines.json")
const failed: Array<string> = []
for (const bench of chosen) {
  const [file = "", ...args] = bench.split(" ")
  console.log(`\n== node --expose-gc bench/${bench}`)
  const { status } = spawnSync(process.execPath, ["--expose-gc", join(import.meta.dirname, file), ...args], {
    stdio: "inherit",
    env: { ...process.env, [Comparison.variable]: lines }
  })
  if (status !== 0) failed.push(bench)
}
const comparisons = existsSync(lines)
  ? readFileSync(lines, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Comparison.Comparison)
  : []
rmSync(folder, { recursive: true })
console.log(`\n${Comparison.table(comparisons)}`)
if (failed.length > 0) {
  console.log(`\nEnded with an error, or below what they ask for: ${failed.join(", ")}`)
  process.exitCode = 1
}
