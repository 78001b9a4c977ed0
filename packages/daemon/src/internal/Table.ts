/** Rows as aligned columns under their headings; on a terminal that is too narrow for them, each row as a record. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Screen from "./Screen.ts"

/** What stands in a column of a row, with the colour that says what it means. */
export type Cell = string | { readonly text: string; readonly colour: Screen.Colour }

const textOf = (cell: Cell) => (typeof cell === "string" ? cell : cell.text)

const gap = "  "

/** As `table`, for this screen. */
export const render = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  screen: Screen.Screen
): string => {
  if (rows.length === 0) return "(none)"
  const show = (cell: Cell) => (typeof cell === "string" ? cell : screen[cell.colour](cell.text))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => textOf(row[column]!).length))
  )
  const total = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1))
  if (screen.width !== undefined && total > screen.width) {
    // Nothing is cut: what tables hold is what other commands take.
    const longest = Math.max(...headings.map(({ length }) => length))
    return rows
      .map((row) =>
        headings
          .map((heading, column) => `${screen.dim(heading.padEnd(longest))}${gap}${show(row[column]!)}`.trimEnd())
          .join("\n")
      )
      .join("\n\n")
  }
  const line = (cells: ReadonlyArray<Cell>) =>
    cells
      .map((cell, column) =>
        column === cells.length - 1 ? show(cell) : show(cell) + " ".repeat(widths[column]! - textOf(cell).length)
      )
      .join(gap)
      .trimEnd()
  return [screen.bold(line(headings)), ...rows.map(line)].join("\n")
}

/** The rows as standard output shows them; `(none)` where there are no rows. */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): Effect.Effect<string> => Effect.map(Screen.output, (screen) => render(headings, rows, screen))

/** Prints the rows as standard output shows them, or for scripts `value`, which the rows are made of, as JSON. */
export const printRows = (
  isJson: boolean,
  value: unknown,
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): Effect.Effect<void> =>
  Effect.flatMap(isJson ? Effect.succeed(JSON.stringify(value)) : table(headings, rows), (text) => Console.log(text))

/** Milliseconds since the Unix epoch as people read them. */
export const time = (millis: number): string => new Date(millis).toISOString().slice(0, 19).replace("T", " ")
