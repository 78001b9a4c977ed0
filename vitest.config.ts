import { tmpdir } from "node:os"
import { join } from "node:path"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { waitingFiles } from "./test/WaitingFiles.ts"

// What a run tries of what there is too much of: others in another run.
process.env.HEADWATER_TURN ??= String(Math.floor(Math.random() * 32))

// What Node has compiled for a SQLite thread, or for a program that a test starts, serves the next one: half of the time that
// the opening of a store takes.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache")

const endToEnd = join(import.meta.dirname, "test/")

/**
 * Begins with the stories, and goes on with the tests end to end, which take longest. A fresh clone knows of no file how long it
 * takes, and begins with large files: these are small, and would run at the end, while other workers have nothing left to do.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const place = ({ moduleId }: TestSpecification) =>
      moduleId.startsWith(join(endToEnd, "simulation")) ? 0 : moduleId.startsWith(endToEnd) ? 1 : 2
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: "./test/Setup.ts",
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...waitingFiles()],
    // Most of the time tests wait: for nodes, receivers, restarts. One worker a core would leave the cores idle.
    maxWorkers: 4,
    // Files share the modules of their worker, which they would spend a tenth of the time to load anew; no test changes one.
    isolate: false,
    // Guards against hanging alone: real nodes and killed processes take their time on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
