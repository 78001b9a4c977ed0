/**
 * Links as they stand in the pages, for GitHub, and where they lead on the site: a file of the repository that is no page
 * to its text under `/source`, an error or a metric to its own page.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
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
  if (!existsSync(join(root, target))) throw new Error(`${page} links to ${href}, which is no file`)
  sources.add(target)
  return statSync(join(root, target)).isDirectory() ? `/source/${target}/index.html` : `/source/${target}.txt`
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

/** At the end of a build: the files that pages link to; of a folder its files, with a list of them. */
export const copySources = ({ outDir }: SiteConfig) => {
  const copy = (source: string) => {
    const target = join(outDir, "source", `${source}.txt`)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, source), target)
  }
  for (const source of sources) {
    if (statSync(join(root, source)).isFile()) {
      copy(source)
      continue
    }
    const names = readdirSync(join(root, source)).filter((name) => statSync(join(root, source, name)).isFile())
    for (const name of names) copy(`${source}/${name}`)
    const list = names.map((name) => `<li><a href="${name}.txt">${name}</a></li>`).join("\n")
    const page = `<!doctype html>\n<meta charset="utf-8">\n<title>${source}</title>\n<h1>${source}</h1>\n<ul>\n${list}\n</ul>\n`
    writeFileSync(join(outDir, "source", source, "index.html"), page)
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
