import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { everyWay } from "./Turn.ts"
import { files, waitingFiles } from "./WaitingFiles.ts"

const root = join(import.meta.dirname, "..")

describe("files that wait for another turn", () => {
  it("are there, each named once", () => {
    assert.deepStrictEqual(
      files.filter((file) => !existsSync(join(root, file))),
      []
    )
    assert.strictEqual(new Set(files).size, files.length)
  })

  it.skipIf(everyWay)("are each run in one turn of four, with either half of what they share out", () => {
    for (const other of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const run = [0, 8, 16, 24].flatMap((turn) => {
        const those = new Set(waitingFiles(["run"], turn + other))
        return files.filter((file) => !those.has(file))
      })
      assert.deepStrictEqual(run.toSorted(), files.toSorted())
    }
  })

  it.skipIf(everyWay)("wait in a run of all files, however it is reported", () => {
    const most = waitingFiles(["run"])
    assert.isAbove(most.length, files.length / 2)
    for (const args of ["", "run --maxWorkers 1", "run --reporter json --sequence.seed=7 --exclude=test/Image.test.ts"])
      assert.deepStrictEqual(waitingFiles(args.split(" ").filter(Boolean)), most, args)
  })

  it("do not wait in a run of files or tests that are named, or of a part of all", () => {
    for (const args of [
      "run test/Evm.test.ts",
      "run -t name",
      "run --testNamePattern=name",
      "--shard 1/2",
      "run --changed"
    ])
      assert.deepStrictEqual(waitingFiles(args.split(" ")), [], args)
  })
})
