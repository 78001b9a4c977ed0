/**
 * Finds the coins that addresses and wallets had before they were watched, beside the commits of blocks and holding up
 * none. One search of the node serves all that wait; who comes while it runs waits for the next.
 *
 * A node shows its coins at one block. They are brought up to the last committed block, by the blocks in between, and
 * entered there; if the chain has moved on meanwhile they are brought up a little further, and if the node's block is not
 * on our chain any more they are searched again.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import { nameOf } from "@headwater/core/chains/Chain"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { CoinSearch } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as SteadyTime from "../SteadyTime.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as CoinEntry from "../store/chain/CoinEntry.ts"
import * as FoundCoins from "../store/chain/FoundCoins.ts"
import * as KnownCoins from "../store/chain/KnownCoins.ts"
import * as LostCoins from "../store/chain/LostCoins.ts"
import * as BackgroundMigrations from "../store/database/BackgroundMigrations.ts"
import * as ChainRow from "../store/database/ChainRow.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as UnresolvedEvents from "../store/subscriptions/UnresolvedEvents.ts"
import * as ScanningWallets from "../store/wallets/ScanningWallets.ts"
import * as WalletBranches from "../store/wallets/WalletBranches.ts"
import { retryForever } from "./RetryForever.ts"

export interface Options {
  readonly pollInterval: Duration.Duration
  readonly gapLimit: number
  /**
   * Addresses of each branch that are searched beyond the watched ones; 1,000 by default. Searching many costs a node
   * no more than few, and of used addresses only those show that still have coins: the gap between two may be wide.
   */
  readonly lookAhead?: number
  /** Subscribed addresses in one search; 50,000 by default. */
  readonly addresses?: number
}

/** What a step did: nothing where nobody waits or the chain is far from its node's head. */
export type Outcome = "nothing" | "searched" | "unavailable"

