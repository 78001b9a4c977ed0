/** The parts of a past block's matches that subscriptions on extended public keys are told at a time. */
import type * as Matcher from "@headwater/core/events/Matcher"
import * as Subscribers from "../Subscribers.ts"
import type * as PastBlocks from "./PastBlocks.ts"

type Occurrences = Matcher.Matched<Subscribers.Group>["occurrences"]

/** How many occurrences each subscription has. */
export const countsOf = (occurrences: Occurrences) => {
  const counts = new Map<number, number>()
  for (const { subscription } of occurrences) {
    for (const { id } of subscription.subscribers ?? []) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** What of the occurrences is in the parts that are told now. */
export const of = (occurrences: Occurrences, parts: ReadonlyArray<PastBlocks.Part>) => {
  const partOf = new Map(parts.map((part) => [part.subscription, part]))
  const passed = new Map<number, number>()
  return Subscribers.ofThese(occurrences, ({ id }) => {
    const at = passed.get(id) ?? 0
    passed.set(id, at + 1)
    const { end, from } = partOf.get(id)!
    return from <= at && at < end
  })
}
