/**
 * Blocks of code and commands in the pages: each is run, or read by what it is for. `test/Docs.test.ts` has the blocks in
 * programming languages. What nothing here can check stands in `elsewhere`, with the reason.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { parser as promql } from "@prometheus-io/lezer-promql"
import Sqlite from "better-sqlite3"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Folder from "../../../test/Folder.ts"
import { document, operations, wrongWithExample } from "../../http/test/Contract.ts"
import * as Pages from "../../../test/Pages.ts"
import { commandsOf } from "../../../test/ShellBlocks.ts"
import { command as headwater } from "../src/Cli.ts"
import * as SettingsFile from "../src/settings/SettingsFile.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const ofSystem = "of the system"
const ofNode = "a node: its flags are those of its documentation"
const ofPackaging = "the packaging's tests run what is packed; the files that it names are looked for here"

/** Programs and files of others, which this test has not. */
const elsewhere: Readonly<Record<string, string>> = {
  ...{
    cat: ofSystem,
    cp: ofSystem,
    date: ofSystem,
    journalctl: ofSystem,
    mkdir: ofSystem,
    rm: ofSystem,
    systemctl: ofSystem
  },
  ...{ besu: ofNode, erigon: ofNode, geth: ofNode, nethermind: ofNode, nitro: ofNode, reth: ofNode },
  ...{ kubectl: ofPackaging, podman: ofPackaging, "systemd-run": ofPackaging },
  openssl: "OpenSSL prints the signature; the same is computed by the samples in seven languages",
  "zebrad.toml": "the settings of a node"
}

/** Blocks that other tests run: `Docs.test.ts` those in languages, the site's build draws pictures. */
const runByOthers = ["ts", "js", "java", "ruby", "php", "go", "python", "mermaid"]
const checkedHere = ["sh", "toml", "json", "promql", "sql", "ini"]

const blocksOf = (language: string) => Pages.blocks.filter((block) => block.language === language)

/** The root command as it reads arguments; what it reads is not done. */
const reading: Command.Command<"headwater", object, object, unknown> = Object.create(headwater, {
  handle: { value: () => Effect.void }
})
const silent = Effect.map(Console.Console, (console) => ({ ...console, log: () => {}, error: () => {} }))

/** What the command line says of arguments: the kinds of errors. */
const refusals = (args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const exit = yield* Command.runWith(reading, { version: "", renderErrors: false })(args).pipe(
      Effect.provideService(Console.Console, yield* silent),
      Effect.provide(NodeServices.layer),
      Effect.exit
    )
    if (Exit.isSuccess(exit)) return []
    const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause)) as
      | { readonly _tag: string; readonly errors?: ReadonlyArray<{ readonly _tag: string }> }
      | undefined
    return failure?.errors?.map(({ _tag }) => _tag) ?? [failure?._tag ?? "Defect"]
  })

/** The arguments of Headwater's program where that is what is called; undefined where it is another. */
const argumentsOf = ([command, ...args]: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const file = args.findIndex((arg) => arg.endsWith("/bin/headwater.cjs"))
  if (file !== -1) return args.slice(file + 1)
  if (command === "headwater") return args
  if (command === "npx" && ["@headwater/daemon", "headwater"].includes(args[0]!)) return args.slice(1)
  if (command === "npm" && args[0] === "start") return args[1] === "--" ? args.slice(2) : args.slice(1)
  return undefined
}

interface Request {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The request that curl sends for its arguments. Throws for a flag that no page has yet. */
const requestOf = (args: ReadonlyArray<string>): Request => {
  const headers: Record<string, string> = {}
  let method: string | undefined
  let body: string | undefined
  let url: string | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === "-H") {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(args[++i]!)!
      headers[name!.toLowerCase()] = value!
    } else if (arg === "-d") body = args[++i]
    else if (arg === "-X") method = args[++i]
    else if (/^-[sSiNf]+$/.test(arg)) continue
    else if (arg.startsWith("http")) url = arg
    else throw new Error(`curl ${arg} is not known to this test`)
  }
  return { method: method ?? (body === undefined ? "GET" : "POST"), url: new URL(url!), headers, body }
}

