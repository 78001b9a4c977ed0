/**
 * The addresses of one chain that each block is matched against: those of subscriptions and HD wallets, synced ones, and
 * those of a program that embeds the indexer. The ids of transactions that subscriptions are for are in the same set.
 *
 * To fill a set of millions takes a while, for which no block waits: until then the store is asked about the addresses of
 * each block. A block that asks about others meanwhile, as about those behind the outputs that it spends, is entered again
 * once the store has told of them.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Matcher from "@headwater/core/events/Matcher"
import * as MinedTransactions from "@headwater/core/events/MinedTransactions"
import * as Watched from "@headwater/core/events/Watched"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { sql } from "kysely"
import * as TimeSlice from "../../TimeSlice.ts"
import * as ConsumedAddresses from "../consumers/ConsumedAddresses.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as WatchedRows from "./internal/WatchedRows.ts"
import * as Watchers from "./Watchers.ts"

export interface WatchedAddresses {
  readonly set: Watched.Watched
  /** Whether the set has the id of a transaction too, as far as is known: else no block is looked through for such. */
  readonly hasTransactions: () => boolean
  /** Whether any wallet may be synced on the chain. */
  readonly hasWallets: () => boolean
  /**
   * Fills the empty set with the addresses that came with the revisions up to this one: ends after the first ones
   * ({@link Filling}), and goes on beside the blocks if there are more.
   */
  readonly fill: (revision: number) => Effect.Effect<void, DatabaseError, Scope.Scope>
  /** Asks the store about addresses of blocks, as long as the set is not full. */
  readonly foresee: (blocks: ReadonlyArray<Block>) => Effect.Effect<void, DatabaseError>
  /** Runs a transaction, again until whatever it has asked of the set was known. */
  readonly transaction: <A, E, R>(
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | DatabaseError, Exclude<R, Database>>
  /** Adds the addresses that came with the chain's revisions up to this one. */
  readonly catchUpToRevision: (revision: number) => Effect.Effect<void, DatabaseError>
  /** Takes those of these addresses out of the set that are of no wallet and not synced; no subscription may have them. */
  readonly release: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<void, DatabaseError>
}

/** How the set is filled. */
export const Filling = Context.Reference("@headwater/indexer/store/chain/WatchedAddresses/Filling", {
  defaultValue: () => ({
    /** Addresses that are read before the first block is entered: some tenths of a second. */
    atOnce: 50_000,
    /** Runs before each page of the others. */
    pause: Effect.yieldNow as Effect.Effect<void>
  })
})

/** A transaction has asked about addresses of which the set does not know yet whether they are watched. */
class NotLookedUp extends Data.TaggedError("NotLookedUp") {}

/** Addresses about which the store was asked, before they are forgotten. */
const mostLookedUp = 200_000

/** Waits between attempts to read on, where the store fails. */
const retries = Schedule.spaced("1 second")

/** Addresses for which the log has a line. */
const loggedAddresses = 100_000

