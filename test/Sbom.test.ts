/** The bill of materials that `npm run sbom` prints: what the daemon's package brings with it, by the lock file. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Ajv } from "ajv"
import { assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"

const root = fileURLToPath(new URL("..", import.meta.url))

interface Resolved {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
interface Lock {
  readonly importers: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, { version: string }>>>>>>
  readonly packages: Readonly<Record<string, { readonly peerDependenciesMeta?: Readonly<Record<string, unknown>> }>>
  readonly snapshots: Readonly<Record<string, Resolved>>
}
const lock: Lock = parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8"))

/** `name@version` of everything that a workspace package needs at run time. */
const productionOf = (importer: string, found = new Set<string>()): Set<string> => {
  const add = (name: string, version: string) => {
    if (version.startsWith("link:")) {
      const folder = version.replace("link:../", "packages/")
      found.add(`@headwater/${folder.replace("packages/", "")}@0.1.0`)
      productionOf(folder, found)
      return
    }
    const id = `${name}@${version}`
    const plain = id.replace(/\(.*$/, "")
    if (found.has(plain)) return
    found.add(plain)
    const { dependencies = {}, optionalDependencies = {} } = lock.snapshots[id]!
    // An optional peer is there for the development of the workspace, and comes with nothing.
    const { peerDependenciesMeta = {} } = lock.packages[plain]!
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
      if (!Object.hasOwn(peerDependenciesMeta, name)) add(name, version)
  }
  for (const kind of ["dependencies", "optionalDependencies"])
    for (const [name, { version }] of Object.entries(lock.importers[importer]![kind] ?? {})) add(name, version)
  return found
}

describe("the bill of materials", () => {
  let bill: {
    readonly specVersion: string
    readonly components: ReadonlyArray<{
      readonly group?: string
      readonly name: string
      readonly version: string
      readonly purl: string
      readonly licenses?: ReadonlyArray<unknown>
    }>
  }
  beforeAll(() => {
    bill = JSON.parse(execFileSync("npm", ["run", "--silent", "sbom"], { cwd: root, encoding: "utf8" }))
  })

  it("names every production dependency of the lock file and no other, each with its licence", () => {
    const named = bill.components.map(
      ({ group, name, version }) => `${group === undefined ? "" : `${group}/`}${name}@${version}`
    )
    // Of a package with a binary for each system, this system's alone is installed.
    const installed = (id: string) => named.includes(id) || !/(linux|darwin|win32)-/.test(id)
    assert.deepStrictEqual(named.toSorted(), [...productionOf("packages/daemon")].filter(installed).toSorted())
    for (const { licenses, purl } of bill.components) assert.isNotEmpty(licenses ?? [], purl)
  })

  it("is valid by the schema of CycloneDX", () => {
    const schema = (name: string) =>
      JSON.parse(
        readFileSync(
          join(root, `node_modules/@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`),
          "utf8"
        )
      )
    // Formats are of e-mail addresses and references in other alphabets, which Ajv has not.
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const name of ["spdx", "jsf-0.82", "cryptography-defs"])
      ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    const validate = ajv.compile(schema(`bom-${bill.specVersion}`))
    validate(bill)
    assert.deepStrictEqual(validate.errors ?? [], [])
    assert.isFalse(validate({ ...bill, components: [{ type: "library" }] }))
  })
})
