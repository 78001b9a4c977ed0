/**
 * What core adds to a program in a browser, by use: minified bytes, and the same compressed by gzip.
 *
 *     node bench/bundles.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build, type Rolldown } from "vite"

const root = fileURLToPath(new URL("../packages/core", import.meta.url))

const uses: Readonly<Record<string, string>> = {
  "verify a callback": `export { verify } from "@headwater/core/events/Signature"`,
  "read and write addresses": `export { decode, encode } from "@headwater/core/address/Address"
    export { find } from "@headwater/core/chains/Chain"`,
  "signing hashes of EVM chains": `export { parse, digestText } from "@headwater/core/evm/Sighash"`,
  "derive addresses": `export { branch, derive } from "@headwater/core/keys/Derivation"
    export { decode } from "@headwater/core/keys/ExtendedPublicKey"`,
  "match blocks": `export { match, addressesSeen } from "@headwater/core/events/Matcher"
    export { make } from "@headwater/core/events/Watched"`,
  "one namespace of the root": `export { Amount } from "@headwater/core"`,
  "all services": `export { Services } from "@headwater/core"`,
  "the root": `export * from "@headwater/core"`
}

const folder = mkdtempSync(join(root, ".bundles-"))
const rows: Array<Record<string, string>> = []
for (const [use, code] of Object.entries(uses)) {
  const entry = join(folder, "entry.js")
  writeFileSync(entry, code)
  const built = (await build({
    ...{ root: folder, configFile: false, logLevel: "error" },
    build: { write: false, minify: true, target: "es2022", lib: { entry, formats: ["es"] } }
  })) as ReadonlyArray<Rolldown.RolldownOutput>
  const { code: text } = built[0]!.output[0]
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`
  rows.push({ use, minified: kilobytes(text.length), compressed: kilobytes(gzipSync(text).length) })
}
rmSync(folder, { recursive: true })
console.table(rows)