/** The empty set of the chain that has this number in the store. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { optimistic, query, read } = yield* Database
  const { atOnce, pause } = yield* Filling
  const watchedRows = yield* WatchedRows.make(chain)
  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const watched = Watched.make([key[0]!, key[1]!])
  const consumed = yield* ConsumedAddresses.Current
  /** The revision up to which the set has the addresses that came since it began to be filled. */
  let reached = 0
  /** For whom addresses have been added. */
  const reasons = new Set<WatchedRows.Reason>()

  const hasTransactions = () => reasons.has("transaction")

  /** Whether earlier addresses are still being read. */
  let filling = false
  /** The store was asked about these addresses since then, by their keys: those that are watched are in the set. */
  const lookedUp = new Set<string>()
  /** What is to be asked. */
  const unknown = new Map<string, Uint8Array>()
  /** How often the set did not know the answer. */
  let misses = 0

  const isIn = (address: Uint8Array) => {
    if (watched.has(address)) return true
    if (!filling) return false
    const key = Bytes.key(address)
    if (lookedUp.has(key)) return false
    unknown.set(key, address)
    misses++
    return false
  }
  const has = (address: Uint8Array) => consumed?.addresses.has(address) === true || isIn(address)
  const set: Watched.Watched = {
    ...watched,
    has,
    hasAt: (span) =>
      filling || consumed !== undefined ? has(span.bytes.slice(span.at, span.at + span.length)) : watched.hasAt(span),
    hasLike: (length, first) => filling || consumed !== undefined || watched.hasLike(length, first),
    size: () => (filling ? Number.POSITIVE_INFINITY : watched.size() + (consumed?.addresses.size() ?? 0))
  }

  const lookUp = Effect.gen(function* () {
    const asked = [...unknown]
    unknown.clear()
    const found = yield* inChunks(asked, (some) =>
      read((db) =>
        Watchers.of(
          db,
          chain,
          some.map(([, address]) => address)
        )
      )
    )
    for (const { address } of found) watched.add(address)
    for (const [key] of asked) lookedUp.add(key)
  })

  const add = (from: number, to: number, readPage: WatchedRows.ReadPage) =>
    watchedRows.each(from, to, readPage, (address, reason) => {
      watched.add(address)
      reasons.add(reason)
    })

  const catchUpToRevision = Effect.fnUntraced(function* (revision: number) {
    if (revision <= reached) return
    yield* add(reached, revision, (page) => page)
    reached = Math.max(reached, revision)
  })

  const fill = Effect.fnUntraced(function* (revision: number) {
    const begun = yield* Deferred.make<void, DatabaseError>()
    let count = 0
    const readPage: WatchedRows.ReadPage = Effect.fnUntraced(function* (page) {
      if (count >= atOnce) {
        yield* Deferred.succeed(begun, undefined)
        yield* pause
      }
      const found = yield* count < atOnce ? page : Effect.retry(page, retries)
      const before = count
      count += found.length
      if (Math.floor(before / loggedAddresses) < Math.floor(count / loggedAddresses)) {
        yield* Effect.logInfo(`Watching ${watched.size()} addresses so far`)
      }
      return found
    })
    if (yield* watchedRows.hasTransactions) reasons.add("transaction")
    filling = true
    reached = revision
    yield* add(0, revision, readPage).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          filling = false
          lookedUp.clear()
          unknown.clear()
        })
      ),
      Effect.tapDefect((defect) => Effect.logError("Failed", Cause.die(defect))),
      Effect.onExit((exit) => Deferred.done(begun, exit)),
      Effect.exit,
      Effect.forkScoped
    )
    yield* Deferred.await(begun)
  })

  const transactionOnceKnown: WatchedAddresses["transaction"] = <A, E, R>(self: Effect.Effect<A, E, R>) => {
    const attempt = Effect.suspend(() => {
      const before = misses
      return optimistic(Effect.tap(self, () => (misses === before ? Effect.void : Effect.fail(new NotLookedUp()))))
    })
    const again: typeof attempt = Effect.catchIf(
      attempt,
      (error) => error instanceof NotLookedUp,
      () => Effect.andThen(lookUp, again)
    )
    return again as Effect.Effect<A, E | DatabaseError, Exclude<R, Database>>
  }

  return {
    set,
    hasTransactions,
    hasWallets: () => reasons.has("wallet") || filling,
    fill,
    catchUpToRevision,
    foresee: Effect.fnUntraced(function* (blocks) {
      if (!filling) return
      if (lookedUp.size > mostLookedUp) lookedUp.clear()
      for (const block of blocks) {
        yield* TimeSlice.run(() => Matcher.addressesSeenInSteps(block, set))
        if (hasTransactions()) yield* TimeSlice.run(() => MinedTransactions.seenInSteps(block, set))
      }
      yield* lookUp
    }),
    transaction: transactionOnceKnown,
    release: Effect.fnUntraced(function* (addresses) {
      const others = yield* inChunks(reasons.has("wallet") || reasons.has("sync") || filling ? addresses : [], (some) =>
        query((db) =>
          db
            .selectFrom("wallet_address")
            .select("address")
            .where("chain", "=", chain)
            .where("address", "in", some)
            .unionAll(
              db
                .selectFrom("synced_address")
                .select("address")
                .where("chain", "=", chain)
                .where("active", "=", sql.lit(1))
                .where("address", "in", some)
            )
        )
      )
      const owned = new Set(others.map(({ address }) => Bytes.key(address)))
      for (const address of addresses) if (!owned.has(Bytes.key(address))) watched.remove(address)
    })
  } satisfies WatchedAddresses as WatchedAddresses
})
