import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "../../../../test/Anvil.ts"
import * as Folder from "../../../../test/Folder.ts"
import { program } from "../../../../test/Program.ts"
import { run } from "../Program.ts"
import { runCommand } from "../RunCommand.ts"

/** Gives a program a terminal; util-linux has it. */
const script = "/usr/bin/script"

/** Runs `headwater init` on a terminal: each answer is typed once the terminal shows what it answers. All that was shown. */
const answer = (cwd: string, answers: ReadonlyArray<readonly [shown: string, typed: string]>) =>
  Effect.callback<string>((resume) => {
    const child = spawn(script, ["-qec", `${process.execPath} ${program} init`, "/dev/null"], {
      cwd,
      env: { PATH: process.env.PATH, TERM: "xterm", NO_COLOR: "1" }
    })
    let all = ""
    let since = ""
    const left = [...answers]
    child.stdout.on("data", (chunk: Buffer) => {
      all += chunk.toString("utf8")
      since += chunk.toString("utf8")
      const [next] = left
      if (next === undefined || !since.includes(next[0])) return
      left.shift()
      since = ""
      child.stdin.write(next[1])
    })
    child.on("close", () => resume(Effect.succeed(all)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe("headwater init", () => {
  it.live("writes a settings file that can be used, for its owner alone, with every setting explained", () =>
    Effect.gen(function* () {
      const cwd = yield* Folder.scoped
      const args = [
        "init",
        "--chain",
        "ethereum/devnet=http://127.0.0.1:1",
        "--chain",
        "ethereum/devnet=http://127.0.0.1:2"
      ]
      const done = yield* run([...args, "--chain", "litecoin/regtest=http://u:p@127.0.0.1:3", "--store", "own.db"], {
        cwd
      })
      assert.strictEqual(done.code, 0, done.stderr)
      // Nodes that do not answer are told, and hold up nothing.
      for (const port of [1, 2, 3]) assert.include(done.stderr, `connect ECONNREFUSED 127.0.0.1:${port}`)
      assert.notInclude(done.stderr, "u:p")
      const file = join(cwd, "headwater.toml")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const text = readFileSync(file, "utf8")
      assert.include(text, 'nodes = ["http://127.0.0.1:1", "http://127.0.0.1:2"]')
      assert.include(text, 'nodes = ["http://u:p@127.0.0.1:3"]')
      assert.include(text, 'sqlite = "own.db"')
      assert.match(text, /^# undoDepth = .*blocks that a reorganisation may undo/m)
      assert.notMatch(text, /ethereum\/mainnet"\]/)
      const status = JSON.parse((yield* run(["status", "--json"], { cwd })).stdout)
      assert.deepStrictEqual(
        status.chains.map(({ chain }: { readonly chain: string }) => chain),
        ["litecoin/regtest", "ethereum/devnet"]
      )
      assert.isAbove(statSync(join(cwd, "own.db")).size, 0)

      const refused = yield* run(args, { cwd })
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "headwater.toml exists; --force replaces it")
      const postgres = yield* run([...args, "--force", "--store", "postgres://db/headwater", "--port", "9000"], { cwd })
      assert.strictEqual(postgres.code, 0)
      const now = readFileSync(file, "utf8")
      assert.include(now, 'postgres = "postgres://db/headwater"')
      assert.match(now, /^port = 9000$/m)
      assert.match(now, /^# sqlite = /m)
    }).pipe(Effect.scoped)
  )

  it.live("asks each node what it serves, and says what is wrong", () =>
    Effect.gen(function* () {
      const cwd = yield* Folder.scoped
      const anvil = yield* Anvil.start()
      const init = (chain: string) =>
        runCommand(["init", join(cwd, "headwater.toml"), "--force", "--chain", `${chain}=${anvil.url}`])
      const wrong = yield* init("ethereum/mainnet")
      assert.strictEqual(wrong.code, 0)
      assert.match(
        wrong.stderr,
        /^ethereum\/mainnet 127\.0\.0\.1:\d+\n {2}PROBLEM {2}the node is on chain id 31337, not 1/
      )
      assert.include(wrong.stdout, "is written")
      const right = yield* init("ethereum/devnet")
      assert.deepStrictEqual([right.code, right.stderr], [0, ""])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!existsSync(script))("finds a chain by typing, and asks for another URL where the node is wrong", () =>
    Effect.gen(function* () {
      const cwd = yield* Folder.scoped
      const anvil = yield* Anvil.start()
      const shown = yield* answer(cwd, [
        ["type to filter", "ethereum/dev"],
        ["ethereum/dev]", "\r"],
        ["URL of the node of ethereum/devnet", "http://127.0.0.1:1\r"],
        ["Keep this URL all the same?", "n"],
        ["URL of the node of ethereum/devnet", `${anvil.url}\r`],
        ["Another chain?", "n"],
        ["SQLite file", "\r"],
        ["Port of the HTTP interface", "\r"]
      ])
      assert.include(shown, "connect ECONNREFUSED 127.0.0.1:1")
      assert.include(shown, "The node serves ethereum/devnet")
      const text = readFileSync(join(cwd, "headwater.toml"), "utf8")
      assert.include(text, `[chains."ethereum/devnet"]\nnodes = ["${anvil.url}"]`)
    }).pipe(Effect.scoped)
  )

  it.live("asks nobody where nobody can answer, and names what is wrong", () =>
    Effect.gen(function* () {
      const cwd = yield* Folder.scoped
      const none = yield* run(["init"], { cwd })
      assert.strictEqual(none.code, 1)
      assert.include(none.stderr, "--chain ethereum/mainnet=")
      const chain = yield* run(["init", "--chain", "ethereum/mainet=http://127.0.0.1:1"], { cwd })
      assert.include(chain.stderr, '"ethereum/mainet" is no chain')
      const url = yield* run(["init", "--chain", "ethereum/mainnet=127.0.0.1:1"], { cwd })
      assert.include(url.stderr, "Write a URL such as http://127.0.0.1:8545")
      const chosen = ["--chain", "ethereum/devnet=http://127.0.0.1:1"]
      const port = yield* run(["init", ...chosen, "--port", "65536"], { cwd })
      assert.include(port.stderr, "a number from 0 to 65535")
      // It would be read as YAML, and refused.
      const yaml = yield* run(["init", ...chosen, "headwater.yaml"], { cwd })
      assert.strictEqual(yaml.code, 1)
      assert.include(yaml.stderr, "name a file that ends in .toml")
      assert.deepStrictEqual(readdirSync(cwd), [])
      const dogecoin = yield* run(["init", "--chain", "dogecoin/testnet=127.0.0.1:1"], { cwd })
      assert.include(dogecoin.stderr, "Write a URL such as http://user:password@127.0.0.1:22555")
    }).pipe(Effect.scoped)
  )
})
