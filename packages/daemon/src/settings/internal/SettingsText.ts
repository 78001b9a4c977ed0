/** The text of a settings file: on which line a setting stands, and how a line is shown without the secrets on it. */

/** Keys of a path as TOML writes them: `chains."ethereum/mainnet"`. */
const keysOf = (text: string): ReadonlyArray<string> =>
  (text.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s."']+/g) ?? []).map((key) => key.replace(/^["']|["']$/g, ""))

const header = /^\s*\[\[?([^\]#]+)\]/
const assignment = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w.\s-])+?)\s*=(.*)$/

const id = (path: ReadonlyArray<PropertyKey>) => path.map(String).join("\0")

/** Path → line of every key in TOML; keys within braces have the line of what they belong to. */
const tomlLines = (lines: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  let table: ReadonlyArray<string> = []
  let closing: string | undefined
  let depth = 0
  const note = (path: ReadonlyArray<string>, line: number) => {
    for (let length = 1; length <= path.length; length++) {
      const key = id(path.slice(0, length))
      if (!found.has(key)) found.set(key, line)
    }
  }
  /** What the rest of a line leaves open: a string of several lines, or brackets. */
  const open = (text: string) => {
    const bare = text.replaceAll(/"""[\s\S]*?"""|'''[\s\S]*?'''/g, "")
    closing = /"""|'''/.exec(bare)?.[0]
    if (closing !== undefined) return
    const marks = bare.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "").replace(/#.*/, "")
    for (const mark of marks) depth += mark === "[" || mark === "{" ? 1 : mark === "]" || mark === "}" ? -1 : 0
  }
  for (const [index, text] of lines.entries()) {
    const [, name] = header.exec(text) ?? []
    if (closing !== undefined) {
      if (text.includes(closing)) closing = undefined
    } else if (depth > 0) open(text)
    else if (name !== undefined) {
      table = keysOf(name)
      note(table, index + 1)
    } else {
      const [, key, value = ""] = assignment.exec(text) ?? []
      if (key === undefined) continue
      note([...table, ...keysOf(key)], index + 1)
      open(value)
    }
  }
  return found
}

/** Path → line of every key that stands first on its line, in YAML and in JSON that is indented. */
const indentedLines = (lines: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  const above: Array<{ readonly indent: number; readonly key: string }> = []
  for (const [index, text] of lines.entries()) {
    const [, space = "", key] = /^(\s*)("[^"]*"|'[^']*'|[^\s#:"'{[-][^:]*?)\s*:(?:\s|$)/.exec(text) ?? []
    if (key === undefined) continue
    while ((above.at(-1)?.indent ?? -1) >= space.length) above.pop()
    above.push({ indent: space.length, key: key.replace(/^["']|["']$/g, "") })
    const path = id(above.map(({ key }) => key))
    if (!found.has(path)) found.set(path, index + 1)
  }
  return found
}

/** Says on which line a setting stands, or else what it belongs to; undefined where neither stands in the file. */
export const lineFinder = (extension: string, text: string) => {
  const lines = text.split("\n")
  const found = extension === ".toml" ? tomlLines(lines) : indentedLines(lines)
  return (path: ReadonlyArray<PropertyKey>): number | undefined => {
    for (let length = path.length; length > 0; length--) {
      const line = found.get(id(path.slice(0, length)))
      if (line !== undefined) return line
    }
    return undefined
  }
}

/** Everything but what gives a line its form. */
const masked = (text: string) => text.replaceAll(/[^\s"'[\]{}(),=:#]/g, "•")

/**
 * The line and a mark below its column. A value may be a secret, and what is in a wrong place may be a value: only names
 * that `isName` knows, at the beginning of the line, are shown.
 */
export const excerpt = (
  text: string,
  { column, line }: { readonly column: number; readonly line: number },
  isName: (word: string) => boolean
): ReadonlyArray<string> => {
  const shown = (text.split("\n")[line - 1] ?? "").trimEnd().replaceAll("\t", " ")
  const [start = "", word = ""] = /^[\s["']*([\w-]*)/.exec(shown) ?? []
  const head = isName(word) ? (/^\s*\[[\w."'/\s-]*\]?/.exec(shown)?.[0] ?? start) : ""
  const number = `${line} | `
  return [
    `${number}${head}${masked(shown.slice(head.length))}`,
    `${" ".repeat(number.length - 2)}| ${" ".repeat(Math.max(0, column - 1))}^`
  ]
}
