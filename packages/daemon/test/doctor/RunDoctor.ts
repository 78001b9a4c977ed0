/** `headwater doctor` for tests, and nodes that lack something. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type { Finding } from "../../src/doctor/Finding.ts"
import { runCommand } from "../RunCommand.ts"

/** A folder of a test's own. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-doctor-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A node that is another one but for some methods. */
export const without = (url: string, missing: RegExp) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const refuse = (call: { readonly id: unknown; readonly method: string }) => ({
        ...{ jsonrpc: "2.0", id: call.id },
        error: { code: -32601, message: `the method ${call.method} does not exist` }
      })
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", async () => {
          const body = JSON.parse(Buffer.concat(chunks).toString())
          const answers = await Promise.all(
            [body].flat().map(async (call) => {
              if (missing.test(call.method)) return refuse(call)
              const headers = { "content-type": "application/json" }
              return (await fetch(url, { method: "POST", headers, body: JSON.stringify(call) })).json()
            })
          )
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
        })
      })
      // No WebSocket here.
      server.on("upgrade", (_, socket) => socket.destroy())
      server.listen(0, "127.0.0.1", () => {
        const address = server.address() as { readonly port: number }
        resume(Effect.succeed({ url: `http://127.0.0.1:${address.port}`, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Runs `headwater doctor` with these settings, within this process. */
export const doctor = Effect.fnUntraced(function* (cwd: string, settings: object) {
  const file = join(cwd, "headwater.json")
  const store = { sqlite: join(cwd, "headwater.db") }
  writeFileSync(file, JSON.stringify({ http: { port: 0 }, store, ...settings }))
  const { code, stderr, stdout } = yield* runCommand(["doctor", "--config", file, "--json"])
  const findings: ReadonlyArray<Finding> = stdout === "" ? [] : JSON.parse(stdout)
  return { code, stderr, findings, problems: findings.filter(({ level }) => level === "problem") }
})