const operationOf = ({ method, url }: Request) =>
  operations.find(
    (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{[^}]*\}/g, "[^/]+")}$`).test(url.pathname)
  )

/** Routes of the daemon that are no operations of the interface. */
const otherRoutes = ["/health", "/ready", "/metrics", "/docs", "/openapi.json"]

/** What is wrong with a request by the contract. */
const wrongWithRequest = (request: Request): string | undefined => {
  if (request.method === "GET" && otherRoutes.includes(request.url.pathname)) return undefined
  const operation = operationOf(request)
  if (operation === undefined) return `there is no ${request.method} ${request.url.pathname}`
  if (request.headers["x-api-key"] === undefined) return "x-api-key is missing"
  const known = operation.parameters.map(({ name }) => name)
  const unknown = [...request.url.searchParams.keys()].find((name) => !known.includes(name))
  if (unknown !== undefined) return `there is no parameter ${unknown}`
  if (request.body === undefined) return operation.requestBody?.required === true ? "the body is missing" : undefined
  if (request.headers["content-type"] !== "application/json") return "content-type is missing"
  if (operation.requestBody === undefined) return "the operation has no body"
  return wrongWithExample(operation.requestBody.content["application/json"]!.schema, JSON.parse(request.body))
}

const scripts = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts)

/** What is wrong with a command that is not Headwater's. */
const wrongWithCommand = ([command, ...args]: ReadonlyArray<string>): string | undefined => {
  const missing = (files: ReadonlyArray<string>) => files.find((file) => globSync(file, { cwd: root }).length === 0)
  if (Object.hasOwn(elsewhere, command!)) {
    const gone = missing(args.filter((arg) => /^(?:deploy|docs|examples|packages)\//.test(arg)))
    return gone === undefined ? undefined : `there is no file ${gone}`
  }
  if (command === "curl") return wrongWithRequest(requestOf(args))
  // Docs.test.ts sees to the names of packages.
  if (command === "npm" && ["install", "i"].includes(args[0]!)) return undefined
  if (command === "npm") {
    const [script = ""] = args.filter((arg) => arg !== "run" && !arg.startsWith("-"))
    return scripts.includes(script) ? undefined : `there is no script ${script}`
  }
  if (["bash", "node", "node_modules/.bin/node", "node_modules/.bin/vitest"].includes(command!)) {
    const files = args.filter((arg) => arg.includes("/"))
    const gone = missing(files)
    return files.length === 0 || gone !== undefined ? `there is no file ${gone ?? ""}` : undefined
  }
  return "no test knows this command: run it here, or name it in `elsewhere` with the reason"
}

const shellPages = [...new Set(blocksOf("sh").map(({ page }) => page))].map((page) => ({
  page,
  commands: commandsOf(
    blocksOf("sh")
      .filter((block) => block.page === page)
      .map(({ code }) => code)
  )
}))

/** Commands in the middle of sentences: their arguments may be left out, or be words for what stands there. */
const inSentences = Pages.all.flatMap((page) =>
  Array.from(
    Pages.textOf(page).matchAll(/`((?:headwater|npm start --|npx (?:@headwater\/daemon|headwater)) [^`]+)`/g),
    ([, command]) => ({ page, command: command! })
  )
)

/** A page shows a part of the settings: with a chain and a store where it has none, and with the files that it names. */
const wholeSettings = (code: string, folder: string): string => {
  const chain = /^\[chains\./m.test(code) ? "" : '\n[chains."ethereum/devnet"]\nnodes = ["http://127.0.0.1:8545"]\n'
  const store = /^\[store\]/m.test(code) ? "" : '\n[store]\nsqlite = "headwater.db"\n'
  let files = 0
  const text = code.replaceAll(/^(.*?)\{ file = "[^"]+" \}/gm, (line, before: string) => {
    const file = join(folder, `secret-${files++}`)
    const scheme = before.startsWith("postgres") ? "postgres" : "http"
    writeFileSync(file, `${scheme}://user:password@127.0.0.1:1234/name`)
    return `${line.slice(0, line.indexOf("{ file"))}{ file = ${JSON.stringify(file)} }`
  })
  return `${text}${store}${chain}`
}

/** Names of the file that a block is of, in a comment at its beginning, where it is not `headwater.toml`. */
const fileOf = (code: string) => /^# (\S+\.\w+)$/m.exec(code.split("\n")[0]!)?.[1]

