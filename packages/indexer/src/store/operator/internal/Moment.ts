/** What happened at one time, in the order of time, as a story tells it. */
export interface Moment {
  /** Milliseconds since the Unix epoch; null where the time is not kept. */
  readonly at: number | null
  readonly kind: "event" | "wait" | "attempt" | "good" | "bad"
  readonly what: string
  readonly detail: string | null
}

export const moment = (
  kind: Moment["kind"],
  at: number | null,
  what: string,
  detail: string | null = null
): Moment => ({ at, kind, what, detail })

/** In the order of time; what has no time stays behind what it was listed behind. */
export const inOrder = (moments: ReadonlyArray<Moment>): ReadonlyArray<Moment> => {
  let last = 0
  return moments
    .map((of) => {
      last = of.at ?? last
      return { of, at: last }
    })
    .sort((a, b) => a.at - b.at)
    .map(({ of }) => of)
}
