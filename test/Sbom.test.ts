/** The bill of materials that `npm run sbom` prints: by what is in the bundle, and what the lock file has beside it. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Ajv } from "ajv"
import { assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { bundleFolder } from "./Program.ts"

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

/** `name@version` of everything that an installation of the daemon brings beside the bundle. */
const besideBundle = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const add = (name: string, version: string) => {
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
    for (const [name, { version }] of Object.entries(lock.importers["packages/daemon"]![kind] ?? {})) add(name, version)
  return found
}

/** `name@version` of everything in the bundle. */
const inBundle = () =>
  readFileSync(join(bundleFolder, "licences.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("## ") && line.includes(" - "))
    .map((line) =>
      line
        .replace("## ", "")
        .replace(" - ", "@")
        .replace(/ \(.*$/, "")
    )

const ours = ["core", "http", "indexer"].map((name) => {
  const { version } = JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), "utf8"))
  return `@headwater/${name}@${version}`
})

describe("the bill of materials", () => {
  interface Component {
    readonly type: string
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly purl: string
    readonly licenses?: ReadonlyArray<unknown>
  }
  let bill: {
    readonly specVersion: string
    readonly metadata: { readonly component: Component }
    readonly components: ReadonlyArray<Component>
  }
  const print = () =>
    execFileSync(process.execPath, [join(root, "deploy/sbom.ts"), bundleFolder], { cwd: root, encoding: "utf8" })
  let text = ""
  beforeAll(() => {
    text = print()
    bill = JSON.parse(text)
  })
  const idOf = ({ group, name, version }: Component) => `${group === undefined ? "" : `${group}/`}${name}@${version}`

  it("names every library that is in the bundle or beside it and no other, each with its licence", () => {
    const libraries = bill.components.filter(({ type }) => type === "library")
    const named = libraries.map(idOf)
    const expected = new Set([...inBundle(), ...besideBundle(), ...ours])
    assert.deepStrictEqual(named.toSorted(), [...expected].toSorted())
    for (const name of ["effect", "undici", "ethers", "bitcoinjs-lib", "ripple-binary-codec", "kysely", "pg"])
      assert.isTrue(
        inBundle().some((id) => id.startsWith(`${name}@`)) && named.some((id) => id.startsWith(`${name}@`)),
        name
      )
    assert.isTrue(named.some((id) => id.startsWith("better-sqlite3@")))
    for (const id of named.filter((id) => !ours.includes(id))) assert.property(lock.packages, id)
    for (const library of libraries) {
      assert.isNotEmpty(library.licenses ?? [], library.purl)
      assert.strictEqual(library.purl, `pkg:npm/${idOf(library).replace(/^@/, "%40")}`)
    }
  })

  it("is of the daemon, and names the Node of the image", () => {
    assert.match(idOf(bill.metadata.component), /^@headwater\/daemon@\d/)
    const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8")
    const [, node] = /library\/node:([\d.]+)-/.exec(containerfile)!
    assert.deepStrictEqual(bill.components.filter(({ type }) => type === "platform").map(idOf), [`node@${node}`])
  })

  it("is the same text each time", () => {
    assert.strictEqual(print(), text)
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
