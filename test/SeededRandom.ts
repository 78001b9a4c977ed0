/** Random numbers that are the same ones for the same seed (mulberry32): good enough to pick. */

/** From 0 to 1, which does not come. */
export const make = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whole numbers from 0 to below a bound. */
export const integers = (seed: number): ((bound: number) => number) => {
  const next = make(seed)
  return (bound) => Math.floor(next() * bound)
}
