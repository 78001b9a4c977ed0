/** docs/getting-started.md as one story, from its settings to a subscription: what it says to run is run, on a development chain. */
import { spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { run } from "../packages/daemon/test/Program.ts"
import * as Anvil from "./Anvil.ts"
import * as Folder from "./Folder.ts"
import { freePort } from "./FreePort.ts"
import * as Pages from "./Pages.ts"
import { program } from "./Program.ts"
import { commandsOf } from "./ShellBlocks.ts"

const page = "docs/getting-started.md"
/** The page has a node of Ethereum at its usual port, and the daemon at its own. */
const chain = "ethereum/mainnet"
const node = "http://127.0.0.1:8545"
const daemon = "http://127.0.0.1:8080"

/** From where the reader's own node comes in: the demo has its own tests. */
const text = Pages.textOf(page).slice(Pages.textOf(page).indexOf("\n## 2."))
const commands = commandsOf(Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, code]) => code!))

/** Preloaded by Node: name servers that know no name, wherever the test runs. */
const noNames = `import { promises } from "node:dns"
for (const method of ["resolve4", "resolve6", "resolveTxt"])
  promises.Resolver.prototype[method] = async () => { throw Object.assign(new Error(), { code: "ENOTFOUND" }) }`

const hasCurl = spawnSync("curl", ["--version"]).status === 0

describe("getting started", () => {
  it.live.skipIf(!hasCurl)("leads from settings to a subscription", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const cwd = yield* Folder.scoped
      const port = yield* freePort
      const url = `http://127.0.0.1:${port}`
      const environment = { HEADWATER_HTTP_PORT: String(port) }
      let key = ""
      const here = (word: string) =>
        word
          .replaceAll(chain, "ethereum/devnet")
          .replaceAll(node, anvil.url)
          .replaceAll(daemon, url)
          .replaceAll("hw_…", key)
      const headwater = (args: ReadonlyArray<string>) => run(args.map(here), { cwd, environment })

      const [, init] = /`npm start -- (init --chain [^`]+)`/.exec(text)!
      const initiated = yield* headwater(init!.split(" "))
      assert.strictEqual(initiated.code, 0, initiated.stderr)

      /** What each command came to: an exit code, or the status of an answer. */
      const ended: Array<readonly [string, number | null]> = []
      for (const [command, ...words] of commands) {
        const said = [command, ...words].join(" ").slice(0, 60)
        if (command === "npm") {
          const args = words.slice(2)
          if (args[0] === "serve") {
            yield* Effect.acquireRelease(
              Effect.sync(() =>
                spawn(
                  process.execPath,
                  ["--import", `data:text/javascript,${encodeURIComponent(noNames)}`, program, ...args],
                  {
                    cwd,
                    env: { PATH: process.env.PATH, ...environment },
                    stdio: "ignore"
                  }
                )
              ),
              (child) => Effect.sync(() => child.kill("SIGKILL"))
            )
            const isReady = Effect.promise(() =>
              fetch(`${url}/ready`).then(
                ({ ok }) => ok,
                () => false
              )
            )
            yield* isReady.pipe(Effect.delay("50 millis"), Effect.repeat({ until: (ready) => ready }))
            continue
          }
          const { code, stderr, stdout } = yield* headwater(args)
          ended.push([args.join(" "), code])
          assert.strictEqual(code, 0, `${args.join(" ")}:\n${stdout}${stderr}`)
          key = /hw_[\w-]+/.exec(stdout)?.[0] ?? key
        } else {
          // `-i` and `-s` say what is printed; the status comes last.
          const output = yield* Effect.promise(
            () =>
              new Promise<string>((resolve) => {
                const child = spawn(command!, [...words.map(here), "-o", "/dev/null", "-w", "%{http_code}"])
                let printed = ""
                child.stdout.on("data", (chunk: Buffer) => {
                  printed += chunk.toString("utf8")
                })
                child.once("close", () => resolve(printed))
              })
          )
          ended.push([said, Number(output.slice(-3))])
          // Nobody can publish a token for the page's domain here: an operator vouches for it, as the page says as well.
          if (words.some((word) => word.endsWith("/verify"))) {
            const approved = yield* headwater(["domains", "approve", "acme", "hooks.example.com"])
            assert.strictEqual(approved.code, 0, approved.stderr)
          }
        }
      }
      assert.deepStrictEqual(
        ended.map(([, outcome]) => outcome),
        [0, 0, 0, 0, 200, 201, 409, 201],
        JSON.stringify(ended)
      )
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(process.platform === "win32")("a daemon that npm started ends when npm is told to end", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped
      const port = yield* freePort
      const config = join(folder, "headwater.json")
      writeFileSync(
        config,
        JSON.stringify({
          ...{ store: { sqlite: join(folder, "headwater.db") }, http: { port } },
          chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
        })
      )
      const npm = yield* Effect.acquireRelease(
        // Without `prestart`, which looks whether all packages are installed.
        Effect.sync(() =>
          spawn("npm", ["start", "--ignore-scripts", "--", "serve", "--config", config], {
            ...{ cwd: fileURLToPath(new URL("..", import.meta.url)), detached: true, stdio: "ignore" }
          })
        ),
        ({ pid }) => Effect.ignore(Effect.try(() => process.kill(-pid!, "SIGKILL")))
      )
      const ended = new Promise((resolve) => npm.once("exit", resolve))
      const isUp = Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/health`).then(
          ({ ok }) => ok,
          () => false
        )
      )
      yield* isUp.pipe(Effect.delay("100 millis"), Effect.repeat({ until: (up) => up }))
      npm.kill("SIGTERM")
      yield* Effect.promise(() => ended)
      // Npm waits for what it has started, and for nothing below that.
      assert.isFalse(yield* isUp)
    }).pipe(Effect.scoped)
  )
})
