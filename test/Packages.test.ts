/**
 * The four packages as others get them: packed, installed in an empty project outside the workspace, imported by a
 * program that TypeScript checks there and Node runs, started by the name of their command; core bundled for a browser; the
 * daemon alone, with the projects that `headwater new` writes.
 *
 * pnpm installs them here, from what the workspace has downloaded already. With HEADWATER_NPM_INSTALL=1 npm does it as
 * well, which takes half a minute and asks the registry.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import * as Ports from "@headwater/daemon/demo/Ports"
import * as Effect from "effect/Effect"
import { build, type Rolldown } from "vite"
import { afterAll, beforeAll, describe } from "vitest"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import { half } from "./Turn.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const names = ["core", "indexer", "http", "daemon"] as const

/** The compiler's collector runs seldom, which takes a tenth less of the processor. */
const environment = { ...process.env, GOGC: "400" }

/** Threads of the compiler read the same declarations each for itself: one takes three fifths of the processor's time. */
const oneThread = "--singleThreaded"

const run = (folder: string, [command, ...args]: ReadonlyArray<string>) =>
  execFileSync(command!, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`, CI: "1" }
  })

/** Found once: npx looks for it anew each time, in a second. */
const pnpm = [run(root, ["npx", "-y", "--prefer-offline", "-p", "pnpm@12.21.0", "-c", "command -v pnpm"]).trim()]

/** What TypeScript says of a project, a line each. */
const problemsOf = (project: string) => {
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", ".", "--pretty", "false", oneThread], {
    cwd: project,
    encoding: "utf8",
    env: environment
  })
  return stdout.split("\n").filter((line) => /^\S/.test(line))
}

/** Has pnpm take packages of ours from their tarballs: one names the other by its version, which no registry has yet. */
const writeWorkspace = (folder: string, tarballs: Readonly<Record<string, string>>, packages = "") => {
  const overrides = Object.entries(tarballs).map(([name, file]) => `  "@headwater/${name}": file:${file}\n`)
  const text = `pmOnFail: ignore\n${packages}allowBuilds:\n  better-sqlite3: false\noverrides:\n${overrides.join("")}`
  writeFileSync(join(folder, "pnpm-workspace.yaml"), text)
}

const installers = {
  pnpm: (folder: string, tarballs: Readonly<Record<string, string>>, ...others: ReadonlyArray<string>) => {
    writeWorkspace(folder, tarballs)
    run(folder, [...pnpm, "add", "--prefer-offline", ...others, ...Object.values(tarballs)])
  },
  npm: (folder: string, tarballs: Readonly<Record<string, string>>) => {
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    run(folder, ["npm", "install", ...quiet, ...Object.values(tarballs)])
  }
}
const chosen = process.env.HEADWATER_NPM_INSTALL === undefined ? (["pnpm"] as const) : (["pnpm", "npm"] as const)

let folder = ""
const tarballs: Record<string, string> = {}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "headwater-packages-"))
  for (const name of names) {
    run(join(root, "packages", name), [...pnpm, "pack", "--pack-destination", folder])
    tarballs[name] = join(folder, `headwater-${name}-0.1.0.tgz`)
  }
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("packages", () => {
  it("hold what was built, licences and a README, and no reference to the workspace", () => {
    for (const name of names) {
      const files = run(folder, ["tar", "tzf", tarballs[name]!]).split("\n")
      for (const file of ["LICENSE", "README.md", "package.json"]) assert.include(files, `package/${file}`)
      assert.deepStrictEqual(
        files.filter((file) => /\.ts$/.test(file) && !/\.d\.ts$|^package\/templates\//.test(file)),
        []
      )
      const manifest = run(folder, ["tar", "xzOf", tarballs[name]!, "package/package.json"])
      assert.notMatch(manifest, /"(catalog|workspace):|\.\/src\/\*/)
    }
    const licences = run(folder, ["tar", "xzOf", tarballs.daemon!, "package/program/licences.md"])
    for (const library of ["effect", "ethers", "kysely", "pg"])
      assert.match(licences, new RegExp(`^## ${library} - `, "m"))
  })

  it("give the clients to a program that has effect, core and http alone", { timeout: 120_000 }, () => {
    const project = join(folder, "client")
    const scopes = join(project, "node_modules")
    for (const name of ["core", "http"]) {
      const place = join(scopes, "@headwater", name)
      mkdirSync(place, { recursive: true })
      run(place, ["tar", "xzf", tarballs[name]!, "--strip-components=1"])
    }
    const { dependencies } = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8"))
    for (const name of new Set(Object.keys(dependencies).map((dependency) => dependency.split("/")[0]!))) {
      symlinkSync(realpathSync(join(root, "packages/core/node_modules", name)), join(scopes, name))
    }
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
    writeFileSync(join(project, "client.ts"), clientProgram)
    writeFileSync(join(project, "fetch.ts"), fetchProgram)
    // A program of CommonJS gets the same client.
    writeFileSync(join(project, "fetch.cts"), `import Client = require("@headwater/http/client")\n${fetchCall}`)
    // Declarations too are checked: a type out of a package that is not there would be an error.
    const options = ["--module", "NodeNext", "--target", "ES2024", "--lib", "ES2024,DOM", "--strict", "--noEmit"]
    const check = (...files: ReadonlyArray<string>) => {
      const from = performance.now()
      run(project, ["tsc", oneThread, ...options, "--exactOptionalPropertyTypes", "--types", "", ...files])
      return performance.now() - from
    }
    check("client.ts")
    assert.strictEqual(run(project, ["node", "client.ts"]), "HttpClientError\n")

    // The client of one fetch needs none of the others.
    for (const name of ["effect", "@noble", "@scure", "@headwater/core"])
      rmSync(join(scopes, name), { recursive: true })
    const millis = check("fetch.ts", "fetch.cts")
    console.log(`programs with the client of one fetch checked by TypeScript in ${millis.toFixed(0)} ms`)
    writeFileSync(join(project, "fetch.cjs"), `const Client = require("@headwater/http/client")\n${fetchCall}`)
    for (const file of ["fetch.ts", "fetch.cjs"]) {
      assert.strictEqual(run(project, ["node", file]), "ConnectionFailed\n")
    }
  })

  for (const installer of chosen) {
    it(`work in an empty project, installed by ${installer}`, { timeout: 300_000 }, async () => {
      const project = join(folder, installer)
      mkdirSync(project)
      writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
      installers[installer](project, tarballs, ...(installer === "pnpm" ? ["effect@4.1.0"] : []))
      cpSync(join(root, "test/packages/Consumer.ts"), join(project, "Consumer.ts"))
      writeFileSync(
        join(project, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            ...{ module: "NodeNext", target: "ES2024", strict: true, exactOptionalPropertyTypes: true, noEmit: true },
            ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] }
          },
          files: ["Consumer.ts"]
        })
      )
      // Declarations too are checked: ours have no error, whatever others' have.
      assert.deepStrictEqual(
        problemsOf(project).filter((line) => !/^\.*\/?node_modules\/(?!.*@headwater\/)/.test(line)),
        []
      )
      assert.deepStrictEqual(JSON.parse(run(project, ["node", "Consumer.ts"])), {
        derived: ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
        directions: ["incoming"],
        stored: 9,
        client: "HttpClientError"
      })
      assert.include(run(project, ["npx", "--no-install", "headwater", "--help"]), "headwater <subcommand>")
      assert.match(JSON.parse(run(project, ["node_modules/.bin/headwater", "openapi"])).openapi, /^3\./)
      // The libraries of the console's page, as the installed program finds them.
      const libraries = ["preact", "preact/hooks", "htm", "uplot/dist/uPlot.iife.min.js", "uplot/dist/uPlot.min.css"]
      const read = `for (const name of ${JSON.stringify(libraries)}) fs.readFileSync(new URL(import.meta.resolve(name)))`
      const installed = join(project, "node_modules/@headwater/daemon")
      run(installed, ["node", "--input-type=module", "-e", `import fs from "node:fs"; ${read}`])
      await bundles(project)
    })
  }

  for (const installer of chosen) {
    it(`bring little with the daemon alone, installed by ${installer}`, { timeout: 120_000 }, () => {
      const project = join(folder, `daemon-by-${installer}`)
      mkdirSync(project)
      writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
      installers[installer](project, { daemon: tarballs.daemon! })
      const [bytes] = run(project, ["du", "-sb", "node_modules"]).split("\t")
      console.log(`the daemon alone, installed by ${installer}: ${(Number(bytes) / 1e6).toFixed(1)} MB`)
      assert.isBelow(Number(bytes), 60_000_000)
      const demo = spawnSync(process.execPath, ["node_modules/@headwater/daemon/bin/headwater.cjs"], {
        ...{ cwd: project, encoding: "utf8" }
      })
      assert.strictEqual(demo.status, 1)
      const { catalog } = readWorkspace()
      const missing = ["@foundry-rs/anvil", "@peculiar/x509", "reflect-metadata"]
      const names = missing.map((name) => `${name}@${catalog(name)}`)
      assert.include(demo.stderr, `npm install ${names.join(" ")}\n`)
    })
  }

  it.live(
    "write projects that run against a daemon",
    () =>
      Effect.gen(function* () {
        const place = join(folder, "projects")
        const maker = join(place, "maker")
        mkdirSync(maker, { recursive: true })
        writeFileSync(
          join(maker, "package.json"),
          JSON.stringify({ private: true, dependencies: { "@headwater/daemon": "0.1.0" } })
        )
        writeWorkspace(place, tarballs, 'packages: ["*"]\n')
        run(place, [...pnpm, "install", "--prefer-offline", "--no-frozen-lockfile"])
        const program = join(maker, "node_modules/@headwater/daemon/bin/headwater.cjs")
        const headwater = (...args: ReadonlyArray<string>) => [process.execPath, program, ...args]
        for (const kind of ["receiver", "embedded", "client"]) run(place, headwater("new", kind, kind))
        const again = spawnSync(process.execPath, [program, "new", "client", "client"], {
          cwd: place,
          encoding: "utf8"
        })
        assert.strictEqual(again.status, 1)
        assert.include(again.stderr, "client is not empty; name another folder: npx headwater new client FOLDER")
        run(place, [...pnpm, "install", "--prefer-offline", "--no-frozen-lockfile"])
        for (const kind of half("projects that TypeScript checks", ["receiver", "client", "embedded"])) {
          assert.deepStrictEqual(problemsOf(join(place, kind)), [])
        }
        run(join(place, "receiver"), ["npm", "test"])

        const anvil = yield* Anvil.start({})
        const daemon = yield* Headwater.start(
          { kind: "sqlite", file: join(place, "store.db") },
          {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"] }
          }
        )
        const port = yield* Ports.free(0)
        const watched = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
        const environment = { CALLBACK_SECRET: "a secret of the test", NODE_NO_WARNINGS: "1" }
        const start = (kind: string, command: ReadonlyArray<string>, own: Readonly<Record<string, string>>) =>
          startProgram(join(place, kind), command, { ...environment, ...own })
        const script = ["npm", "start"]
        const receiver = yield* start("receiver", script, { PORT: String(port) })
        yield* receiver.until(/Listening on http/)
        const forward = ["--forward", `http://127.0.0.1:${port}/callbacks`, "--service", daemon.url]
        const listen = yield* start("maker", headwater("listen", ...forward), { HEADWATER_API_KEY: daemon.apiKey })
        yield* listen.until(/Passing callbacks/)
        const embedded = yield* start("embedded", script, { NODE_URL: anvil.url, ADDRESSES: watched })
        yield* embedded.until(/Following ethereum\/devnet/)
        const client = yield* start("client", script, { API_KEY: daemon.apiKey, SERVICE: daemon.url, ADDRESS: watched })
        yield* client.until(/Subscribed 0x15d3[\s\S]*\nactive ADDRESS_COINS_TRANSACTION_CONFIRMED 0x15d3/)

        const [rich] = yield* anvil.rpc<[string]>("eth_accounts", [])
        // Callbacks are passed on from when `listen` has asked for the first time: a deposit each moment until then.
        yield* anvil
          .rpc("eth_sendTransaction", [{ from: rich, to: watched, value: "0x6f05b59d3b20000" }])
          .pipe(
            Effect.andThen(Effect.sleep("200 millis")),
            Effect.repeat({ until: () => receiver.hasPrinted(/Verified/) })
          )
        yield* receiver.until(/Verified and kept: ADDRESS_COINS_TRANSACTION_CONFIRMED .*"amount":"0.5"/)
        assert.notInclude(receiver.printed(), "Refused")
        yield* embedded.until(/Deposit: 0.5 ETH to 0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65 in block \d/)
      }).pipe(Effect.scoped),
    120_000
  )

  /** What each use brings with it, which asks the registry: HEADWATER_NPM_INSTALL=1. */
  const uses = {
    "core alone": ["core"],
    "a client": ["core", "http"],
    "an embedded indexer": ["core", "indexer"],
    "the daemon": ["daemon"]
  }
  it.skipIf(process.env.HEADWATER_NPM_INSTALL === undefined)(
    "bring no server and no database with a client",
    { timeout: 300_000 },
    () => {
      const installed = Object.entries(uses).map(([use, own]) => {
        const project = join(folder, use.replaceAll(" ", "-"))
        mkdirSync(project)
        writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
        installers.npm(project, Object.fromEntries(own.map((name) => [name, tarballs[name]!])))
        const packages = run(project, ["npm", "ls", "--all", "--parseable"]).trim().split("\n").slice(1)
        const [kilobytes] = run(project, ["du", "-sk", "node_modules"]).split("\t")
        console.log(`${use}: ${packages.length} packages, ${(Number(kilobytes) / 1000).toFixed(1)} MB`)
        return packages
      })
      const server = /node_modules\/(@headwater\/indexer|better-sqlite3|pg|kysely|ethers|@effect\/platform-node)$/
      assert.deepStrictEqual(
        installed[1]!.filter((one) => server.test(one)),
        []
      )
    }
  )
})

