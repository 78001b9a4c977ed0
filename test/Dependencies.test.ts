/** The page of dependencies names each one, and none that is gone. */
import { readdirSync, readFileSync } from "node:fs"
import { assert, it } from "vitest"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")
const page = read("docs/dependencies.md")

const manifests = readdirSync(new URL("../packages", import.meta.url)).map(
  (name): Readonly<Record<string, Readonly<Record<string, string>> | undefined>> =>
    JSON.parse(read(`packages/${name}/package.json`))
)
const namesIn = (...kinds: ReadonlyArray<string>) =>
  new Set(manifests.flatMap((manifest) => kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}))))

it("docs/dependencies.md names every dependency of the packages", () => {
  const missing = [...namesIn("dependencies", "devDependencies", "peerDependencies")].filter(
    (name) => !page.includes(`\`${name}\``)
  )
  assert.deepStrictEqual(missing, [])
})

it("docs/dependencies.md has a row for each that is there at run time, and for no other", () => {
  const section = page.slice(page.indexOf("## At run time"), page.indexOf("## For tests"))
  const rows = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!)
  const wanted = [...namesIn("dependencies", "peerDependencies")].filter((name) => !name.startsWith("@headwater/"))
  assert.deepStrictEqual(rows.toSorted(), wanted.toSorted())
})
