/** Parts of pages that programs write. */
import { readFileSync } from "node:fs"

/** The text of a page below `docs`. */
export const page = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8")

/** A table as the formatter writes it: each column as wide as its widest cell. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => row[i]!.length)))
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`
  return [lines[0]!, rule, ...lines.slice(1)].join("\n")
}

/** A text with other content between two marks, which are comments. */
export const between = (text: string, mark: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*?(\n<!-- /${mark} -->)`),
    (_, start: string, end: string) => `${start}\n${content}\n${end}`
  )

/** JSON in the formatter's style: short lists of plain values on one line. */
export const json = (value: unknown) =>
  `\`\`\`json\n${JSON.stringify(value, null, 2).replaceAll(/\[\s+([^[\]{}]{1,80}?)\s+\]/g, (_, items: string) => `[${items.replaceAll(/,\s+/g, ", ")}]`)}\n\`\`\`\n`
