/** How fast heights grow: over the samples of the last minute, of which there is one a second at most. */

/** Notes a height at a time in milliseconds; blocks a second, undefined before there are two samples. */
export type CommitRate = (height: number, now: number) => number | undefined

const windowMillis = 60_000
const intervalMillis = 1_000

export const make = (): CommitRate => {
  let samples: Array<{ readonly at: number; readonly height: number }> = []
  return (height, now) => {
    const last = samples.at(-1)
    // Blocks were undone.
    if (last !== undefined && height < last.height) samples = []
    if (last === undefined || now - last.at >= intervalMillis || samples.length === 0) samples.push({ at: now, height })
    samples = samples.filter(({ at }) => now - at <= windowMillis)
    const [first] = samples
    return first === undefined || now <= first.at ? undefined : ((height - first.height) * 1000) / (now - first.at)
  }
}
