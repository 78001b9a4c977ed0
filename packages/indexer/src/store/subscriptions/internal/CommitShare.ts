/**
 * What a commit tells of a block by itself, and what it leaves to the steps behind it (`FanOut`): the matches of addresses with
 * many subscriptions, and those of accounts that steps have something to tell before.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Matcher from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import * as Subscribers from "../Subscribers.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"
import * as DeferredMatches from "./DeferredMatches.ts"

type Occurrences = Matcher.Matched<Subscribers.Group>["occurrences"]

/** What has more to be told, or taken back, before it is told of a block. */
export interface Behind {
  /** Addresses of which any account has, by their keys as of {@link Subscribers.Group}. */
  readonly addresses: ReadonlySet<string>
  /** Accounts of which something is to be taken back: nothing is told to them before. */
  readonly undoing: ReadonlySet<number>
  /** These accounts and those of the addresses: their confirmations wait. Undefined where they are too many. */
  readonly accounts: ReadonlySet<number> | undefined
}

/** Nothing is behind. */
export const nothing: Behind = { addresses: new Set(), undoing: new Set(), accounts: new Set() }

export const isAny = ({ addresses, undoing }: Behind) => addresses.size + undoing.size > 0

/** What is behind on a chain; `most` accounts at most are known that have something of an address. */
export const behindOn = Effect.fnUntraced(function* (chain: number, most: number) {
  const undoing = yield* UndoneBlocks.accounts(chain)
  const addresses = yield* DeferredMatches.pendingAddresses(chain)
  const accounts = addresses.size === 0 ? [] : yield* DeferredMatches.accounts(chain, most + 1)
  return {
    ...{ addresses, undoing },
    accounts: accounts.length > most ? undefined : new Set([...undoing, ...accounts])
  } satisfies Behind
})

/** The accounts among those that are to be told of an address that have something before it. */
const accountsBehind = Effect.fnUntraced(function* (chain: number, key: string, own: Occurrences, behind: Behind) {
  const accounts = new Set(own.flatMap(({ subscription }) => subscription.subscribers!.map(({ account }) => account)))
  const [undoing, others] = [true, false].map((is) => [...accounts].filter((one) => is === behind.undoing.has(one)))
  if (others!.length === 0 || !behind.addresses.has(key)) return new Set(undoing)
  return new Set([...undoing!, ...(yield* DeferredMatches.accountsAt(chain, own[0]!.subscription.address, others!))])
})

/** The matches, for subscribers of other accounts. */
const without = (found: Occurrences, accounts: ReadonlySet<number>) =>
  accounts.size === 0 ? found : Subscribers.ofThese(found, ({ account }) => !accounts.has(account))

const callbacksOf = (own: Occurrences) =>
  own.reduce((sum, { subscription }) => sum + (subscription.subscribers?.length ?? Number.POSITIVE_INFINITY), 0)

const matchesOf = (own: Occurrences) =>
  own.map(({ item, occurrence, subscription }) => ({ class: subscription.class, occurrence, item }))

/**
 * Those that the commit tells by itself, and those that are left to the steps: of accounts that have something before it,
 * and of all where they are many. A match that is left costs a commit about as much as one callback, and the steps more: the
 * first callback of each address does not count towards `most`.
 */
export const of = Effect.fnUntraced(function* (
  { chain, id }: { readonly chain: Chain; readonly id: number },
  occurrences: Occurrences,
  behind: Behind,
  most: number
) {
  // So it is with most blocks. What follows would tell the same, and sort every address for that.
  if (!isAny(behind)) {
    const addresses = new Set(occurrences.map(({ subscription }) => subscription.key))
    if (callbacksOf(occurrences) - addresses.size <= most) {
      return { told: yield* Subscribers.told(chain, occurrences), left: [] }
    }
  }
  const found = []
  for (const [key, own] of Map.groupBy(occurrences, ({ subscription }) => subscription.key)) {
    const isKnown = own.every(({ subscription }) => subscription.subscribers !== undefined)
    const after = isKnown ? yield* accountsBehind(id, key, own, behind) : new Set<number>()
    found.push({ key, own, after, count: callbacksOf(without(own, after)) })
  }
  const left: Array<DeferredMatches.AddressMatches> = []
  const told = new Map<string, ReadonlySet<number>>()
  let sum = 0
  // Small matches go first: they wait for no large one.
  for (const { after, count, key, own } of found.sort((a, b) => a.count - b.count)) {
    const beyondFirst = Math.max(count - 1, 0)
    const isMuch = sum + beyondFirst > most
    if (!isMuch) {
      sum += beyondFirst
      told.set(key, after)
    }
    if (!isMuch && after.size === 0) continue
    const later = isMuch ? own : Subscribers.ofThese(own, ({ account }) => after.has(account))
    const { address } = own[0]!.subscription
    left.push({ address, matches: matchesOf(later), accounts: isMuch ? undefined : [...after] })
  }
  const now = occurrences.flatMap((one) => {
    const after = told.get(one.subscription.key)
    return after === undefined ? [] : without([one], after)
  })
  return { told: yield* Subscribers.told(chain, now), left }
})
