/** `headwater doctor` for tests, and nodes that lack something. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"
import type { Finding } from "../../src/doctor/Finding.ts"
import { runCommand } from "../RunCommand.ts"

/** A node that is another one but for some methods. */
export const without = (url: string, missing: RegExp) =>
  LocalServer.jsonRpc((call) => {
    const error = { code: -32601, message: `the method ${call.method} does not exist` }
    return missing.test(call.method) ? { jsonrpc: "2.0", id: call.id, error } : LocalServer.ask(url, call)
  })

/** Runs `headwater doctor` with these settings, within this process. */
export const doctor = Effect.fnUntraced(function* (cwd: string, settings: object) {
  const file = join(cwd, "headwater.json")
  const store = { sqlite: join(cwd, "headwater.db") }
  writeFileSync(file, JSON.stringify({ http: { port: 0 }, store, ...settings }))
  const { code, stderr, stdout } = yield* runCommand(["doctor", "--config", file, "--json"])
  const findings: ReadonlyArray<Finding> = stdout === "" ? [] : JSON.parse(stdout)
  return { code, stderr, findings, problems: findings.filter(({ level }) => level === "problem") }
})
