/**
 * What blocks change in callbacks: a block is matched against the subscriptions, what is confirmed becomes a callback,
 * and what needs more confirmations is pending until a later block brings them.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import { eventsOfClass, isEachConfirmation } from "@headwater/core/events/EventType"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Payers from "@headwater/core/events/Payers"
import * as MinedTransactions from "@headwater/core/events/MinedTransactions"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../TimeSlice.ts"
import * as KnownCoins from "../chain/KnownCoins.ts"
import type { Commit, Make, Reprocessing, ResolvedBlock } from "../chain/Projection.ts"
import * as UtxoSet from "../chain/UtxoSet.ts"
import * as CallbackState from "./CallbackState.ts"
import * as FanOut from "./FanOut.ts"
import * as CommitShare from "./internal/CommitShare.ts"
import * as DeferredMatches from "./internal/DeferredMatches.ts"
import * as Gaps from "./internal/Gaps.ts"
import * as MissedCallbacks from "./internal/MissedCallbacks.ts"
import * as PastBlocks from "./internal/PastBlocks.ts"
import * as PastParts from "./internal/PastParts.ts"
import * as RewoundBlocks from "./internal/RewoundBlocks.ts"
import * as UnknownCoins from "./internal/UnknownCoins.ts"
import * as UnresolvedInputs from "./internal/UnresolvedInputs.ts"
import * as Unsubscribed from "./internal/Unsubscribed.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"
import * as Retractions from "./Retractions.ts"
import * as RevertedBlocks from "./RevertedBlocks.ts"
import * as Subscribers from "./Subscribers.ts"
import * as UndoneBlocks from "./UndoneBlocks.ts"
import * as UnresolvedEvents from "./UnresolvedEvents.ts"

const internalEvents = eventsOfClass("internal")

const noTransactions: ReadonlyMap<string, Uint8Array> = new Map()

/** Subscriptions that are told of a past block at a time. */
const mostOfPast = 20

interface Matching {
  /** Whether the UTXO set still has what the block spends of addresses whose coins are known. */
  readonly knowsSpent: boolean
  readonly most: number
  /** The subscriptions that alone are matched; undefined where all are. */
  readonly only?: ReadonlyArray<number>
}

