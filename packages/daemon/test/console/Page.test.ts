import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const folder = new URL("../../src/console/page/", import.meta.url)
const read = (file: string) => readFileSync(new URL(file, folder), "utf8")

/** The page's own modules that a module needs, itself among them, and the libraries. */
const neededBy = (file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found
  found.add(file)
  const libraries = ["preact.js", "hooks.js", "htm.js", "uplot.js"]
  if (libraries.includes(file)) return found
  const imports = read(file).matchAll(/(?:^import .*?from |^} from |import\()"\.?\/([\w-]+\.js)"/gm)
  // The views beside the overview are loaded when they are shown.
  for (const [, name] of imports)
    if (file !== "console.js" || !read(file).includes(`import("./${name}")`)) neededBy(name!, found)
  return found
}

describe("the console's page", () => {
  it("names all that the overview needs in the first answer, so that a far browser waits once and not for each in turn", () => {
    const needed = new Set([...neededBy("console.js"), ...neededBy("overview.js")])
    const index = read("index.html")
    const named = [...index.matchAll(/(?:modulepreload" href|module" src)="\/([\w-]+\.js)"/g)].map(([, file]) => file)
    assert.isAbove(needed.size, 10)
    assert.deepStrictEqual([...named].sort(), [...needed].sort())
    assert.include(index, 'rel="stylesheet" href="/uplot.css"')
  })
})
