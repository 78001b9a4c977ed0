/** Figures of many measurements. */

export const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)

export const median = (values: ReadonlyArray<number>) => sorted(values)[values.length >> 1]!

/** The first value that is not among the lowest `part` of all, as 0.99; the highest one for 1, and NaN where there is none. */
export const percentile = (values: ReadonlyArray<number>, part: number) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN
