/**
 * Reads the settings: a file in TOML, YAML or JSON, and over it the environment (`HEADWATER_HTTP_PORT=9000`).
 *
 * A secret may stand in a file of its own: `{ file = "…" }`, or a variable whose name ends in `_FILE`. Whatever is
 * wrong is reported at once, each problem with its path and never with its value.
 */

import { suggest } from "@headwater/core/Suggestion"
import { userMessage } from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Toml from "effect/encoding/Toml"
import * as Yaml from "effect/encoding/Yaml"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { commandName, quoted } from "../CommandName.ts"
import * as SettingsText from "./internal/SettingsText.ts"
import * as Tree from "./internal/SettingsTree.ts"
import { Settings, schema } from "./Settings.ts"

const Problem = Schema.Struct({
  /** Where, as it would be written in the file; the name of a variable where that is at fault. */
  path: Schema.String,
  message: Schema.String,
  /** The line of the file, from 1, where one has the setting, or what lacks it. */
  line: Schema.optionalKey(Schema.Int)
})
type Problem = typeof Problem.Type

/** The problem with its line, in one line; that of a file which cannot be parsed shows the line below. */
export const describe = ({ line, message, path }: Problem): string =>
  `${line === undefined ? "" : `line ${line}: `}${path} ${message}`

/** The settings cannot be used. */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  /** The file, or the environment where there is none. */
  source: Schema.String,
  problems: Schema.NonEmptyArray(Problem)
}) {
  override get message() {
    const count = this.problems.length === 1 ? "1 problem" : `${this.problems.length} problems`
    return [
      `${count} in the settings (${this.source})`,
      ...this.problems.map((problem) => `  ${describe(problem)}`)
    ].join("\n")
  }
  override get [userMessage]() {
    return this.message
  }
}

/** There is nothing to read settings from. */
export class NoSettings extends Schema.TaggedError<NoSettings>()("NoSettings", { message: Schema.String }) {
  override get [userMessage]() {
    return this.message
  }
}

const ast = Schema.toEncoded(schema).ast
const leaves = new Map(Tree.leaves(ast).map((leaf) => [Tree.variableOf(leaf.path), leaf]))
const names = [...new Set(Tree.leaves(ast).flatMap(({ path }) => path))]
/** Whether a word is the name of a setting, or nearly one. */
const isName = (word: string) => suggest(word, names) !== undefined

/**
 * Whether a variable was meant for us: its second word is a section, or nearly one. Others may begin like ours:
 * Kubernetes makes HEADWATER_SERVICE_HOST and the like for a service of our name.
 */
const isOurs = (name: string) => suggest(name.split("_")[1] ?? "", Tree.namesAt(ast, [])) !== undefined

/** The variable that names the settings file where the command line does not. */
export const fileVariable = "HEADWATER_CONFIG"

/** Read where neither the command line nor the environment names a file. */
export const defaultFile = "headwater.toml"

type Environment = Readonly<Record<string, string | undefined>>

interface Overrides {
  readonly tree: unknown
  /** Path of each overridden setting → the variable or the flag that did it. */
  readonly variables: ReadonlyMap<string, string>
  readonly problems: ReadonlyArray<Problem>
}

/** Bytes of another encoding would be taken for other signs without a word, and so a password for another one. */
const inUtf8 = (bytes: Uint8Array) => Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))

/** The text of a file that a setting names, or what is wrong with the setting. */
const readText = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* Effect.mapError(fs.readFile(file), () => `names a file that cannot be read: ${file}`)
  const text = inUtf8(bytes)
  return Result.isSuccess(text) ? text.success.trim() : yield* Effect.fail(`names a file that is not in UTF-8: ${file}`)
})

