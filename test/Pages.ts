/** The pages for people: their text, links and anchors as GitHub has them, and blocks of code. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { anchorOf } from "../docs/Anchor.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Paths from the repository's root. What stands for many pages of the site is none. */
export const all: ReadonlyArray<string> = ["*.md", "docs/**/*.md", "examples/*.md", "packages/*/README.md"]
  .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ["docs/node_modules/**", "docs/.vitepress/**"] }))
  .filter((page) => !page.includes("["))

const texts = new Map<string, string>()

export const textOf = (page: string): string => {
  const text = texts.get(page) ?? readFileSync(`${root}/${page}`, "utf8")
  texts.set(page, text)
  return text
}

const fence = /^ *```(\S*)\n([\s\S]*?)^ *```$/gm

const proseOf = (page: string) => textOf(page).replaceAll(fence, "")

/** Links to files and parts, not to other sites. */
export const linksOf = (page: string): ReadonlyArray<string> =>
  Array.from(
    proseOf(page)
      .replaceAll(/`[^`\n]*`/g, "`")
      .matchAll(/\]\(([^)\s]+)\)/g),
    ([, link]) => link!
  ).filter((link) => !/^[a-z]+:/.test(link))

/** The anchors of a page's headings; the second of two that are the same has a number. */
export const anchorsOf = (page: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const [, heading] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", ""))
    let name = anchor
    for (let i = 1; found.has(name); i++) name = `${anchor}-${i}`
    found.add(name)
  }
  return found
}

export interface Block {
  readonly page: string
  readonly language: string
  readonly code: string
}

export const blocks: ReadonlyArray<Block> = all.flatMap((page) =>
  Array.from(textOf(page).matchAll(fence), ([, language, code]) => ({ page, language: language!, code: code! }))
)
