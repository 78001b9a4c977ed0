/**
 * What blocks change in callbacks: a block is matched against the subscriptions, what is confirmed becomes a callback,
 * and what needs more confirmations is pending until a later block brings them.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Commit, Make, Reprocessing, ResolvedBlock } from "../chain/Projection.ts"
import * as KnownCoins from "../chain/KnownCoins.ts"
import * as UtxoSet from "../chain/UtxoSet.ts"
import * as CallbackState from "./CallbackState.ts"
import * as MissedCallbacks from "./internal/MissedCallbacks.ts"
import * as UnknownCoins from "./internal/UnknownCoins.ts"
import * as UnresolvedInputs from "./internal/UnresolvedInputs.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"
import * as Retractions from "./Retractions.ts"
import * as Subscribers from "./Subscribers.ts"
import * as UnresolvedEvents from "./UnresolvedEvents.ts"

const internalEvents = eventsOfClass("internal")

export const make: Make = Effect.fnUntraced(function* ({ chain, id, tokens, watched }) {
  const subscribers = yield* Subscribers.make(id)
  const unknownCoins = UnknownCoins.make(id)
  /** The height at which the next pending confirmation is due, as the block before has left it. */
  let nextDue = 0

  /** `knowsSpent`: whether the UTXO set still has what the block spends of addresses whose coins are known. */
  const matched = Effect.fnUntraced(function* (
    block: ResolvedBlock,
    { learned, revision }: Pick<Commit, "learned" | "revision">,
    knowsSpent: boolean
  ) {
    const mayLackPayers = Matcher.lacksInputs(block) && (yield* unknownCoins.any(revision))
    const payers = mayLackPayers ? Matcher.payersShown(block, watched.set) : []
    const seen = Matcher.addressesSeen(block, watched.set, payers)
    const candidates = yield* subscribers(revision, seen)
    yield* watched.release([...seen].flatMap(([hex, address]) => (candidates.byAddress.has(hex) ? [] : [address])))
    const { check, metadata } = tokens.of(block, learned)
    const found = Matcher.match(chain, block, { ...candidates, payers, metadata })
    yield* check
    if (found.unresolved.length === 0 || !knowsSpent) return found
    const addresses = found.unresolved.map(({ address }) => address)
    const withCoins = yield* KnownCoins.known(id, addresses, block.height)
    if (withCoins.size === 0) return found
    const hasCoins = (address: AddressBytes) => withCoins.has(Bytes.key(address))
    return Matcher.match(chain, block, { ...candidates, payers, metadata, hasCoins })
  })

  const apply = Effect.fnUntraced(function* (block: ResolvedBlock, commit: Commit) {
    const { occurrences, unresolved } = yield* matched(block, commit, true)
    if (unresolved.length > 0) {
      commit.insert("unresolved_event", UnresolvedEvents.rowsOf(id, block, unresolved))
      commit.afterwards(UnresolvedInputs.warn(chain, block, unresolved))
    }
    const now = yield* Clock.currentTimeMillis
    const known = commit.continues ? nextDue : 0
    const confirmed =
      known > block.height
        ? { nextDue: known, callbacks: [] }
        : yield* PendingConfirmations.confirm(id, block.height, now)
    const { due, pending } = PendingConfirmations.schedule(id, block, occurrences, block.height, now)
    yield* PendingConfirmations.add(pending)
    const callbacks = [...confirmed.callbacks, ...due]
    yield* CallbackState.enter("matched", callbacks)
    nextDue = pending.reduce((next, { due_height }) => Math.min(next, due_height), confirmed.nextDue)
    commit.addCallbacks(callbacks.length)
  })

  const reprocess = Effect.fnUntraced(function* (block: ResolvedBlock, again: Reprocessing) {
    if (!again.addsCallbacks) return
    const { occurrences, unresolved } = yield* matched(block, again, UtxoSet.remembersSpent(again.row, block.height))
    const decided = yield* UnresolvedEvents.keepOnly(id, block, unresolved)
    const only = again.addsCallbacks !== true
    const missing =
      again.addsCallbacks === "unresolved"
        ? UnresolvedEvents.occurrencesOf(decided, occurrences)
        : occurrences.filter(({ subscription }) => !only || internalEvents.has(subscription.event))
    again.addCallbacks(yield* MissedCallbacks.add(again.row, block, missing, yield* Clock.currentTimeMillis))
    if (only) return
    const missed = yield* MissedCallbacks.meant(block, unresolved)
    if (missed.length > 0) again.afterwards(UnresolvedInputs.warn(chain, block, missed))
  })

  return {
    apply: { match: apply },
    undo: Effect.fnUntraced(function* ({ at, fork, tip }) {
      yield* PendingConfirmations.undo(id, fork)
      yield* UnresolvedEvents.undo(id, fork)
      yield* Retractions.takeBack(id, fork, tip, at)
    }),
    reprocess: { match: reprocess }
  }
})
