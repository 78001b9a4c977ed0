/**
 * Puts the program with all that it imports into a few files, which the package holds: Node spends most of a start on
 * finding and linking a thousand modules. What is native or reads a file of its own stays outside.
 *
 *     node bundle.ts [folder of the package, program]
 */
import { fileURLToPath } from "node:url"
import { build } from "vite"

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

await build({
  configFile: false,
  logLevel: "warn",
  root: pathOf("."),
  ssr: { noExternal: true, external: ["better-sqlite3", "pg-native", "tiny-secp256k1", "zeromq", "@foundry-rs/anvil"] },
  build: {
    ssr: true,
    target: "node22",
    outDir: process.argv[2] ?? "program",
    emptyOutDir: true,
    rolldownOptions: {
      input: {
        main: pathOf("src/main.ts"),
        "SqliteThread.worker": pathOf("../indexer/src/store/database/internal/SqliteThread.worker.ts")
      },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }
    }
  }
})