/** Lays the environment over the tree of the file, and the flags over both. */
const override = Effect.fnUntraced(function* (tree: unknown, environment: Environment, flags: Environment) {
  let result = tree
  const variables = new Map<string, string>()
  const problems: Array<Problem> = []
  for (const [name, given] of [environment, flags].flatMap((of) => Object.entries(of))) {
    // As the text of files: secrets come with the line's end of the file that they were made from.
    const value = given?.trim() ?? ""
    if (!name.startsWith("HEADWATER_") || name === fileVariable || value === "") continue
    const leaf = leaves.get(name) ?? leaves.get(name.replace(/_FILE$/, ""))
    if (leaf === undefined) {
      if (!isOurs(name)) continue
      const meant = suggest(name, [...leaves.keys()])
      problems.push({ path: name, message: unknown(meant) })
      continue
    }
    const text = leaves.has(name) ? Result.succeed(value) : yield* Effect.result(readText(value))
    if (Result.isFailure(text)) {
      problems.push({ path: name, message: text.failure })
      continue
    }
    const setting = Tree.format(leaf.path)
    variables.set(setting, given === flags[name] ? `--${setting}` : name)
    result = Tree.set(result, leaf.path, Tree.fromText(leaf.ast, text.success))
  }
  return { tree: result, variables, problems } satisfies Overrides
})

const unknown = (meant: string | undefined) =>
  `is not a setting${meant === undefined ? "" : `; did you mean ${meant}?`}`

/** Puts the text of files in place of the references to them. */
const resolveFiles = Effect.fnUntraced(function* (tree: unknown, lineOf: LineOf) {
  const problems: Array<Problem> = []
  const read: Array<Tree.FileReference & { readonly text: string }> = []
  for (const reference of Tree.fileReferences(ast, tree)) {
    const text = yield* Effect.result(readText(reference.file))
    if (Result.isSuccess(text)) read.push({ ...reference, text: text.success })
    else {
      const path = Tree.format(reference.path)
      problems.push({ path, message: text.failure, ...at(lineOf(reference.path)) })
    }
  }
  return { tree: Tree.withFiles(tree, read), problems }
})

const excess = "is not a setting"
const formatter = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? excess
      : issue._tag === "MissingKey"
        ? "is missing"
        : SchemaIssue.defaultLeafHook(issue)
})

/** `Expected "all" | "watched"` → `must be "all" or "watched"`; messages of our own stay as they are. */
const reworded = (message: string) =>
  message
    .replace(/^Expected (?:an )?(?=[aeiou])/, "must be an ")
    .replace(/^Expected (?=[a-z])/, "must be a ")
    .replace(/^Expected /, "must be ")
    .replaceAll(" | ", " or ")

type LineOf = ReturnType<typeof SettingsText.lineFinder>

const at = (line: number | undefined) => (line === undefined ? {} : { line })

const problemsOf = (
  issue: SchemaIssue.Issue,
  variables: Overrides["variables"],
  lineOf: LineOf
): ReadonlyArray<Problem> =>
  formatter(issue).issues.map(({ message, path = [] }) => {
    const keys = path as ReadonlyArray<PropertyKey>
    const text = Tree.format(keys)
    const variable = variables.get(text.replace(/\[\d+\]$/, ""))
    const parent = keys.slice(0, -1).map(String)
    const detail =
      message === excess ? unknown(suggest(String(keys.at(-1)), Tree.namesAt(ast, parent))) : reworded(message)
    return variable === undefined
      ? { path: text, message: detail, ...at(lineOf(keys)) }
      : { path: text, message: `${detail} (set by ${variable})` }
  })

const parseFile = (extension: string, text: string): Result.Result<unknown, string> => {
  switch (extension) {
    case ".toml":
      return Result.mapError(Toml.parse(text), (error) => withQuotes(withoutValues(error.message), text))
    case ".yaml":
    case ".yml":
      return Result.mapError(
        Result.try(() => Yaml.parse(text) ?? {}),
        (error) => withoutValues(String((error as Error).message))
      )
    case ".json":
      return Result.mapError(
        Result.try(() => JSON.parse(text) as unknown),
        (error) => jsonProblem((error as Error).message, text)
      )
    default:
      return Result.fail("must end in .toml, .yaml, .yml or .json")
  }
}

/**
 * A parser quotes what it could not read, and that may be a secret, also in the place of a key: only a single sign may
 * stay, and a key of which each part is the name of a setting.
 */
const withoutValues = (message: string) => {
  const [, key] = /^(?:Cannot redefine existing|Duplicate) key '(.*)'/s.exec(message) ?? []
  return key?.split(".").every((part) => names.includes(part)) === true
    ? message
    : message.replace(/ '(?!.'(?: |$)).*'/s, "")
}

