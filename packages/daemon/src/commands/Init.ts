/** `headwater init`: asks a few questions and writes a settings file in which every setting is explained. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Terminal from "effect/Terminal"
import { commandName, quoted } from "../CommandName.ts"
import * as FindingText from "../internal/FindingText.ts"
import * as Screen from "../internal/Screen.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import * as SettingsTemplate from "../settings/SettingsTemplate.ts"
import * as ChainArgument from "./ChainArgument.ts"

/** No chain is named, or the file exists already. */
export class CannotInit extends Schema.TaggedError<CannotInit>()("CannotInit", { message: Schema.String }) {}

const known = new Map(Chain.all.map((chain) => [Chain.nameOf(chain), chain]))

const nodeUrl =
  ({ exampleNode }: Chain.Chain) =>
  (text: string) =>
    /^(https?|wss?):$/.test(URL.parse(text)?.protocol ?? "")
      ? Effect.succeed(text)
      : Effect.fail(`Write a URL such as ${exampleNode}`)

/** `ethereum/mainnet=http://127.0.0.1:8545`; the same chain may come again with another node. */
const chainFlags = Effect.fnUntraced(function* (flags: ReadonlyArray<string>) {
  const chains = new Map<string, Array<string>>()
  for (const flag of flags) {
    const [name = "", ...rest] = flag.split("=")
    const url = rest.join("=")
    const chain = known.get(name)
    if (chain === undefined) {
      const { message } = yield* Effect.flip(ChainArgument.parse(name))
      return yield* new CannotInit({ message: `--chain: ${message}. Write --chain ethereum/mainnet=http://…` })
    }
    yield* Effect.mapError(nodeUrl(chain)(url), (message) => new CannotInit({ message: `--chain ${name}: ${message}` }))
    chains.set(name, [...(chains.get(name) ?? []), url])
  }
  return chains
})

/** Asks the node what the doctor asks, and prints what is wrong; whether nothing is. */
const look = Effect.fnUntraced(function* (chain: Chain.Chain, url: string) {
  // Loaded here only, with the sources of every family.
  const UrlCheck = yield* Effect.promise(() => import("../doctor/UrlCheck.ts"))
  const found = yield* UrlCheck.check(chain, url)
  // What is wrong with the URL is said once the file is read.
  if (found === undefined) return true
  const screen = yield* Screen.errors
  const wrong = found.filter(({ level }) => level !== "ok")
  const [first] = found
  if (wrong.length > 0 && first !== undefined) {
    yield* Console.error([first.subject, ...wrong.flatMap(FindingText.lines(screen))].join("\n"))
  }
  return wrong.every(({ level }) => level !== "problem")
})

const askNode = Effect.fnUntraced(function* (
  chain: Chain.Chain
): Effect.fn.Return<string, Terminal.QuitError, Prompt.Environment> {
  const message = `URL of the node of ${Chain.nameOf(chain)}, such as ${chain.exampleNode}`
  for (;;) {
    const url = yield* Prompt.run(Prompt.String({ message, validate: nodeUrl(chain) }))
    yield* Console.error("Asking the node …")
    if (yield* look(chain, url)) {
      yield* Console.error(`The node serves ${Chain.nameOf(chain)}`)
      return url
    }
    const keep = yield* Prompt.run(Prompt.Confirm({ message: "Keep this URL all the same?" }))
    if (keep) return url
  }
})

const ask = Effect.gen(function* () {
  const chains = new Map<string, Array<string>>()
  let more = true
  while (more) {
    const choices = [...known]
      .filter(([name]) => !chains.has(name))
      .map(([name, chain]) => ({ title: name, value: chain }))
    const message = chains.size === 0 ? "Which chain?" : "Which other chain?"
    const chain = yield* Prompt.run(Prompt.AutoComplete({ message, choices }))
    chains.set(Chain.nameOf(chain), [yield* askNode(chain)])
    more = yield* Prompt.run(Prompt.Confirm({ message: "Another chain?" }))
  }
  const store = yield* Prompt.run(
    Prompt.String({ message: "SQLite file, or postgres:// URL, of the store", default: "headwater.db" })
  )
  const port = yield* Prompt.run(
    Prompt.Int({ message: "Port of the HTTP interface", min: 0, max: 65_535, default: 8080 })
  )
  return { chains, store, port } satisfies SettingsTemplate.Answers
})

export const init = Command.make(
  "init",
  {
    file: Argument.Path("file").pipe(
      Argument.withDescription("The file to write, whose name ends in .toml"),
      Argument.withDefault(SettingsFile.defaultFile)
    ),
    chain: Flag.String("chain").pipe(
      Flag.withDescription("A chain and its node: ethereum/mainnet=http://127.0.0.1:8545; may be repeated"),
      Flag.atLeast(0)
    ),
    store: Flag.String("store").pipe(
      Flag.withDescription("SQLite file, or postgres:// URL, of the store"),
      Flag.withDefault("headwater.db")
    ),
    port: Flag.Int("port").pipe(
      Flag.withSchema(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }, { message: "a number from 0 to 65535" }))
      ),
      Flag.withDescription("Port of the HTTP interface"),
      Flag.withDefault(8080)
    ),
    force: Flag.Boolean("force").pipe(Flag.withDescription("Replace the file if it exists"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ chain, file, force, port, store }) {
    const fs = yield* FileSystem.FileSystem
    // The name says how a file is read.
    if (!/\.toml$/i.test(file)) {
      return yield* new CannotInit({ message: `${file} would be written as TOML: name a file that ends in .toml` })
    }
    if (!force && (yield* fs.exists(file))) {
      return yield* new CannotInit({ message: `${file} exists; --force replaces it` })
    }
    const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
    if (chain.length === 0 && !canPrompt) {
      return yield* new CannotInit({
        message: "There is no terminal to ask on: name the chains, as in --chain ethereum/mainnet=http://127.0.0.1:8545"
      })
    }
    const flags = chain.length === 0 ? undefined : yield* chainFlags(chain)
    const answers = flags === undefined ? yield* ask : { chains: flags, store, port }
    const text = yield* SettingsTemplate.fill(answers)
    // Node and store URLs may hold passwords.
    yield* fs.writeFileString(file, text, { mode: 0o600 })
    const problem = yield* Effect.option(Effect.flip(SettingsFile.load(file, {})))
    if (Option.isSome(problem)) yield* Console.error(problem.value.message)
    if (flags !== undefined) {
      const nodes = [...flags].flatMap(([name, urls]) => urls.map((url) => [known.get(name)!, url] as const))
      yield* Effect.forEach(nodes, ([chain, url]) => look(chain, url), { concurrency: 4, discard: true })
    }
    yield* Console.log(`${file} is written. Next: ${commandName} doctor --config ${quoted(file)}`)
  })
).pipe(
  Command.withDescription(
    "Write a settings file in which every setting is explained; without --chain, init asks some questions. Each node is asked " +
      "what it serves, and what is wrong is said; the file is written all the same"
  ),
  Command.withShortDescription("Write a settings file from some questions"),
  Command.withExamples([
    { command: "headwater init", description: "With questions" },
    {
      command: "headwater init --chain ethereum/mainnet=http://127.0.0.1:8545 --store postgres://db.internal/headwater",
      description: "Without questions"
    }
  ])
)
