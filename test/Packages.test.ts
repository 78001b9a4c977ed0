/**
 * The four packages as others get them: packed, installed in an empty project outside the workspace, imported by a
 * program that TypeScript checks there and Node runs, started by the name of their command; core bundled for a browser.
 *
 * pnpm installs them here, from what the workspace has downloaded already. With HEADWATER_NPM_INSTALL=1 npm does it as
 * well, which takes half a minute and asks the registry.
 */
import { execFileSync, spawnSync } from "node:child_process"
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
import { build, type Rolldown } from "vite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const names = ["core", "indexer", "http", "daemon"] as const
const pnpm = ["npx", "-y", "--prefer-offline", "pnpm@12.21.0"]

const run = (folder: string, [command, ...args]: ReadonlyArray<string>) =>
  execFileSync(command!, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`, CI: "1" }
  })

/** What TypeScript says of a project, a line each. */
const problemsOf = (project: string) => {
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", ".", "--pretty", "false"], {
    cwd: project,
    encoding: "utf8"
  })
  return stdout.split("\n").filter((line) => /^\S/.test(line))
}

const installers = {
  pnpm: (folder: string, tarballs: Readonly<Record<string, string>>) => {
    // One names the other by its version, which no registry has yet.
    const overrides = Object.entries(tarballs).map(([name, file]) => `  "@headwater/${name}": file:${file}\n`)
    const builds = "allowBuilds:\n  better-sqlite3: false\n  '@foundry-rs/anvil': false\n"
    writeFileSync(join(folder, "pnpm-workspace.yaml"), `pmOnFail: ignore\n${builds}overrides:\n${overrides.join("")}`)
    run(folder, [...pnpm, "add", "--prefer-offline", "effect@4.1.0", ...Object.values(tarballs)])
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
  it("hold what was built, a licence and a README, and no reference to the workspace", () => {
    for (const name of names) {
      const files = run(folder, ["tar", "tzf", tarballs[name]!]).split("\n")
      for (const file of ["LICENSE", "README.md", "package.json"]) assert.include(files, `package/${file}`)
      assert.deepStrictEqual(
        files.filter((file) => /\.ts$/.test(file) && !/\.d\.ts$/.test(file)),
        []
      )
      const manifest = run(folder, ["tar", "xzOf", tarballs[name]!, "package/package.json"])
      assert.notMatch(manifest, /"(catalog|workspace):|\.\/src\/\*/)
    }
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
      run(project, ["tsc", ...options, "--exactOptionalPropertyTypes", "--types", "", ...files])
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
      installers[installer](project, tarballs)
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
      const paths =
        'import("@headwater/daemon/console/Page").then((page) => console.log(...page.answers.map(([path]) => path)))'
      const page = run(project, ["node", "-e", paths]).trim().split(" ")
      for (const path of ["/", "/console.js", "/preact.js", "/hooks.js", "/htm.js", "/uplot.js"])
        assert.include(page, path)
      await bundles(project)
    })
  }

  /** What each use brings with it, which asks the registry: HEADWATER_NPM_INSTALL=1. */
  const uses = {
    "core alone": ["core"],
    "a client": ["core", "http"],
    "an embedded indexer": ["core", "indexer"],
    "the daemon": names
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
 * All of core in one file for browsers, but for the layer that is for Node: no module of Node and no WebAssembly, and it
 * runs where there is neither `process` nor `Buffer`.
 */
const bundles = async (project: string) => {
  const modules = readdirSync(join(project, "node_modules/@headwater/core/dist"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js") && !file.includes("internal/") && file !== "services/Secp256k1Tiny.js")
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
    `headwater["keys/Derivation"].lines({ blockchain: "bitcoin", network: "mainnet", count: 1, extendedPublicKey: ${JSON.stringify(zpub)} }).success[0]`,
    sandbox
  )
  assert.strictEqual(answer, "0 bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`
  console.log(
    `core bundled for a browser: ${kilobytes(code.length)}, ${kilobytes(gzipSync(code).length)} compressed (${modules.length} modules)`
  )
}

/** Account 0 of BIP-84's test vector. */
const zpub = /"(zpub\w+)"/.exec(readFileSync(new URL("./packages/Consumer.ts", import.meta.url), "utf8"))![1]!
