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

/** The places of a host and how many of them each account may still have. */
const placesOf = ({ accountLimit, accounts, limit }: HostCapacity) => {
  let free = limit
  const left = new Map<number, number>()
  const limitOf = (account: number) => accounts.get(account)?.limit ?? accountLimit
  const leftOf = (account: number) => left.get(account) ?? limitOf(account)
  const failing = new Map<number, number>()
  const leftToFailing = (account: number) => failing.get(account) ?? accounts.get(account)?.failingLimit ?? Infinity
  const isHeldBack = (one: DueCallbacks.Due) => one.failing && leftToFailing(one.account) <= 0
  return {
    leftOf,
    /** Whether no place is for it, though there may be some for others of its account. */
    isHeldBack,
    /**
     * Gives places to things to send in their order, as far as those of their accounts suffice; `reserved`: how many are kept
     * for others, of so many in all or of an account.
     */
    give: (due: ReadonlyArray<DueCallbacks.Due>, reserved: (places: number) => number) =>
      due.filter((one) => {
        const { account } = one
        if (free <= reserved(limit) || leftOf(account) <= reserved(limitOf(account)) || isHeldBack(one)) return false
        left.set(account, leftOf(account) - 1)
        if (one.failing) failing.set(account, leftToFailing(account) - 1)
        free--
        return true
      })
  }
}

/** The follow-ons whose places nothing else waits for. What has no place takes one of its own account first. */
const keptOf = (
  followOns: ReadonlyArray<FollowOn>,
  withoutPlace: ReadonlyArray<DueCallbacks.Due>,
  leftOf: (account: number) => number
) => {
  const waiting = new Map(
    [...Map.groupBy(withoutPlace, ({ account }) => account)].map(([account, own]) => [account, own.length])
  )
  const kept = followOns.filter(({ account }) => {
    const own = waiting.get(account) ?? 0
    waiting.set(account, Math.max(own - 1, 0))
    return own === 0
  })
  return kept.slice([...waiting].reduce((sum, [account, own]) => sum + Math.min(own, Math.max(leftOf(account), 0)), 0))
}

/** Those of a host: of `limit` streams and retries, and the follow-ons. */
const ofHost = Effect.fnUntraced(function* (capacity: HostCapacity, now: number) {
  const { followOns, limit, only, retriesFirst } = capacity
  const places = limit + followOns.length
  const followed = new Set(followOns.map(({ subscription }) => subscription))
  const found = yield* only === undefined
    ? DueCallbacks.streams(capacity, places, now)
    : DueCallbacks.handedOver(capacity, only)
  const streams = found.filter(({ id }) => !followed.has(id))
  const retries = only === undefined ? yield* DueCallbacks.retries(capacity, places, now) : []
  const { give, isHeldBack, leftOf } = placesOf(capacity)
  // A half of the places for each, before either takes what the other leaves: retries may take long to fail.
  const given = new Set(give(retries, (places) => (retriesFirst ? Math.floor(places / 2) : Math.ceil(places / 2))))
  for (const list of [streams, retries]) {
    const rest = list.filter((one) => !given.has(one))
    for (const one of give(rest, () => 0)) given.add(one)
  }
  const withoutPlace = [...streams, ...retries].filter((one) => !given.has(one) && !isHeldBack(one))
  const begun = streams.filter((one) => given.has(one))
  const batchSize = Math.max(Math.min(capacity.batchSize, Math.ceil(capacity.callbacks / begun.length)), 1)
  return {
    streams: [
      ...begun.map(
        ({ account, failing, id }): FollowOn => ({ account, subscription: id, after: 0, batchSize, failing })
      ),
      ...keptOf(followOns, withoutPlace, leftOf)
    ],
    retries: retries.filter((one) => given.has(one)).map(({ id }) => id)
  } satisfies Candidates
})

export const find = Effect.fnUntraced(function* (capacities: ReadonlyArray<HostCapacity>, now: number) {
  const found = yield* Effect.forEach(capacities, (capacity) => ofHost(capacity, now))
  return {
    streams: found.flatMap(({ streams }) => streams),
    retries: found.flatMap(({ retries }) => retries)
  } satisfies Candidates
})
