import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: ["./test/PostgresServer.ts", "./test/MigratedStores.ts", "./test/Program.ts"],
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Most of the time tests wait: for nodes, receivers, restarts. One worker a core would leave the cores idle.
    maxWorkers: 4,
    // Files share the modules of their worker, which they would spend a tenth of the time to load anew; no test changes one.
    isolate: false,
    // Guards against hanging alone: real nodes and killed processes take their time on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
