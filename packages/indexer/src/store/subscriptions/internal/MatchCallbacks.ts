/** The callbacks of a match for the subscriptions of an account, as many as a step may write. */
import type { Chain } from "@headwater/core/chains/Chain"
import { isEachConfirmation } from "@headwater/core/events/EventType"
import * as Filter from "@headwater/core/events/Filter"
import type * as CallbackState from "../CallbackState.ts"
import * as ListedOccurrence from "../ListedOccurrence.ts"
import * as PendingConfirmations from "../PendingConfirmations.ts"
import * as Subscribers from "../Subscribers.ts"
import * as MatchedRows from "./MatchedRows.ts"
import type * as OwedSubscribers from "./OwedSubscribers.ts"

export interface Turn extends OwedSubscribers.Turn {
  readonly match: MatchedRows.MatchedRow
}

interface MatchCallbacks {
  readonly due: ReadonlyArray<CallbackState.NewCallback>
  readonly pending: ReadonlyArray<PendingConfirmations.PendingRow>
  /** Whether nothing of the match is left to be told to the account. */
  readonly isDone: boolean
  /** The last subscription that was told, and how many of its matches where others are left. */
  readonly subscription: number
  readonly occurrence: number
}

/** Up to `most` callbacks, and confirmations that are pending; and how far that is. */
export const of = (
  chain: Chain,
  { chain: id, match, ...at }: Turn,
  { isAll, subscribers }: OwedSubscribers.Owed,
  most: number
): MatchCallbacks => {
  const block = { height: match.height, hash: match.block_hash, parent: match.block_hash, time: 0 }
  const due: Array<CallbackState.NewCallback> = []
  const pending: Array<PendingConfirmations.PendingRow> = []
  let { occurrence, subscription } = at
  // The subscription that has a part may be gone: the next one has none.
  if (subscribers[0]?.id !== subscription) occurrence = 0
  let left = subscribers.length
  for (const one of subscribers) {
    const subscriber = Subscribers.toSubscriber(one)
    const own = match.matches.filter(
      ({ class: name, item }) => MatchedRows.isOfClass(one.event, name) && Filter.passes(subscriber.filter, item)
    )
    const part = own.slice(occurrence, occurrence + Math.max(1, most - due.length - pending.length))
    const occurrences = part.map(({ item, occurrence }) => ({
      subscription: subscriber,
      ...ListedOccurrence.of(subscriber, occurrence, Filter.decoded(chain, subscriber.filter, item))
    }))
    if (isEachConfirmation(one.event) || one.confirmations > 1) {
      pending.push(...PendingConfirmations.first(id, block, occurrences))
    } else {
      due.push(...PendingConfirmations.schedule(id, block, occurrences, block.height, match.created).due)
    }
    subscription = one.id
    if (occurrence + part.length < own.length) {
      occurrence += part.length
      break
    }
    occurrence = 0
    left--
    if (due.length + pending.length >= most) break
  }
  return { due, pending, isDone: left === 0 && isAll, subscription, occurrence }
}
