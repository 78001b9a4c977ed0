/** The alert rules against Prometheus' own tool, where that is installed (Debian's `prometheus`). */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const folder = fileURLToPath(new URL("../observability", import.meta.url))
const promtool = (...args: ReadonlyArray<string>) =>
  spawnSync("promtool", args, { cwd: folder, encoding: "utf8", timeout: 60_000 })
const isInstalled = promtool("--version").status === 0
if (!isInstalled) console.warn("promtool is not installed: the cases of the alert rules are skipped")

describe("alerts", () => {
  it.skipIf(!isInstalled)("are rules as Prometheus reads them", () => {
    const { status, stderr, stdout } = promtool("check", "rules", "alerts.yaml")
    assert.strictEqual(status, 0, `${stdout}${stderr}`)
    assert.match(stdout, /SUCCESS: [1-9]\d* rules found/)
  })

  it.skipIf(!isInstalled)("fire for what they are for, and are silent else", () => {
    const { status, stderr, stdout } = promtool("test", "rules", "alerts.test.yaml")
    assert.strictEqual(status, 0, `${stdout}${stderr}`)
  })
})
