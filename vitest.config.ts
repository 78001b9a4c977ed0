import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "./test/globalSetup.ts",
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
