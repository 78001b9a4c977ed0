/** Checks the site that was built: every link leads to a page or file of the site, with its anchor, and nothing is fetched from elsewhere. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"

const site = fileURLToPath(new URL(".vitepress/dist", import.meta.url))
const files = globSync("**/*.html", { cwd: site })
const textOf = new Map(files.map((file) => [file, readFileSync(join(site, file), "utf8")]))
const idsOf = new Map(
  [...textOf].map(([file, text]) => [file, new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id!))])
)

/** What is wrong with a link of a page; undefined where nothing is. */
const wrongWith = (file: string, link: string): string | undefined => {
  const [path = "", part] = decodeURIComponent(link).split("#")
  const folder = path.startsWith("/") ? "." : dirname(file)
  const target =
    path === "" ? file : posix.normalize(posix.join(folder, path.endsWith("/") ? `${path}index.html` : path))
  if (!existsSync(join(site, target))) return "there is no such page or file"
  if (part !== undefined && part !== "" && idsOf.get(target)?.has(part) !== true) return "the page has no such part"
  return undefined
}

const wrong: Array<string> = []
let links = 0
for (const [file, text] of textOf) {
  // The page of what is not found stands under every address.
  if (file === "404.html") continue
  for (const [, link] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
    if (/^[a-z]+:/.test(link!)) continue
    links++
    const reason = wrongWith(file, link!.replaceAll("&amp;", "&"))
    if (reason !== undefined) wrong.push(`${file}: ${link}: ${reason}`)
  }
  for (const [tag] of text.matchAll(/<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*"[^>]*>/g))
    wrong.push(`${file}: fetches from elsewhere: ${tag}`)
}
console.log(`${textOf.size} pages, ${links} links, ${wrong.length} wrong`)
for (const one of wrong) console.error(one)
if (wrong.length > 0 || links < 1_000) process.exitCode = 1
