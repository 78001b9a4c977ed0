/**
 * Compiles the kernels, each a program of AssemblyScript in this folder, into modules that core holds as text: nothing is
 * built where core runs. With `--check` nothing is written: it fails where what is held is not what the sources make.
 *
 *     npm run kernel
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import asc from "assemblyscript/asc"

/** A kernel's source, and the module of core that holds it compiled. */
const kernels = [
  { source: "keys.ts", module: "../src/keys/internal/compiledKernel.ts" },
  { source: "evm.ts", module: "../src/evm/internal/compiledKernel.ts" },
  { source: "utxo.ts", module: "../src/utxo/internal/compiledKernel.ts" }
]

const flags = ["-O3", "--noAssert", "--enable", "simd", "--runtime", "stub", "--use", "abort="]

const compiled = async (source: string): Promise<Uint8Array> => {
  let bytes: unknown
  const { error, stderr } = await asc.main(
    [source, "--baseDir", import.meta.dirname, "--outFile", "kernel.wasm", ...flags],
    {
      writeFile: (_, content) => {
        bytes = content
      }
    }
  )
  if (bytes instanceof Uint8Array) return bytes
  throw new Error(`${source} does not compile\n${stderr}`, { cause: error })
}

for (const { module, source } of kernels) {
  const bytes = await compiled(source)
  const text = `/** \`packages/core/kernel/${source}\` as \`npm run kernel\` compiles it: not to be edited. */
export default "${Buffer.from(bytes).toString("base64")}"
`
  const file = fileURLToPath(new URL(module, import.meta.url))
  const isSame = existsSync(file) && readFileSync(file, "utf8") === text
  if (!process.argv.includes("--check")) writeFileSync(file, text)
  else if (!isSame) {
    console.error(`${file} is not what ${source} compiles to: npm run kernel writes it anew`)
    process.exitCode = 1
  }
  console.log(`${source}: ${bytes.length} bytes`)
}