describe("code in the pages", () => {
  it("is in languages that a test reads", () => {
    const drawing = /[►▲│└]/
    const blocks = Pages.blocks.filter(({ code, language }) => language !== "" || !drawing.test(code))
    const languages = new Set(blocks.map(({ language }) => language))
    assert.includeMembers([...runByOthers, ...checkedHere], [...languages])
    assert.isAbove(Pages.blocks.length, 300)
  })

  it.live("for the shell calls commands, flags, files, routes and bodies that there are", () =>
    Effect.gen(function* () {
      const wrong: Array<string> = []
      let count = 0
      for (const { commands, page } of shellPages) {
        for (const command of commands) {
          count++
          const args = argumentsOf(command)
          const found = args === undefined ? wrongWithCommand(command) : (yield* refusals(args)).join(", ")
          if (found !== undefined && found !== "") wrong.push(`${page}: ${command.join(" ")}: ${found}`)
        }
      }
      assert.deepStrictEqual(wrong, [])
      assert.isAbove(count, 60)
      // That each kind of mistake is seen.
      assert.include((yield* refusals(["kyes", "create"])).join(), "UnknownSubcommand")
      assert.include((yield* refusals(["keys", "create", "acme", "--nmae", "x"])).join(), "UnrecognizedOption")
      const curl = (...args: ReadonlyArray<string>) => wrongWithCommand(["curl", "-H", "x-api-key: k", ...args])
      assert.match(curl("http://h/nowhere")!, /there is no GET/)
      assert.match(curl("http://h/callbacks?strat=now")!, /parameter strat/)
      assert.match(curl("-H", "content-type: application/json", "-d", "{}", "http://h/domains")!, /data/)
      assert.match(wrongWithCommand(["node", "bench/nowhere.ts"])!, /no file/)
      assert.match(wrongWithCommand(["npm", "run", "nothing"])!, /no script/)
      assert.match(wrongWithCommand(["unheard-of"])!, /no test knows/)
    })
  )

  it.live("in sentences names commands and flags that there are", () =>
    Effect.gen(function* () {
      const wrong: Array<string> = []
      // Of alternatives the first.
      const texts = inSentences.map(({ command }) =>
        command.replaceAll(/\|[\w|-]+/g, "").replaceAll(/[<>|…[\]()]/g, "_")
      )
      const all = commandsOf(texts.flatMap((text, index) => [`sentence ${index}`, text]))
      let at = inSentences[0]!
      for (const words of all) {
        if (words[0] === "sentence") at = inSentences[Number(words[1])]!
        const args = argumentsOf(words)
        if (args === undefined) continue
        const { command, page } = at
        const found = (yield* refusals(args)).filter((tag) => /Unknown|Unrecognized/.test(tag))
        if (found.length > 0) wrong.push(`${page}: ${command}: ${found.join(", ")}`)
      }
      assert.deepStrictEqual(wrong, [])
      assert.isAbove(inSentences.length, 50)
    })
  )

  it.live("in TOML is settings that the daemon takes", () =>
    Effect.gen(function* () {
      const ours = blocksOf("toml").filter(({ code }) => !Object.hasOwn(elsewhere, fileOf(code) ?? ""))
      assert.isAbove(ours.length, 6)
      for (const { code, page } of ours) {
        const folder = yield* Folder.scoped
        const file = join(folder, "headwater.toml")
        writeFileSync(file, wholeSettings(code, folder))
        const problem = yield* SettingsFile.load(file, {}).pipe(
          Effect.as(undefined),
          Effect.catch((error) => Effect.succeed(error.message))
        )
        assert.isUndefined(problem, `${page}:\n${code}`)
      }
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it("in JSON is JSON, and callbacks and bodies fit the contract", () => {
    const kinds = { callback: 0, subscription: 0 }
    for (const { code, page } of blocksOf("json")) {
      const value = JSON.parse(code)
      const webhook = document.webhooks[value.data?.event]
      if (webhook !== undefined) {
        kinds.callback++
        assert.isUndefined(
          wrongWithExample(webhook.post.requestBody.content["application/json"].schema, value),
          `${page}: ${code}`
        )
      } else if (value.callbackUrl !== undefined) {
        kinds.subscription++
        const { requestBody } = operations.find(({ path }) => path.endsWith("/address-coins-transactions-confirmed"))!
        const { schema } = requestBody!.content["application/json"]!
        assert.isUndefined(wrongWithExample(schema, { data: { item: value } }), `${page}: ${code}`)
      }
    }
    assert.isAbove(kinds.callback, 20)
    assert.isAbove(kinds.subscription, 0)
  })

  it("of queries is PromQL, of tables SQL, and of nodes' settings one setting a line", () => {
    const queries = blocksOf("promql")
    assert.isAbove(queries.length, 40)
    for (const { code, page } of queries) {
      promql.parse(code).iterate({
        enter: ({ from, type }) => {
          if (type.isError) assert.fail(`${page}: not PromQL at ${from}: ${code}`)
        }
      })
    }
    for (const { code } of blocksOf("sql")) new Sqlite(":memory:").exec(code)
    for (const { code, page } of blocksOf("ini")) {
      for (const line of code.trimEnd().split("\n")) assert.match(line, /^(?:[a-z]+=\S+(?: +#.*)?|#.*|\[\w+\]|)$/, page)
    }
  })
})
