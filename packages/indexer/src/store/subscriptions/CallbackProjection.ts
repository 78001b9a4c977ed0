/**
 * What blocks change in callbacks: a block is matched against the subscriptions, what is confirmed becomes a callback,
 * and what needs more confirmations is pending until a later block brings them.
 */
import * as Matcher from "@headwater/core/events/Matcher"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Commit, Make, Reprocessing, ResolvedBlock } from "../chain/Projection.ts"
import * as CallbackState from "./CallbackState.ts"
import * as MissedCallbacks from "./internal/MissedCallbacks.ts"
import * as UnresolvedInputs from "./internal/UnresolvedInputs.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"
import * as Retractions from "./Retractions.ts"
import * as Subscribers from "./Subscribers.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, tokens, watched }) {
  const subscribers = yield* Subscribers.make(id)
  /** The height at which the next pending confirmation is due, as the block before has left it. */
  let nextDue = 0

  const matched = Effect.fnUntraced(function* (
    block: ResolvedBlock,
    { learned, revision }: Pick<Commit, "learned" | "revision">
  ) {
    const seen = Matcher.addressesSeen(block, watched.set)
    const candidates = yield* subscribers(revision, seen)
    yield* watched.release([...seen].flatMap(([hex, address]) => (candidates.byAddress.has(hex) ? [] : [address])))
    const { check, metadata } = tokens.of(block, learned)
    const found = Matcher.match(chain, block, { ...candidates, metadata })
    yield* check
    return found
  })

  const apply = Effect.fnUntraced(function* (block: ResolvedBlock, commit: Commit) {
    const { occurrences, unresolved } = yield* matched(block, commit)
    commit.afterwards(UnresolvedInputs.warn(chain, block, unresolved))
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
    const { occurrences, unresolved } = yield* matched(block, again)
    again.addCallbacks(yield* MissedCallbacks.add(again.row, block, occurrences, yield* Clock.currentTimeMillis))
    again.afterwards(UnresolvedInputs.warn(chain, block, yield* MissedCallbacks.meant(block, unresolved)))
  })

  return {
    apply: { match: apply },
    undo: Effect.fnUntraced(function* ({ at, fork, tip }) {
      yield* PendingConfirmations.undo(id, fork)
      yield* Retractions.takeBack(id, fork, tip, at)
    }),
    reprocess: { match: reprocess }
  }
})