export const make: Make = Effect.fnUntraced(function* ({ chain, fanOut, id, tokens, watched }) {
  const bounds = yield* FanOut.Bounds
  const subscribers = yield* Subscribers.make(id)
  const unknownCoins = UnknownCoins.make(id)
  const unsubscribed = Unsubscribed.make()
  /** The height at which the next pending confirmation is due, as the block before has left it. */
  let nextDue = 0
  /** Whether the block before has left anything to the steps, as far as this process knows. */
  let mayBeBehind = true
  /** Whether any rewound block is at this height or above, as far as this process knows. */
  let mayBeRewound = true

  const matched = Effect.fnUntraced(function* (
    block: ResolvedBlock,
    entering: Pick<Commit, "foundRevision" | "learned" | "revision"> & Partial<Pick<Commit, "blocks">>,
    { knowsSpent, most, only }: Matching
  ) {
    const { foundRevision, learned, revision } = entering
    const mayLackPayers = Inputs.someUnshown(block) && (yield* unknownCoins.any(entering))
    const payers = mayLackPayers
      ? yield* TimeSlice.runInTransaction(() => Payers.shownInSteps(block, watched.set, UtxoKernel.hashesOf))
      : []
    const addresses = yield* TimeSlice.runInTransaction(() => Matcher.addressesSeenInSteps(block, watched.set, payers))
    const transactions = watched.hasTransactions()
      ? yield* TimeSlice.runInTransaction(() => MinedTransactions.seenInSteps(block, watched.set))
      : noTransactions
    // In the store, and from here on, an id stands where others have an address.
    const seen = transactions.size === 0 ? addresses : new Map([...addresses, ...(transactions as typeof addresses)])
    // Of the commit, not as found: a window may have grown within it, and reached what was nobody's in the block before.
    const mayBeSubscribed = only === undefined ? unsubscribed.others(revision, seen) : seen
    const candidates: Omit<Matcher.Candidates<Subscribers.Group>, "metadata"> = yield* only === undefined
      ? subscribers.all(foundRevision, mayBeSubscribed, most)
      : subscribers.only(seen, only)
    if (only === undefined) {
      const others = [...mayBeSubscribed.keys()].filter(
        (hex) => !candidates.byAddress.has(hex) && candidates.byTransaction?.has(hex) !== true
      )
      yield* watched.release(others.map((hex) => mayBeSubscribed.get(hex)!))
      if (revision === foundRevision) unsubscribed.add(others)
    }
    const { check, metadata } = tokens.of(block, learned)
    const match = (more: { readonly hasCoins?: (address: AddressBytes) => boolean }) =>
      TimeSlice.runInTransaction(() => Matcher.matchInSteps(chain, block, { ...candidates, payers, metadata, ...more }))
    const found = yield* match({})
    yield* check
    if (found.unresolved.length === 0 || !knowsSpent) return found
    const inDoubt = found.unresolved.map(({ address }) => address)
    const withCoins = yield* KnownCoins.known(id, inDoubt, block.height)
    if (withCoins.size === 0) return found
    const hasCoins = (address: AddressBytes) => withCoins.has(Bytes.key(address))
    return yield* match({ hasCoins })
  })

  /** Callbacks of blocks that leave the chain are taken back, or left to the steps. */
  const takeBack = Effect.fnUntraced(function* (leaving: UndoneBlocks.Leaving) {
    const { at, fork, reverted, rewound, tip } = leaving
    mayBeBehind = true
    if (yield* UndoneBlocks.areMany(id, leaving, bounds.undo)) {
      yield* UndoneBlocks.leave(id, leaving)
      return yield* fanOut.want
    }
    yield* PendingConfirmations.undo(id, fork)
    yield* RevertedBlocks.tell(chain, id, reverted, at)
    yield* rewound ? Retractions.withdraw(id, fork) : Retractions.takeBack(id, fork, tip, at)
  })

  /** Where another block comes at the height of one that was rewound, that one has left the chain. Whether any are left. */
  const reachRewound = Effect.fnUntraced(function* ({ hash, height }: ResolvedBlock, revision: number, at: number) {
    const reverted = yield* RewoundBlocks.replaced(id, { hash, height })
    const before = reverted.at(-1)
    if (before !== undefined) {
      yield* takeBack({ fork: height - 1, tip: before.hash, revision, rewound: false, reverted, at })
    }
    return yield* RewoundBlocks.reach(id, height, before !== undefined)
  })

  const apply = Effect.fnUntraced(function* (block: ResolvedBlock, commit: Commit) {
    const now = yield* Clock.currentTimeMillis
    if (mayBeRewound || !commit.continues) mayBeRewound = yield* reachRewound(block, commit.revision, now)
    const { occurrences, unresolved } = yield* matched(block, commit, { knowsSpent: true, most: bounds.address })
    if (unresolved.length > 0) {
      commit.insert("unresolved_event", UnresolvedEvents.rowsOf(id, block, unresolved))
      commit.afterwards(UnresolvedInputs.warn(chain, block, unresolved))
    }
    const isAsLeft = commit.continues && !mayBeBehind
    const behind = isAsLeft ? CommitShare.nothing : yield* CommitShare.behindOn(id, bounds.commit)
    const known = isAsLeft ? nextDue : 0
    // Steps tell the confirmations in their order, where they have more to tell before.
    const confirmed =
      behind.accounts === undefined
        ? { nextDue: block.height, callbacks: [], isLeft: () => true }
        : known > block.height
          ? { nextDue: known, callbacks: [], isLeft: () => false }
          : yield* PendingConfirmations.confirm(id, block.height, bounds.commit, now, behind.accounts)
    const { left, told } = yield* CommitShare.of({ chain, id }, occurrences, behind, bounds.commit)
    const isBehindOthers = ({ subscription: { account, event } }: (typeof told)[number]) =>
      isEachConfirmation(event) && confirmed.isLeft(account)
    const scheduled = told.filter((one) => !isBehindOthers(one))
    const { due, pending } = yield* TimeSlice.runInTransaction(() =>
      PendingConfirmations.scheduleInSteps(id, block, scheduled, block.height, now)
    )
    const waiting = [...pending, ...PendingConfirmations.first(id, block, told.filter(isBehindOthers))]
    yield* PendingConfirmations.add(waiting)
    const callbacks = [...confirmed.callbacks, ...due]
    yield* CallbackState.enter("matched", callbacks)
    if (left.length > 0) yield* DeferredMatches.defer(id, block, { revision: commit.revision, now }, left)
    nextDue = waiting.reduce((next, { due_height }) => Math.min(next, due_height), confirmed.nextDue)
    mayBeBehind = CommitShare.isAny(behind) || left.length > 0 || nextDue <= block.height
    if (mayBeBehind) commit.afterwards(fanOut.want)
    commit.addCallbacks(callbacks.length)
  })

  /**
   * Tells some of the subscriptions on extended public keys what the block has paid before their windows reached it: as many
   * callbacks as a commit writes. The block is read again for the rest.
   */
  const tellPast = Effect.fnUntraced(function* (block: ResolvedBlock, again: Reprocessing) {
    const owed = yield* PastBlocks.at(id, block.height, mostOfPast)
    if (owed.length === 0) return
    const only = owed.map(({ subscription }) => subscription)
    const knowsSpent = UtxoSet.remembersSpent(again.row, block.height)
    const matching = { knowsSpent, most: Number.POSITIVE_INFINITY, only }
    const found = yield* matched(block, again, matching)
    const addresses = [...found.occurrences, ...found.unresolved].map(({ subscription }) => subscription.address!)
    const isLateOf = yield* PastBlocks.late(block.height, owed, addresses)
    const isLate = ({ address, id }: PendingConfirmations.Subscriber) => isLateOf(id, address!)
    const unresolved = Subscribers.ofThese(found.unresolved, isLate)
    if (unresolved.length > 0) yield* UnresolvedEvents.add(id, block, unresolved)
    const occurrences = Subscribers.ofThese(found.occurrences, isLate)
    // Nothing follows from a past block whose parts are empty: the next step would be the same.
    const parts = PastBlocks.partsOf(owed, PastParts.countsOf(occurrences), Math.max(1, bounds.commit))
    const told = yield* Subscribers.told(chain, PastParts.of(occurrences, parts))
    again.addCallbacks(yield* MissedCallbacks.addPast(id, block, told, yield* Clock.currentTimeMillis))
    again.afterwards(fanOut.want)
    yield* PastBlocks.pass(id, block.height, parts)
  })

  const reprocess = Effect.fnUntraced(function* (block: ResolvedBlock, again: Reprocessing) {
    if (!again.addsCallbacks) return
    if (again.addsCallbacks === "past") return yield* tellPast(block, again)
    const found = yield* matched(block, again, {
      knowsSpent: UtxoSet.remembersSpent(again.row, block.height),
      most: Number.POSITIVE_INFINITY
    })
    const occurrences = yield* Subscribers.told(chain, found.occurrences)
    const unresolved = Subscribers.expand(found.unresolved)
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
    undo: Effect.fnUntraced(function* ({ at, fork, revision, rewound, tip }) {
      mayBeRewound = true
      yield* DeferredMatches.undo(id, fork)
      yield* UnresolvedEvents.undo(id, fork)
      yield* Gaps.undo(id, fork)
      yield* rewound ? RewoundBlocks.remember(id, fork) : RewoundBlocks.undo(id, fork)
      const reverted = rewound ? [] : yield* RevertedBlocks.above(id, fork)
      yield* takeBack({ fork, tip, revision, rewound, reverted, at })
    }),
    reprocess: { match: reprocess }
  }
})
