/** Chance by a seed: the same seed gives the same draws, whatever the machine (xoshiro128**, seeded by splitmix32). */

export interface Chance {
  /** From 0 up to 1, without 1. */
  readonly next: () => number
  /** A whole number from `least` to `most`. */
  readonly between: (least: number, most: number) => number
  /** Whether what happens with this probability does. */
  readonly happens: (probability: number) => boolean
  readonly oneOf: <A>(all: ReadonlyArray<A>) => A
  /** One of them, each as often as its weight says. */
  readonly weighted: <A>(all: ReadonlyArray<readonly [weight: number, one: A]>) => A
  readonly bytes: (length: number) => Uint8Array
}

const seeds = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

const rotate = (value: number, by: number) => ((value << by) | (value >>> (32 - by))) >>> 0

export const make = (seed: number): Chance => {
  const next32 = seeds(seed)
  let [a, b, c, d] = [next32(), next32(), next32(), next32()]
  const draw = () => {
    const result = Math.imul(rotate(Math.imul(b, 5) >>> 0, 7), 9) >>> 0
    const shifted = (b << 9) >>> 0
    c = (c ^ a) >>> 0
    d = (d ^ b) >>> 0
    b = (b ^ c) >>> 0
    a = (a ^ d) >>> 0
    c = (c ^ shifted) >>> 0
    d = rotate(d, 11)
    return result
  }
  const next = () => draw() / 2 ** 32
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    happens: (probability) => next() < probability,
    oneOf: (all) => all[between(0, all.length - 1)]!,
    weighted: (all) => {
      let left = next() * all.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, one] of all) {
        left -= weight
        if (left < 0) return one
      }
      return all.at(-1)![1]
    },
    bytes: (length) => Uint8Array.from({ length }, () => draw() & 0xff)
  }
}