/** Exact versions of the workspace. */
const readWorkspace = () => {
  const text = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")
  return { catalog: (name: string) => new RegExp(`^  "?${name}"?: (\\S+)$`, "m").exec(text)![1] }
}

/** Runs a program until the scope ends, with what it prints. */
const startProgram = (
  cwd: string,
  [command, ...args]: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    let printed = ""
    const PATH = `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(command!, args, { cwd, detached: true, env: { ...process.env, PATH, ...environment } })),
      // npm is a process of its own above the program.
      ({ pid }) => Effect.ignore(Effect.try(() => process.kill(-pid!, "SIGKILL")))
    )
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        printed += chunk.toString("utf8")
      })
    }
    const hasPrinted = (pattern: RegExp) => pattern.test(printed)
    const until = (pattern: RegExp) =>
      Effect.gen(function* () {
        for (let i = 0; i < 1_200; i++) {
          if (hasPrinted(pattern)) return
          yield* Effect.sleep("50 millis")
        }
        return yield* Effect.die(new Error(`${pattern} did not show up in\n${printed}`))
      })
    return { until, hasPrinted, printed: () => printed }
  })

/** Nobody listens where the client calls: its failure shows that the client was made. */
const clientProgram = `
import * as Client from "@headwater/http/contract/Client"
import * as Effect from "effect/Effect"
const failure = await Client.makeFetch({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none" }).pipe(
  Effect.flatMap((client) => client.credits.balance({ query: {} })),
  Effect.map(({ item }): number => item.available),
  Effect.flip,
  Effect.runPromise
)
console.log(failure._tag)
`

const fetchCall = `
const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", attempts: 1 })
client.credits.balance().then(
  ({ item }) => item.available.toFixed(),
  (failure) => console.log(failure._tag)
)
`
const fetchProgram = `import * as Client from "@headwater/http/client"\n${fetchCall}`

/**
 * All of core in one file for browsers, but for the layer that is for Node and the kernels, which read what nodes answer: no
 * module of Node and no WebAssembly, and it runs where there is neither `process` nor `Buffer`.
 */
const bundles = async (project: string) => {
  const modules = readdirSync(join(project, "node_modules/@headwater/core/dist"), { recursive: true, encoding: "utf8" })
    .filter(
      (file) => file.endsWith(".js") && !file.includes("internal/") && !/(?:Secp256k1Tiny|Kernel)\.js$/.test(file)
    )
    .map((file) => file.slice(0, -3))
  assert.isAbove(modules.length, 20)
  const entry = join(project, "browser.js")
  const lines = modules.map((name) => `export * as "${name}" from "@headwater/core/${name}"`)
  writeFileSync(entry, lines.join("\n"))
  const built = (await build({
    ...{ root: project, configFile: false, logLevel: "error" },
    build: { write: false, minify: true, target: "es2022", lib: { entry, formats: ["iife"], name: "headwater" } }
  })) as ReadonlyArray<Rolldown.RolldownOutput>
  const code = built[0]!.output[0].code
  assert.strictEqual(built[0]!.output.length, 1)
  assert.notMatch(code, /__vite-browser-external|require\(|from\s*"node:|import\(|WebAssembly/)
  const sandbox = createContext({ crypto, TextEncoder, TextDecoder, URL })
  runInContext(code.replace(/^var headwater/, "globalThis.headwater"), sandbox)
  const answer = runInContext(
    `headwater.Plain.derive("bitcoin/mainnet", ${JSON.stringify(zpub)}, { count: 1 })[0].address`,
    sandbox
  )
  assert.strictEqual(answer, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`
  console.log(
    `core bundled for a browser: ${kilobytes(code.length)}, ${kilobytes(gzipSync(code).length)} compressed (${modules.length} modules)`
  )
}

/** Account 0 of BIP-84's test vector. */
const zpub = /"(zpub\w+)"/.exec(readFileSync(new URL("./packages/Consumer.ts", import.meta.url), "utf8"))![1]!
