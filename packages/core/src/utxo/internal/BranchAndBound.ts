/**
 * Coins that pay a target without change: the search of Bitcoin Core (`SelectCoinsBnB`), after Murch's "An Evaluation of
 * Coin Selection Strategies".
 */

/** A coin's amount less the fee of its input; all inputs cost the same. */
export interface Target {
  /** The sum that the coins must reach, in the smallest unit. */
  readonly least: bigint
  /** More than this is better paid back as change. */
  readonly most: bigint
  /** Waste of one more input: its fee now, less its fee at the rate of the long term. */
  readonly inputWaste: bigint
}

/** As Bitcoin Core: some milliseconds of work, enough for every set of some 16 coins. */
const maxTries = 100_000
/** Tries between two steps. */
const triesOfStep = 1_024

/**
 * The indices of coins whose values reach the target with the least waste, undefined where none were found. `values` are
 * positive, in descending order.
 */
export function* branchAndBound(
  values: ReadonlyArray<bigint>,
  { inputWaste, least, most }: Target
): Generator<void, ReadonlyArray<number> | undefined> {
  let available = values.reduce((sum, value) => sum + value, 0n)
  if (available < least) return undefined
  const chosen: Array<number> = []
  let value = 0n
  let waste = 0n
  let best: ReadonlyArray<number> | undefined
  let bestWaste = 0n
  for (let tries = 0, next = 0; tries < maxTries; tries++, next++) {
    if (tries % triesOfStep === 0) yield
    const isOver = value + available < least || value > most
    const isWorse = best !== undefined && waste > bestWaste && inputWaste > 0n
    const isFound = !isOver && !isWorse && value >= least
    if (isFound && (best === undefined || waste + value - least <= bestWaste)) {
      best = [...chosen]
      bestWaste = waste + value - least
    }
    if (isOver || isWorse || isFound) {
      const last = chosen.pop()
      if (last === undefined) break
      for (next--; next > last; next--) available += values[next]!
      value -= values[last]!
      waste -= inputWaste
      continue
    }
    available -= values[next]!
    // Of equal coins that are left out, the later ones are left out too: the same sets would come again.
    if (chosen.length === 0 || chosen.at(-1) === next - 1 || values[next] !== values[next - 1]) {
      chosen.push(next)
      value += values[next]!
      waste += inputWaste
    }
  }
  return best
}
