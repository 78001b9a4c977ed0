/**
 * Puts the program with all that it imports into a few files, which the package holds: Node spends most of a start on
 * finding and linking a thousand modules. What is native or reads a file of its own stays outside, and so does what only
 * some install: the package's dependencies and peers.
 *
 *     node bundle.ts [folder of the package, program]
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "vite"

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const { dependencies, peerDependencies } = JSON.parse(readFileSync(pathOf("package.json"), "utf8"))
const external = [...Object.keys(dependencies), ...Object.keys(peerDependencies), "pg-native"]

await build({
  configFile: false,
  logLevel: "warn",
  root: pathOf("."),
  ssr: { noExternal: true, external },
  build: {
    ssr: true,
    target: "node22",
    outDir: process.argv[2] ?? "program",
    emptyOutDir: true,
    // The libraries' licences ask for their text wherever their code is.
    license: { fileName: "licences.md" },
    rolldownOptions: {
      input: {
        main: pathOf("src/main.ts"),
        "ReaderThread.worker": pathOf("../indexer/src/sync/internal/ReaderThread.worker.ts"),
        "SqliteThread.worker": pathOf("../indexer/src/store/database/internal/SqliteThread.worker.ts")
      },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }
    }
  }
})
