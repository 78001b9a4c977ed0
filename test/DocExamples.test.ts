/**
 * Runs the `@example` of every export: its code as it stands in the doc comment, with `expression // => value` as what
 * has to hold. An example imports what it uses, by package path; one that needs a node or a store exports its effect.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"

const packages = fileURLToPath(new URL("../packages/", import.meta.url))
const sources = ["core", "indexer", "http", "daemon"].flatMap((name) =>
  readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(packages, name, "src", file))
)

const comment = /\/\*\*(?:[^*]|\*(?!\/))*\*\//g
const example = /@example\s*(?:\n\s*\*\s*)?```ts\n([\s\S]*?)```/g
const claim = /^(.*\S)\s*\/\/ => (.+)$/gm

const examples = sources.flatMap((file) =>
  Array.from(readFileSync(file, "utf8").matchAll(comment), ([text]) => text)
    .flatMap((text) => Array.from(text.matchAll(example), ([, code]) => code!.replace(/^\s*\* ?/gm, "")))
    .map((code, index) => ({ name: `${file.slice(packages.length)} ${index + 1}`, code }))
)

// Beside the tests, where the workspace's packages are found.
const folder = mkdtempSync(fileURLToPath(new URL(".examples-", import.meta.url)))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("examples in doc comments", () => {
  it("there are some", () => {
    assert.isAbove(examples.length, 0)
  })

  for (const [index, { code, name }] of examples.entries()) {
    it(name, async () => {
      const file = join(folder, `${index}-${basename(name).replace(/\W/g, "-")}.ts`)
      const checked = code.replace(claim, (_, left: string, right: string) => `holds((${left}), (${right}))`)
      writeFileSync(file, `import { assert } from "vitest"\nconst holds = assert.deepStrictEqual\n${checked}`)
      await import(file)
    })
  }
})
