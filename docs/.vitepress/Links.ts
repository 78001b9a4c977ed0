/**
 * Links as they stand in the pages, for GitHub, and where they lead on the site: a file of the repository that is no page
 * to its text under `/source`, an error or a metric to its own page.
 */
import { copyFileSync, existsSync, mkdirSync, statSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import type { MarkdownRenderer, SiteConfig } from "vitepress"

const root = fileURLToPath(new URL("../..", import.meta.url))
const sources = new Set<string>()

/** `page` is the path of the page below `docs`. */
const onSite = (page: string, href: string): string => {
  if (/^(?:[a-z]+:|#|\/)/.test(href) && !/^#/.test(href)) return href
  const [path = "", part] = href.split("#")
  const target = path === "" ? posix.join("docs", page) : posix.join("docs", posix.dirname(page), path)
  if (target.startsWith("docs/")) {
    const own = /^docs\/(errors|metrics)\.md$/.exec(target)?.[1]
    if (own !== undefined && part !== undefined && /_/.test(part)) return `/${own}/${part}.md`
    return href.replace(/(^|\/)README\.md/, "$1index.md")
  }
  if (!existsSync(join(root, target)) || !statSync(join(root, target)).isFile())
    throw new Error(`${page} links to ${href}, which is no file`)
  sources.add(target)
  return `/source/${target}.txt`
}

export const plugin = (md: MarkdownRenderer) => {
  md.core.ruler.push("links_of_site", ({ env, tokens }) => {
    // A page that stands for many has the path of the one that it is rendered for.
    const page = String(env.relativePath ?? "").replace(/(^|\/)index\.md$/, "$1README.md")
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null
      if (href !== null) token.attrSet("href", onSite(page, href))
    }
  })
}

/** At the end of a build: the files that pages link to. */
export const copySources = ({ outDir }: SiteConfig) => {
  for (const source of sources) {
    const target = join(outDir, "source", `${source}.txt`)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, source), target)
  }
}

/** While pages are written, the same files as they are. */
export const sourcesInDevelopment = {
  name: "headwater:sources",
  configureServer: (server: {
    readonly middlewares: {
      readonly use: (handle: (request: { url?: string }, _: unknown, next: () => void) => void) => void
    }
  }) =>
    server.middlewares.use((request, _, next) => {
      const source = /^\/source\/(.+)\.txt$/.exec(request.url ?? "")?.[1]
      if (source !== undefined && sources.has(source)) request.url = `/@fs/${join(root, source)}?raw`
      next()
    })
}
