/** What may be leased, as far as this moment shows: the capacity of hosts shared among what is due there. */
import * as Effect from "effect/Effect"
import type { FollowOn, HostCapacity } from "../Lease.ts"
import * as DueCallbacks from "./DueCallbacks.ts"

export interface Candidates {
  /** Subscriptions whose next callbacks may be leased; those that begin are followed from their first callback on. */
  readonly streams: ReadonlyArray<FollowOn>
  /** Ids of callbacks that may be leased to be sent again. */
  readonly retries: ReadonlyArray<number>
}

/** Those of a host: of `limit` streams and retries, and the follow-ons whose places nothing else waits for. */
const ofHost = Effect.fnUntraced(function* (capacity: HostCapacity, now: number) {
  const { batchSize, followOns, limit, retriesFirst } = capacity
  const places = limit + followOns.length
  const followed = new Set(followOns.map(({ subscription }) => subscription))
  const firstRetries = retriesFirst ? yield* DueCallbacks.retries(capacity, places, now) : []
  const found = yield* DueCallbacks.streams(capacity, places - firstRetries.length, now)
  const waiting = found.filter((subscription) => !followed.has(subscription))
  const retries = retriesFirst ? firstRetries : yield* DueCallbacks.retries(capacity, places - waiting.length, now)

  const begun = waiting.slice(0, retriesFirst ? Math.max(limit - retries.length, 0) : limit)
  const resent = retries.slice(0, limit - begun.length)
  const withoutPlace = waiting.length - begun.length + (retries.length - resent.length)
  return {
    streams: [
      ...begun.map((subscription): FollowOn => ({ subscription, after: 0, batchSize })),
      ...followOns.slice(withoutPlace)
    ],
    retries: resent
  } satisfies Candidates
})

export const find = Effect.fnUntraced(function* (capacities: ReadonlyArray<HostCapacity>, now: number) {
  const found = yield* Effect.forEach(capacities, (capacity) => ofHost(capacity, now))
  return {
    streams: found.flatMap(({ streams }) => streams),
    retries: found.flatMap(({ retries }) => retries)
  } satisfies Candidates
})