/** What is wrong with `[chains.ethereum/mainnet]`: the slash. */
const withQuotes = (problem: string, text: string) => {
  const [, line] = /at line (\d+)/.exec(problem) ?? []
  const bare = /^\s*\[chains\.[\w-]+\//.test(text.split("\n")[Number(line) - 1] ?? "")
  return bare ? `${problem}: a chain stands in quotes, as in [chains."ethereum/mainnet"]` : problem
}

const jsonProblem = (message: string, text: string) => {
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? Number.NaN)
  if (Number.isNaN(position)) return "is not valid JSON"
  const before = text.slice(0, position).split("\n")
  return `is not valid JSON at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** With the line that the problem names, where one does, and a mark below the column. */
const withExcerpt = (problem: string, text: string): string => {
  const [, line, column = "1"] = /at line (\d+)(?:, column (\d+))?/.exec(problem) ?? []
  if (line === undefined) return problem
  const shown = SettingsText.excerpt(text, { line: Number(line), column: Number(column) }, isName)
  return [problem, ...shown.map((line) => `    ${line}`)].join("\n")
}

const readTree = Effect.fnUntraced(function* (file: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const extension = path.extname(file).toLowerCase()
  const read = yield* Effect.result(fs.readFile(file))
  if (Result.isFailure(read)) {
    return Result.fail(
      read.failure.reason._tag === "NotFound"
        ? `cannot be read: there is no such file. ${commandName} init ${quoted(file)} writes one`
        : "cannot be read: see that it is a file, and that this user may read it"
    )
  }
  const decoded = inUtf8(read.success)
  if (Result.isFailure(decoded)) return Result.fail("is not in UTF-8: save the file in that encoding")
  const text = decoded.success
  return Result.mapBoth(parseFile(extension, text), {
    onFailure: (problem) => withExcerpt(problem, text),
    onSuccess: (tree) => ({ tree, lineOf: SettingsText.lineFinder(extension, text) })
  })
})

/**
 * The settings of `file` (none: only the environment's), with `environment` over them, and over both `flags`, named as
 * variables are. Fails with every problem at once.
 */
export const load = Effect.fn("SettingsFile.load")(function* (
  file: string | undefined,
  environment: Environment,
  flags: Environment = {}
) {
  const source = file ?? "environment"
  const invalid = (problems: ReadonlyArray<Problem>) =>
    new InvalidSettings({ source, problems: problems as InvalidSettings["problems"] })

  const read = file === undefined ? Result.succeed({ tree: {}, lineOf: () => undefined }) : yield* readTree(file)
  if (Result.isFailure(read)) return yield* invalid([{ path: source, message: read.failure }])
  const { lineOf, tree } = read.success
  const overridden = yield* override(tree, environment, flags)
  if (file === undefined && overridden.variables.size === 0 && overridden.problems.length === 0) {
    return yield* new NoSettings({
      message:
        `There are no settings: this folder has no ${defaultFile}, and neither --config nor ${fileVariable} names a file.\n` +
        `  ${commandName} init writes one; ${commandName} demo needs none`
    })
  }
  const resolved = yield* resolveFiles(overridden.tree, lineOf)
  const decoded = yield* Effect.result(
    Schema.decodeUnknownEffect(schema)(resolved.tree, {
      errors: "all",
      onExcessProperty: "error"
    } satisfies SchemaAST.ParseOptions)
  )
  const problems = [
    ...overridden.problems,
    ...resolved.problems,
    ...(Result.isFailure(decoded) ? problemsOf(decoded.failure.issue, overridden.variables, lineOf) : [])
  ]
    .filter(({ path }, index, all) => all.findIndex((other) => other.path === path) === index)
    .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
  if (Result.isFailure(decoded) || problems.length > 0) return yield* invalid(problems)
  return decoded.success
})

/**
 * The settings of `file`, else of the file that the environment names, else of {@link defaultFile} if it exists; with
 * `flags`, named as variables are, over the environment.
 */
export const layer = (file: string | undefined, flags: Environment = {}) =>
  Layer.effect(
    Settings,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const named = file ?? process.env[fileVariable]
      if (named !== undefined && named !== "") return yield* load(named, process.env, flags)
      const found = yield* Effect.orElseSucceed(fs.exists(defaultFile), () => false)
      return yield* load(found ? defaultFile : undefined, process.env, flags)
    })
  )
