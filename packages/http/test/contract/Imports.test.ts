import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const folder = fileURLToPath(new URL("../../src/contract", import.meta.url))

/** Lines of examples, which import as others do. */
const comments = /^ \*.*$/gm

/** Imports of values and of types, and types that are named by a path. */
const imports = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g

describe("contract", () => {
  it("imports core, effect and itself alone, types too", () => {
    const files = globSync("**/*.ts", { cwd: folder })
    const found = files.flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").replaceAll(comments, "").matchAll(imports)].map(
        ([, path]) => [file, path!] as const
      )
    )
    const outside = found.filter(([file, path]) =>
      path.startsWith(".") ? join(dirname(file), path).startsWith("..") : !/^(effect|@headwater\/core)\//.test(path)
    )
    assert.isAbove(files.length, 15)
    assert.isAbove(found.length, 100)
    assert.deepStrictEqual(outside, [])
  })
})
