/**
 * A settings file for an operator to begin with: the documented example with the operator's answers in it, so that each
 * setting is explained in one place only.
 */
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { packageFile } from "../PackageFile.ts"

export interface Answers {
  /** Node URLs of each chain, in order of preference. */
  readonly chains: ReadonlyMap<string, ReadonlyArray<string>>
  /** SQLite file, or postgres:// URL. */
  readonly store: string
  readonly port: number
}

const example = fileURLToPath(packageFile("headwater.example.toml"))

/** The line that sets a value, in place of the commented one that shows its default. */
const set = (text: string, name: string, value: string | number) =>
  text.replace(new RegExp(`^# ${name} = [^#\\n]*`, "m"), () => `${name} = ${JSON.stringify(value)}   `)

/** The chain tables of the example: comments of the first one explain what may stand in each. */
const tables = (text: string): { readonly before: string; readonly comments: string } => {
  const start = text.indexOf('[chains."')
  const [, first = ""] = text.slice(start).split(/^\[chains\."[^\n]*\n/m)
  const comments = first
    .split("\n")
    .filter((line) => line.startsWith("# ") || line.startsWith("   "))
    .join("\n")
  return { before: text.slice(0, start), comments }
}

/** The text of a settings file. */
export const fill = Effect.fn("SettingsTemplate.fill")(function* ({ chains, port, store }: Answers) {
  const text = yield* (yield* FileSystem.FileSystem).readFileString(example)
  const { before, comments } = tables(text)
  const stored = /^postgres(ql)?:/.test(store) ? set(before, "postgres", store) : set(before, "sqlite", store)
  const written = [...chains].map(
    ([name, nodes]) =>
      `[chains."${name}"]\nnodes = [${nodes.map((url) => JSON.stringify(url)).join(", ")}]\n${comments}\n`
  )
  return `${set(stored, "port", port)}${written.join("\n")}`.replace(/ +$/gm, "")
})
