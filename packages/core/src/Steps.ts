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
export function* forEach<A>(items: Iterable<A>, use: (item: A) => void): Generator<void, void> {
  let count = 0
  for (const item of items) {
    if (++count % itemsOfStep === 0) yield
    use(item)
  }
}
