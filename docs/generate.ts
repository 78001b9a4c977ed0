/**
 * Writes the pages, and the parts of pages, that come from the code: `node_modules/.bin/node docs/generate.ts`. A test
 * fails where they are not as the code has them.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as ApiReference from "./ApiReference.ts"
import * as CallbackStates from "./CallbackStates.ts"
import * as ErrorPages from "./ErrorPages.ts"
import * as FindingPages from "./FindingPages.ts"
import * as MetricPages from "./MetricPages.ts"
import { page } from "./Page.ts"

const folder = new URL(".", import.meta.url)

/** Each page by its file. */
export const generated = (): ReadonlyMap<string, string> =>
  new Map([
    ...ApiReference.files(),
    ["callbacks.md", CallbackStates.guide(ApiReference.guide(page("callbacks.md")))],
    ["errors.md", ErrorPages.all()],
    ["findings.md", FindingPages.all()],
    ["metrics.md", MetricPages.all()]
  ])

/** Pages of groups that are no more. */
const leftOver = (files: ReadonlyMap<string, string>) =>
  globSync("api/*.md", { cwd: folder }).filter((file) => !files.has(file))

const textOf = (file: string) => {
  try {
    return readFileSync(new URL(file, folder), "utf8")
  } catch {
    return undefined
  }
}

/** The pages that are not as the code has them. */
export const stale = (): ReadonlyArray<string> => {
  const files = generated()
  return [...[...files].flatMap(([file, text]) => (textOf(file) === text ? [] : [file])), ...leftOver(files)]
}

if (import.meta.main) {
  const files = generated()
  for (const file of leftOver(files)) rmSync(new URL(file, folder))
  mkdirSync(new URL("api", folder), { recursive: true })
  for (const [file, text] of files) writeFileSync(new URL(file, folder), text)
}
