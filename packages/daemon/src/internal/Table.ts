/** Rows as aligned columns under their headings; `(none)` where there are no rows. */
export const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  if (rows.length === 0) return "(none)"
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Milliseconds since the Unix epoch as people read them. */
export const time = (millis: number): string => new Date(millis).toISOString().slice(0, 19).replace("T", " ")
