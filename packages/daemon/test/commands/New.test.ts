import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, vi } from "vitest"
import { runCommand } from "../RunCommand.ts"

const folder = mkdtempSync(join(tmpdir(), "headwater-new-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifestOf = (project: string) => JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
const secretOf = (project: string) => /^CALLBACK_SECRET=(\S+)$/m.exec(readFileSync(join(project, ".env"), "utf8"))![1]

/** Runs as below an npm that runs scripts with this Node. */
const runBelow = (node: string, args: ReadonlyArray<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.stubEnv("npm_config_user_agent", `npm/11.0.0 node/v${node} linux x64 workspaces/false`)),
    () => runCommand(args),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

// The packages' own test installs the projects and runs them.
describe("headwater new", () => {
  it.live("gives each project a secret of its own that others cannot read, and the packages of a checkout", () =>
    Effect.gen(function* () {
      const [first, second] = [join(folder, "First Receiver"), join(folder, "second")] as const
      const { code, stdout } = yield* runCommand(["new", "receiver", first])
      assert.strictEqual(code, 0)
      assert.include(stdout, `cd '${first}'\n  npm install\n`)
      // Read in the project, where npm start is the project's own, and with no key in the list of processes.
      const checkout = new URL("../../../..", import.meta.url).pathname.replace(/\/$/, "")
      assert.include(stdout, `(cd ${checkout} && HEADWATER_API_KEY=hw_… npm start -- listen --forward http`)
      yield* runCommand(["new", "receiver", second])
      assert.notStrictEqual(secretOf(first), secretOf(second))
      assert.strictEqual(statSync(join(first, ".env")).mode & 0o777, 0o600)
      assert.include(readFileSync(join(first, ".gitignore"), "utf8"), ".env\n")
      const { dependencies, devDependencies, name } = manifestOf(first)
      const workspace = readFileSync(new URL("../../../../pnpm-workspace.yaml", import.meta.url), "utf8")
      assert.include(workspace, `"@types/node": ${devDependencies["@types/node"]}\n`)
      assert.strictEqual(name, "first-receiver")
      const core = new URL("../../../core", import.meta.url).pathname
      assert.deepStrictEqual(dependencies, { "@headwater/core": `file:${core}` })
    })
  )

  it.live("brings Node along where npm's is too old to run TypeScript, and nowhere else", () =>
    Effect.gen(function* () {
      for (const [node, brings] of [
        ["20.20.2", true],
        ["22.18.0", true],
        ["22.19.0", false],
        ["24.0.0", false]
      ] as const) {
        const project = join(folder, `node-${node}`)
        assert.strictEqual((yield* runBelow(node, ["new", "client", project])).code, 0)
        assert.strictEqual("optionalDependencies" in manifestOf(project), brings, node)
      }
    })
  )

  it.live("touches no folder that has something in it, and no file", () =>
    Effect.gen(function* () {
      const full = join(folder, "full")
      mkdirSync(full)
      writeFileSync(join(full, "mine"), "")
      const { code, stderr } = yield* runCommand(["new", "embedded", full])
      assert.strictEqual(code, 1)
      assert.include(stderr, `${full} is not empty; name another folder: npm start -- new embedded FOLDER`)
      const file = yield* runCommand(["new", "embedded", join(full, "mine")])
      assert.strictEqual(file.code, 1)
      assert.include(file.stderr, "is no folder; name one that is empty or not there")
    })
  )
})
