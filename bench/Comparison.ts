/**
 * One line of the table that `npm run bench` prints. A bench says a comparison beside what it prints by itself; run alone, the
 * bench prints what it always did.
 */
import { appendFileSync } from "node:fs"
import { median, sorted } from "./Samples.ts"

export interface Comparison {
  readonly work: string
  /** What the values count, as "ms CPU a block". */
  readonly unit: string
  /** Whether less of it is better, as of time, or more, as of a rate. */
  readonly better: "less" | "more"
  /** A value of each round; those of the others are of the same rounds, in turns. */
  readonly ours: ReadonlyArray<number>
  readonly peer?: Side
  readonly floor?: Side
}

export interface Side {
  readonly name: string
  readonly values: ReadonlyArray<number>
}

/** The file to which a bench that `npm run bench` has started adds its lines. */
export const variable = "HEADWATER_BENCH_LINES"

export const report = (comparison: Comparison): void => {
  const file = process.env[variable]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(comparison)}\n`)
}

const digits = (value: number) => value.toPrecision(3).replace(/\.?0+$/, "")
const written = (value: number) =>
  value >= 1_000 ? Math.round(value).toLocaleString("en") : value >= 100 ? value.toFixed(0) : digits(value)

/** How many times as good as the other side, of each round: above 1 is better than that side. */
const ratiosOf = ({ better, ours }: Comparison, { values }: Side) =>
  ours.map((own, round) => (better === "more" ? own / values[round]! : values[round]! / own))

const head = ["work", "ours", "peer", "floor", "times the peer", "times the floor", "spread"]

/** The comparisons as a table; the spread is that of the ratio to the peer, or else to the floor, from the worst to the best round. */
export const table = (comparisons: ReadonlyArray<Comparison>): string => {
  const rows = comparisons.map((comparison) => {
    const { floor, ours, peer, unit, work } = comparison
    const side = (one: Side | undefined) => (one === undefined ? "" : `${written(median(one.values))} (${one.name})`)
    const times = (one: Side | undefined) => (one === undefined ? "" : median(ratiosOf(comparison, one)).toFixed(2))
    const decisive = peer ?? floor
    const ratios = decisive === undefined ? [] : sorted(ratiosOf(comparison, decisive))
    const spread = ratios.length < 2 ? "" : `${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}`
    return [work, `${written(median(ours))} ${unit}`, side(peer), side(floor), times(peer), times(floor), spread]
  })
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}
