import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: ["./test/PostgresServer.ts", "./test/Program.ts"],
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Most of the time tests wait: for nodes, receivers, restarts. One worker a core would leave the cores idle.
    maxWorkers: 4,
    // Real nodes and killed processes on a busy machine: one more try in CI, which names every test that needed it.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
