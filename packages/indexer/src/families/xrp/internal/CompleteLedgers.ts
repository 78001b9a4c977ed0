/** The ledgers that a server has, as `complete_ledgers` says it: `32570-6595042,6595044-6595100`, or `empty`. */

/** First and last ledger of an unbroken run. */
export type Range = readonly [first: number, last: number]

const range = /^(\d{1,10})(?:-(\d{1,10}))?$/

/** Ranges in rising order; a part that is none is left out. */
export const parse = (text: string): ReadonlyArray<Range> =>
  text
    .split(",")
    .flatMap((part): ReadonlyArray<Range> => {
      const match = range.exec(part.trim())
      return match === null ? [] : [[Number(match[1]), Number(match[2] ?? match[1])]]
    })
    .sort(([a], [b]) => a - b)

/** The ledgers that are missing between the first and the last. */
export const gaps = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> =>
  ranges.flatMap(([first], index): ReadonlyArray<Range> => {
    const before = ranges[index - 1]
    return before === undefined || first <= before[1] + 1 ? [] : [[before[1] + 1, first - 1]]
  })

const shown = 10

/** `5 to 7, 9 and 3 more` */
export const describe = (ranges: ReadonlyArray<Range>): string => {
  const texts = ranges.slice(0, shown).map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`))
  return texts.join(", ") + (ranges.length > shown ? ` and ${ranges.length - shown} more` : "")
}
