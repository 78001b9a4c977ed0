/** How results are shown: in colours and within the width of a terminal, plain and unbroken elsewhere. */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import type { Stream } from "node:stream"

type Style = (text: string) => string

/** What a state means: well, doubtful, wrong, or of no interest. */
export type Colour = "green" | "yellow" | "red" | "dim"

export interface Screen extends Readonly<Record<Colour | "bold", Style>> {
  /** Columns of the terminal; undefined where the output goes to a file or another program. */
  readonly width: number | undefined
}

const plain: Style = (text) => text

const styled =
  (code: number): Style =>
  (text) =>
    text === "" ? "" : `\x1b[${code}m${text}\x1b[0m`

/** For one of the process's streams. `NO_COLOR` and `TERM=dumb` switch colours off, `FORCE_COLOR` on. */
const of = (stream: Stream & { readonly isTTY?: boolean; readonly columns?: number }) =>
  Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }): Screen => {
    // What says that there are colours looks at standard output, unless they are forced.
    const style = canColor && (stream.isTTY === true || process.stdout.isTTY !== true) ? styled : () => plain
    return {
      // A terminal of no columns is one that does not say how many there are.
      width: stream.isTTY === true && stream.columns !== 0 ? stream.columns : undefined,
      ...{ bold: style(1), dim: style(2), red: style(31), yellow: style(33), green: style(32) }
    }
  })

export const output: Effect.Effect<Screen> = of(process.stdout)

export const errors: Effect.Effect<Screen> = of(process.stderr)

/**
 * A text in lines of at most so many columns; `first` begins the first line, and as many spaces the others. Further lines of
 * the text itself are an excerpt with a mark below a column, and stay as they are.
 */
export const wrap = (text: string, width: number | undefined, first = ""): string => {
  const [said = "", ...excerpt] = text.split("\n")
  const indent = " ".repeat(first.length)
  const lines: Array<string> = []
  let line = first
  for (const word of said.split(" ")) {
    const isEmpty = line.trim() === first.trim()
    if (width !== undefined && !isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent + word
    } else line += isEmpty ? word : ` ${word}`
  }
  return [...lines, line, ...excerpt].join("\n")
}
