/** What is promised of the items of callbacks, beside what tells them from one another. */
import { isDeepStrictEqual } from "node:util"
import type { Record, Subscribed } from "../Record.ts"
import type { Arrival } from "../Receivers.ts"
import type { Judge } from "./Judge.ts"
import { blockIn, isEvent, isRetraction, keyOf, name, of, sequenceOf } from "./Told.ts"

/** What a callback says otherwise than its subscription, or than its block, in words. */
const wrongIn = ({ chain, event, referenceId }: Subscribed, arrival: Arrival): ReadonlyArray<string> => {
  const { data, referenceId: own } = arrival.body
  const { item } = data
  const block = chain.blocks.get(blockIn(arrival.text) ?? "")
  const { height, timestamp } = item.minedInBlock ?? item
  const pairs: ReadonlyArray<readonly [what: string, said: unknown, truth: unknown]> = [
    ["the reference id", own, referenceId ?? own],
    ["the event", data.event, isRetraction(arrival) ? `${event}_REVERTED` : event],
    ["the chain", `${item.blockchain}/${item.network}`, chain.family.chain],
    ["the height", height, block?.height],
    ["the time", timestamp, block?.time]
  ]
  return pairs.flatMap(([what, said, truth]) => (said === truth ? [] : [`${what} ${said} in place of ${truth}`]))
}

/** The keys of a subscription that a retraction has ended, as far as that is known. */
const endedIn = (record: Record, { referenceId }: Subscribed, arrivals: ReadonlyArray<Arrival>) => {
  const feed = record.feeds.get(referenceId ?? "")
  return {
    isWhole: feed !== undefined,
    keys: new Set([
      ...(feed ?? []).flatMap(({ idempotencyKey, state }) => (state === "retracted" ? [idempotencyKey] : [])),
      ...arrivals.filter(isRetraction).map(({ body }) => body.data.item.revertedIdempotencyKey)
    ])
  }
}

/** An item is of its subscription and of its block; a retraction has that of what it takes back. */
export const asTheyAre: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const arrivals = of(record, subscribed)
    const told = new Map(arrivals.filter(isEvent).map((arrival) => [keyOf(arrival), arrival.body.data.item]))
    const ended = endedIn(record, subscribed, arrivals)
    return arrivals
      .filter((arrival) => isEvent(arrival) || isRetraction(arrival))
      .flatMap((arrival) => {
        const { restoresIdempotencyKey: restored, revertedIdempotencyKey: reverted, ...item } = arrival.body.data.item
        const original = reverted === undefined ? undefined : told.get(reverted)
        const { restoresIdempotencyKey: restoredBefore, ...before } = original ?? {}
        const wrong = [
          ...wrongIn(subscribed, arrival),
          ...(original === undefined || (isDeepStrictEqual(item, before) && restored === restoredBefore)
            ? []
            : ["another item than what it takes back"]),
          ...(restored === undefined || !ended.isWhole || ended.keys.has(restored)
            ? []
            : [`a key to restore that no retraction has ended: ${restored}`])
        ]
        return wrong.map((words) => `${name(subscribed)}: ${sequenceOf(arrival)} has ${words}`)
      })
  })
