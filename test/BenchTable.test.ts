/** The table of `npm run bench`: what stands in a line, and that each bench in the list is there and says one. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import * as Comparison from "../bench/Comparison.ts"

const bench = (name: string) => fileURLToPath(new URL(`../bench/${name}`, import.meta.url))

describe("the table of the benches", () => {
  it("has medians, how many times as good ours is, and the spread over rounds", () => {
    const rows = Comparison.table([
      {
        ...{ work: "blocks", unit: "ms", better: "less", ours: [2, 4, 3] },
        peer: { name: "other", values: [4, 4, 9] },
        floor: { name: "bare", values: [1, 1, 1] }
      },
      { work: "calls", unit: "a second", better: "more", ours: [5_000], floor: { name: "bare", values: [10_000] } },
      { work: "alone", unit: "times", better: "more", ours: [12.34] }
    ])
      .split("\n")
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim())
      )
    assert.deepStrictEqual(rows[0], ["work", "ours", "peer", "floor", "times the peer", "times the floor", "spread"])
    assert.deepStrictEqual(rows.slice(2), [
      ["blocks", "3 ms", "4 (other)", "1 (bare)", "2.00", "0.33", "1.00 to 3.00"],
      ["calls", "5,000 a second", "", "10,000 (bare)", "", "0.50", ""],
      ["alone", "12.3 times", "", "", "", "", ""]
    ])
  })

  it("is of benches that are there, and report", () => {
    const [, list = ""] = /const benches[^=]*= \[([^\]]*)\]/.exec(readFileSync(bench("all.ts"), "utf8")) ?? []
    const files = Array.from(list.matchAll(/"([^" ]+\.ts)/g), ([, file]) => file!)
    assert.isAbove(files.length, 5)
    assert.deepStrictEqual(
      files.filter(
        (file) => !existsSync(bench(file)) || !/Comparison\.report\(/.test(readFileSync(bench(file), "utf8"))
      ),
      []
    )
  })
})
