/** Coins that pay a target with little change: the search of Bitcoin Core (`KnapsackSolver`). */

/** As Bitcoin Core, of few coins. */
const maxRounds = 1_000
/** Coins that are looked at in all rounds together: some milliseconds of work. */
const maxLooks = 1_000_000

/** A random number from 0 to 1, which it never is. */
export type Random = () => number

const shuffled = (count: number, random: Random): ReadonlyArray<number> => {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const moved = order[last]!
    order[last] = order[other]!
    order[other] = moved
  }
  return order
}

interface Subset {
  readonly chosen: ReadonlyArray<number>
  readonly value: bigint
}

/** Of random subsets that reach the target the one with the least value; all of them where no other does. */
function* smallestSubset(
  values: ReadonlyArray<bigint>,
  indices: ReadonlyArray<number>,
  total: bigint,
  target: bigint,
  random: Random
): Generator<void, Subset> {
  let best: Subset = { chosen: indices, value: total }
  const rounds = Math.max(10, Math.min(maxRounds, Math.floor(maxLooks / indices.length)))
  for (let round = 0; round < rounds && best.value !== target; round++) {
    yield
    const taken = new Set<number>()
    let value = 0n
    let isReached = false
    // The second pass takes what the first, random one left, until the target is reached.
    for (let pass = 0; pass < 2 && !isReached; pass++) {
      for (const index of indices) {
        if (pass === 0 ? random() < 0.5 : !taken.has(index)) {
          value += values[index]!
          taken.add(index)
          if (value >= target) {
            isReached = true
            if (value < best.value) best = { chosen: [...taken], value }
            value -= values[index]!
            taken.delete(index)
          }
        }
      }
    }
  }
  return best
}

/**
 * The indices of coins whose values reach the target, best exactly, else with `change` more; undefined where all of them
 * do not. `values` are positive, in descending order.
 */
export function* knapsack(
  values: ReadonlyArray<bigint>,
  target: bigint,
  change: bigint,
  random: Random
): Generator<void, ReadonlyArray<number> | undefined> {
  let larger: number | undefined
  const smaller: Array<number> = []
  let total = 0n
  for (const index of shuffled(values.length, random)) {
    const value = values[index]!
    if (value === target) return [index]
    if (value < target + change) {
      smaller.push(index)
      total += value
    } else if (larger === undefined || value < values[larger]!) larger = index
  }
  if (total === target) return smaller
  if (total < target) return larger === undefined ? undefined : [larger]
  smaller.sort((a, b) => a - b)
  let best = yield* smallestSubset(values, smaller, total, target, random)
  if (best.value !== target && total >= target + change) {
    best = yield* smallestSubset(values, smaller, total, target + change, random)
  }
  const isShort = best.value !== target && best.value < target + change
  return larger !== undefined && (isShort || values[larger]! <= best.value) ? [larger] : best.chosen
}
