/**
 * Long computations in steps: generators that yield wherever they may be interrupted, at least every millisecond or so.
 * The caller may do other work between the steps; a short computation is run at once.
 */

/** Items of which some hundreds are looked at in a millisecond, between two steps. */
const itemsOfStep = 512

/** A computation to its end. */
export const atOnce = <A>(work: Generator<void, A>): A => {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Calls `use` with each item, in steps. */
export function* forEach<A>(items: ReadonlyArray<A>, use: (item: A) => void): Generator<void, void> {
  for (let first = 0; first < items.length; first += itemsOfStep) {
    const end = Math.min(first + itemsOfStep, items.length)
    for (let index = first; index < end; index++) use(items[index]!)
    if (end - first === itemsOfStep) yield
  }
}