export interface CoinSync {
  /** Finds the coins of those that wait, once the chain has come near enough to the node's head. */
  readonly step: Effect.Effect<Outcome, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Blocks that the chain may be behind its node when coins are searched. */
const near = 2
/** Wallets in one search: with what is looked for beyond their watched addresses, about as much as the addresses. */
const walletsASearch = 25
/** How long and how often a search waits for others to join that come at the same time. */
const batchDelay = "500 millis"
const batchLooks = 20
const progressInterval = "30 seconds"
/** Blocks with movements in doubt that are read from the store at a time. */
const blocksAtOnce = 100
/**
 * Where only wallets wait whose balance is known, the next search comes after this many times the time that the last one
 * took: payments alone keep a node searching for no more than a tenth of its time.
 */
const restOfKnown = 9
/** How often a node is asked anew whether it can find coins. */
const unavailableInterval = Duration.minutes(1)

/** A wallet, and how far beyond its watched addresses it is searched. */
interface Reach {
  readonly wallet: ScanningWallets.ScanningWallet
  readonly beyond: number
}

export const make = Effect.fn("CoinSync.make")(function* (
  source: Source,
  search: CoinSearch,
  store: ChainStore,
  options: Options
) {
  const { chain } = source
  const { gapLimit, lookAhead = 1_000, addresses: maxAddresses = 50_000 } = options
  const database = yield* Database
  /** No subscription of these revisions waits, as long as there was no further reorganisation. */
  let settled = { revision: 0, reorganisations: 0 }
  let isWarned = false

  const targetsOf = Effect.fnUntraced(function* ({ beyond, wallet }: Reach) {
    const watched = yield* ScanningWallets.watched(wallet)
    return yield* Effect.forEach(wallet.branches, (branch, number) => {
      const from = wallet.unwatched[number]!
      const further = WalletBranches.deriveInSteps(branch, from, from + beyond - 1)
      return Effect.map(further, (addresses) => [...watched[number]!.filter(({ index }) => index < from), ...addresses])
    })
  })

  /** Subscribed addresses that wait, and the revision up to which there are no others. */
  const waitingAddresses = Effect.fnUntraced(function* ({ id, revision }: Pick<ChainRow.ChainRow, "id" | "revision">) {
    const addresses = new Map<string, AddressBytes>()
    let after = settled.revision
    while (after < revision && addresses.size < maxAddresses) {
      const found = yield* KnownCoins.unknown(id, { after, last: revision })
      for (const address of found.addresses) addresses.set(Bytes.key(address), address)
      after = found.reached
    }
    return { addresses: [...addresses.values()], revision: after }
  })

  const logged = <A, E>(what: string, self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.raceFirst(
      self,
      Effect.sleep(progressInterval).pipe(
        Effect.andThen(search.progress),
        Effect.flatMap((percent) => Effect.logInfo(`${what}: ${percent === undefined ? "under way" : `${percent} %`}`)),
        Effect.ignore,
        Effect.forever
      )
    )

  /**
   * The coins of addresses and wallets at the node's newest block. Wallets are looked for so far that a gap without any
   * coin is behind the last: where not, all are searched once more.
   */
  const find = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<AddressBytes>,
    wallets: ReadonlyArray<ScanningWallets.ScanningWallet>
  ) {
    let reaches = wallets.map((wallet): Reach => ({ wallet, beyond: Math.max(lookAhead, gapLimit) }))
    while (true) {
      const sought = yield* Effect.forEach(reaches, (reach) =>
        Effect.map(targetsOf(reach), (targets) => ({ ...reach, targets }))
      )
      const ranges = sought.flatMap(({ beyond, targets, wallet }) =>
        wallet.branches.map((branch, i) => ({
          ...{ branch, count: wallet.unwatched[i]! + beyond },
          addresses: targets[i]!.map(({ bytes }) => bytes)
        }))
      )
      const found = yield* logged(
        `Searching the node's coins for ${addresses.length} addresses and ${wallets.length} wallets`,
        search.find(addresses, ranges)
      )
      if (found === undefined) return undefined
      const paid = new Set(found.coins.map(({ script }) => Bytes.key(script)))
      const isFar = ({ targets }: (typeof sought)[number]) =>
        targets.some((branch) => branch.slice(-gapLimit).some(({ bytes }) => paid.has(Bytes.key(bytes))))
      if (!sought.some(isFar)) return { sought: { addresses, wallets: sought }, found }
      reaches = sought.map((one) => ({ wallet: one.wallet, beyond: isFar(one) ? one.beyond * 2 : one.beyond }))
    }
  })

  /** Enters found coins where the chain stands; false where they have to be searched again. */
  const enter = Effect.fnUntraced(function* (sought: CoinEntry.Sought, coins: CoinsAt) {
    const wanted = new Set(
      [...sought.addresses, ...sought.wallets.flatMap(({ targets }) => targets.flat().map(({ bytes }) => bytes))].map(
        Bytes.key
      )
    )
    let found = FoundCoins.at(coins)
    while (true) {
      const cursor = yield* store.cursor
      if (cursor === undefined) return false
      if (cursor.height < found.height) {
        yield* Effect.sleep("100 millis")
        if ((yield* source.head).height < found.height) return false
        continue
      }
      while (found.height < cursor.height) {
        const block = yield* source.blockAt(found.height + 1)
        if (!Bytes.equal(block.parent, found.hash) || LostCoins.areIn(block)) return false
        found = FoundCoins.advance(found, block, wanted)
      }
      if (yield* CoinEntry.enter(chain, sought, found, gapLimit)) return true
      const ours = yield* store.hashAt(found.height)
      if (ours === undefined || !Bytes.equal(ours, found.hash)) return false
    }
  })

  const decideAt = Effect.fnUntraced(function* (height: number) {
    const block = yield* source.blockAt(height)
    yield* Effect.catchTags(store.reprocess(block, { callbacks: "unresolved", internalFrom: undefined, learned: [] }), {
      // A reorganisation has come in between, and the block with it will be matched anew.
      NotRecorded: () => Effect.succeed(0),
      TokensUnknown: Effect.die
    })
  })

  /** Blocks after the search, committed before its coins were known: what was in doubt there is decided now. */
  const decide = Effect.fnUntraced(function* (searched: number) {
    for (let after = searched; ; ) {
      const heights = yield* UnresolvedEvents.heightsAbove(chain, after, blocksAtOnce)
      for (const height of heights) yield* decideAt(height)
      if (heights.length < blocksAtOnce) return
      after = heights.at(-1)!
    }
  })

  /** Those who wait, undefined where nobody does, or nobody but wallets whose balance is `known`. */
  const waiting = Effect.fnUntraced(
    function* (known: "searched" | "left") {
      // What a release has watched is yet to get the rows that a search would fill in.
      for (const watchers of ["subscriptions", "wallets"]) {
        if (yield* BackgroundMigrations.isPending(`completeness of ${watchers}`)) return undefined
      }
      const row = yield* ChainRow.findWithReorganisations(chain)
      if (row === undefined) return undefined
      const reorganisations = row.reorganisations ?? 0
      if (reorganisations !== settled.reorganisations) settled = { revision: 0, reorganisations }
      const wallets = yield* ScanningWallets.list(chain, walletsASearch)
      const { addresses, revision } = yield* waitingAddresses(row)
      if (addresses.length === 0) settled = { revision, reorganisations }
      const isWaiting = known === "searched" ? wallets.length > 0 : wallets.some(({ isKnown }) => !isKnown)
      if (addresses.length === 0 && !isWaiting) return undefined
      return { addresses, wallets, settled: { revision, reorganisations } }
    },
    Effect.provideService(Database, database)
  )

  /** Those who wait, once those who come together are all there. */
  const batched = Effect.fnUntraced(function* (known: "searched" | "left") {
    for (let i = 1, before = 0; ; i++) {
      const found = yield* waiting(known)
      const count = found === undefined ? 0 : found.addresses.length + found.wallets.length
      if (count === before || i === batchLooks) return found
      before = count
      yield* Effect.sleep(batchDelay)
    }
  })

  const searchFor = Effect.fn("CoinSync.step")(
    function* (found: Effect.Success<ReturnType<typeof waiting>>) {
      if (found === undefined) return "nothing"
      const { addresses, wallets } = found
      const cursor = yield* store.cursor
      if (cursor === undefined || (yield* source.head).height > cursor.height + near) return "nothing"

      const [took, result] = yield* Effect.timed(find(addresses, wallets))
      if (result === undefined) {
        if (!isWarned) {
          yield* Effect.logWarning(
            "The node cannot find the coins that addresses had before they were watched (no scantxoutset, no index of " +
              "addresses): movements of such coins are unresolved, and wallets that are not new have no balance; " +
              "docs/chains/utxo.md, Unresolved inputs, says what helps"
          )
        }
        isWarned = true
        return "unavailable"
      }
      if (yield* enter(result.sought, result.found)) {
        settled = found.settled
        const { coins, height } = result.found
        yield* Effect.logInfo(
          `Found ${coins.length} coins of ${addresses.length} addresses and ${wallets.length} wallets at block ` +
            `${height}, in ${Duration.format(took)}`
        )
        yield* decide(height)
      }
      return "searched"
    },
    Effect.provideService(Database, database),
    Effect.annotateLogs({ chain: nameOf(chain) })
  )
  const step: CoinSync["step"] = Effect.flatMap(waiting("searched"), searchFor)

  // A node rests as long as it has searched: no more than half of its time goes into searches.
  let knownRestUntil = 0
  let isUnavailable = false
  const rested = Effect.gen(function* () {
    // A million may wait that no node can look for: they are read once a node can.
    if (isUnavailable && !(yield* search.isAvailable)) return yield* Effect.sleep(unavailableInterval)
    const now = yield* SteadyTime.millis
    // Not looked for again: who came after the last look may be the first of many.
    const found = yield* batched(now < knownRestUntil ? "left" : "searched")
    const [took, outcome] = yield* Effect.timed(searchFor(found))
    if (outcome === "searched") {
      knownRestUntil = (yield* SteadyTime.millis) + restOfKnown * Duration.toMillis(took)
    }
    isUnavailable = outcome === "unavailable"
    yield* Effect.sleep(isUnavailable ? unavailableInterval : took)
  })
  const run: CoinSync["run"] = retryForever(chain, "Finding the coins of addresses", options, rested)

  return { step, run } satisfies CoinSync
})
