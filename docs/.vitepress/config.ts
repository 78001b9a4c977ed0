/** The pages as a site. They are written for GitHub: what is different on the site is in `Links.ts` and `Mermaid.ts`. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { anchorOf } from "../Anchor.ts"
import * as Links from "./Links.ts"
import * as Mermaid from "./Mermaid.ts"

const docs = fileURLToPath(new URL("..", import.meta.url))
const titleOf = (page: string) => /^# (.+)$/m.exec(readFileSync(`${docs}/${page}`, "utf8"))?.[1] ?? page

const all = globSync("**/*.md", { cwd: docs, exclude: ["node_modules/**", ".vitepress/**", "**/[[]*"] }).sort()
const exists = (page: string) => existsSync(`${docs}/${page}`)
const among = (folder: string) => all.filter((page) => page.startsWith(`${folder}/`))

const groups = [
  { text: "Start", pages: ["README.md", "getting-started.md", "comparison.md", "migration.md"] },
  { text: "Operators", pages: ["operations.md", "scaling.md", "findings.md", "metrics.md"] },
  { text: "Chains", pages: ["chains/README.md", ...among("chains").filter((page) => page !== "chains/README.md")] },
  { text: "Receivers and callers", pages: ["callbacks.md", "errors.md"] },
  { text: "API reference", pages: ["api.md", ...among("api")] },
  { text: "Developers", pages: ["library.md", "architecture.md", "glossary.md", "dependencies.md"] }
]
const placed = new Set(groups.flatMap(({ pages }) => pages))
const sidebar = [...groups, { text: "More", pages: all.filter((page) => !placed.has(page)) }]
  .map(({ pages, text }) => ({
    text,
    collapsed: text === "API reference" || text === "Chains",
    items: pages.filter(exists).map((page) => ({ text: titleOf(page), link: `/${page.replace("README.md", "")}` }))
  }))
  .filter(({ items }) => items.length > 0)

export default defineConfig({
  title: "Headwater",
  description: "A blockchain data service that you run yourself, beside your own nodes",
  lang: "en",
  rewrites: { "README.md": "index.md", "chains/README.md": "chains/index.md" },
  head: [["meta", { name: "referrer", content: "no-referrer" }]],
  markdown: {
    anchor: { slugify: anchorOf },
    languageAlias: { promql: "sql" },
    config: (md) => {
      md.use(Links.plugin)
      md.use(Mermaid.plugin)
    }
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        // Without examples, and without the lists of errors: who looks for an error wants what it means.
        _render: (text, env, md) => md.render(text.replaceAll(/```json\n[\s\S]*?```|^Errors of its own:.*$/gm, ""), env)
      }
    }
  },
  // They are copied at the end; CheckSite.ts looks at each link of the site that is then there.
  ignoreDeadLinks: [/^\/source\//],
  buildEnd: Links.copySources,
  vite: {
    plugins: [Links.sourcesInDevelopment],
    // Not the compiler's settings of the packages, of a newer language than this Vite knows.
    esbuild: { tsconfigRaw: "{}" },
    build: { chunkSizeWarningLimit: 2_000 }
  }
})
