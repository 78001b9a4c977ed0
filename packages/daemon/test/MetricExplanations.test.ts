import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { parser } from "@prometheus-io/lezer-promql"
import { explanations } from "../src/MetricExplanations.ts"

const packages = fileURLToPath(new URL("../../", import.meta.url))

/** Name and type of each metric that the sources make. */
const declared = () =>
  globSync("*/src/**/*.ts", { cwd: packages }).flatMap((file) => {
    const text = readFileSync(packages + file, "utf8")
    return [
      ...Array.from(text.matchAll(/Metric\.(\w+)\(\s*"(\w+)",/g), ([, type, name]) => `${name} ${type}`),
      ...Array.from(text.matchAll(/= gauge\(\s*"(\w+)",/g), ([, name]) => `headwater_${name} gauge`)
    ]
  })

describe("MetricExplanations", () => {
  it("explains each metric of the sources with its type, and no other", () => {
    assert.isAbove(declared().length, 35)
    assert.sameMembers(
      Object.entries(explanations).map(([name, { type }]) => `${name} ${type}`),
      declared()
    )
  })

  it("says in sentences what each is, and asks by metrics and labels that there are", () => {
    for (const [name, { labels = {}, meaning, query }] of Object.entries(explanations)) {
      assert.match(meaning, /^[A-Z0-9`].*[.]$/, name)
      for (const text of Object.values(labels)) assert.match(text, /[^.]$/, name)
      const asked: Array<string> = []
      parser.parse(query).iterate({
        enter: ({ from, name: node, to, type }) => {
          assert.isFalse(type.isError, `${name}: ${query}`)
          const text = query.slice(from, to)
          if (node === "Identifier") asked.push(text.replace(/_(?:bucket|count|sum)$/, ""))
          if (node === "LabelName" && !["le", "instance"].includes(text))
            assert.property(labels, text, `${name}: ${query}`)
        }
      })
      assert.deepStrictEqual(asked, [name], query)
    }
  })
})
