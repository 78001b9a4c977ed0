/** The known name that a wrong name may stand for. */

/** Letters to insert, delete or change to turn `a` into `b` (Levenshtein). */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

/** The nearest of `candidates` first: those that `name` begins, or at most a third of their letters (at least two) away. */
export const nearest = (name: string, candidates: ReadonlyArray<string>): ReadonlyArray<string> => {
  const wanted = name.toLowerCase()
  return candidates
    .map((candidate) => ({
      candidate,
      away: candidate.toLowerCase().startsWith(wanted) ? 0 : distance(wanted, candidate.toLowerCase())
    }))
    .filter(({ away, candidate }) => away <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.away - b.away)
    .map(({ candidate }) => candidate)
}

/** The nearest of `candidates`, if any is near. */
export const suggest = (name: string, candidates: ReadonlyArray<string>): string | undefined =>
  nearest(name, candidates)[0]
