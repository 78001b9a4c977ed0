/**
 * Watches the transactions that wait at a UTXO chain's node, for the subscriptions to unconfirmed coins.
 *
 * Of a transaction that was dealt with only the id is remembered, as long as the node lists the transaction: one that is
 * mined, replaced or evicted is forgotten. An event is made by the rule for blocks: when no input whose coins nobody knows
 * may spend those of the address. A net in doubt is looked at again with the next poll, as is a transaction that leaves the
 * node meanwhile.
 *
 * A subscription has events of transactions that arrive after it was made, and not of those that waited already then:
 * the first look after a start, which sees both, goes by the time at which the node first saw a transaction.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import { mayUnlock } from "@headwater/core/utxo/Unlocking"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { Mempool, MempoolTransaction } from "../families/SideSources.ts"
import * as Completeness from "../store/chain/Completeness.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import { inChunks } from "../store/database/Statements.ts"
import * as UnconfirmedCoins from "../store/subscriptions/UnconfirmedCoins.ts"
import * as UnixTime from "../UnixTime.ts"
import * as MempoolInputs from "./internal/MempoolInputs.ts"
import { untilDone } from "./RetryForever.ts"

export interface Options {
  readonly pollInterval: Duration.Duration
}

export interface MempoolWatch {
  /**
   * Reads the mempool once and makes callbacks of new transactions; how long the list of ids has taken. Does not ask the node while
   * no subscription wants them.
   */
  readonly step: Effect.Effect<Duration.Duration, NodeError | DatabaseError>
  /** Looks until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
  /** Transactions that are remembered. */
  readonly size: () => number
}

/** How far the clocks of a node and of this machine may be apart, as the first look counts. */
const skewMillis = 60_000

/** Transactions whose time a node is asked for at once. */
const concurrency = 8

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** The net of each address that `isWatched` holds of, in each transaction. */
const watchedNet = (transfers: ReadonlyArray<CoinTransfer>, isWatched: (address: AddressBytes) => boolean) => {
  const addresses = new Set<string>()
  for (const { from, to } of transfers) {
    // The matcher's key of an address is its hex.
    for (const side of [from, to]) if (side !== undefined && isWatched(side)) addresses.add(hex(side))
  }
  return addresses.size === 0 ? [] : Matcher.net(transfers, addresses)
}

export const make = Effect.fn("MempoolWatch.make")(function* (chain: Chain, mempool: Mempool, options: Options) {
  const database = yield* Database
  const coins = yield* UnconfirmedCoins.open(chain)
  const resolve = yield* MempoolInputs.make(chain, mempool)
  /** Ids, as hex, of transactions that were dealt with and that the node still lists. */
  const known = new Set<string>()
  let first = true

  /**
   * Those of the addresses whose every coin the store knows. A mined coin may lack in the UTXO set, or be gone from there
   * together with the transaction that spends the coin: only while store and node stand at the block at which the look
   * began, no block has moved coins meanwhile.
   */
  const withCoins = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<AddressBytes>,
    began: UnconfirmedCoins.Tip | undefined
  ) {
    if (began === undefined || addresses.length === 0) return new Set<string>()
    const recorded = yield* Completeness.of(chain, addresses)
    const found = new Set<string>()
    for (const [key, { coins }] of recorded) if (coins !== undefined && coins <= began.height + 1) found.add(key)
    if (found.size === 0) return found
    const now = [yield* mempool.tip, (yield* coins.tip)?.hash]
    return now.every((hash) => hash !== undefined && Bytes.equal(hash, began.hash)) ? found : new Set<string>()
  })

  /** Those of the movements whose net is in doubt. */
  const doubtful = Effect.fnUntraced(function* (
    movements: ReadonlyArray<Matcher.NetMovement>,
    unknown: MempoolInputs.Resolved["unknown"],
    began: UnconfirmedCoins.Tip | undefined
  ) {
    const mayBeSpent = new Map<number, (address: AddressBytes) => boolean>()
    const found = movements.filter(({ address, transaction }) => {
      const inputs = unknown.get(transaction)
      if (inputs === undefined) return false
      const mayBe = mayBeSpent.get(transaction) ?? mayUnlock(inputs.map(({ unlocking }) => unlocking?.()))
      mayBeSpent.set(transaction, mayBe)
      return mayBe(address)
    })
    const known = yield* withCoins(
      found.map(({ address }) => address),
      began
    )
    return new Set(found.filter(({ address }) => !known.has(Bytes.key(address))))
  })

  /** Movements with the transaction's id and the time at which a node first saw it. */
  const placed = Effect.fnUntraced(function* (
    movements: ReadonlyArray<Matcher.NetMovement>,
    transactions: ReadonlyArray<MempoolTransaction>
  ) {
    const now = yield* UnixTime.seconds
    const times = new Map(
      yield* Effect.forEach(
        new Set(movements.map(({ transaction }) => transaction)),
        (transaction) =>
          Effect.map(mempool.timeOf(hex(transactions[transaction]!.id)), (time) => [transaction, time ?? now] as const),
        { concurrency }
      )
    )
    return movements.map((movement) => ({
      ...movement,
      transactionId: transactions[movement.transaction]!.id,
      firstSeen: times.get(movement.transaction)!
    }))
  })

  /** `began` is the store's last block when the look began. */
  const look = Effect.fnUntraced(function* (
    ids: ReadonlyArray<string>,
    isWaiting: (id: string) => boolean,
    began: UnconfirmedCoins.Tip | undefined
  ) {
    const transactions = yield* mempool.transactions(ids)
    const { asked, transfers, unknown } = yield* resolve(transactions, isWaiting)
    const movements = watchedNet(transfers, coins.has)
    const inDoubt = yield* doubtful(movements, unknown, began)
    const certain = movements.filter((movement) => !inDoubt.has(movement))
    const seen = yield* placed(certain, transactions)
    yield* coins.record(seen, first ? skewMillis : Number.POSITIVE_INFINITY)
    const again = new Set([...(asked ? unknown.keys() : []), ...[...inDoubt].map(({ transaction }) => transaction)])
    const ofAgain = new Set([...again].map((transaction) => hex(transactions[transaction]!.id)))
    // Those that have left are looked at again where they are listed: the list and they may be of two nodes behind one URL,
    // or a block leaves the chain between the two answers.
    for (const { id } of transactions) if (!ofAgain.has(hex(id))) known.add(hex(id))
    return []
  })

  const list = Effect.gen(function* () {
    const present = new Set(yield* mempool.ids)
    // The list may be long in coming, and is also for subscriptions that were made meanwhile.
    yield* coins.refresh
    for (const id of known) if (!present.has(id)) known.delete(id)
    return { present, fresh: [...present].filter((id) => !known.has(id)) }
  })

  const step = Effect.gen(function* () {
    if (!(yield* coins.refresh)) {
      known.clear()
      first = true
      return Duration.zero
    }
    const began = yield* coins.tip
    const [took, { fresh, present }] = yield* Effect.timed(list)
    yield* inChunks(fresh, (some) => look(some, (id) => present.has(id), began))
    first = false
    return took
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("MempoolWatch.step"))

  /**
   * Announced transactions end the rest early, but it is at least ten times as long as the list has taken: where many
   * transactions wait, all of them are listed each time, and only new ones are fetched.
   */
  const rest = (listing: Duration.Duration) => {
    if (mempool.announced === undefined) return Effect.sleep(options.pollInterval)
    const least = Duration.min(Duration.times(listing, 10), options.pollInterval)
    const longest = Duration.subtract(options.pollInterval, least)
    return Effect.andThen(Effect.sleep(least), Effect.raceFirst(Effect.sleep(longest), mempool.announced))
  }

  const run: MempoolWatch["run"] = untilDone("Looking at the mempool", step).pipe(
    Effect.flatMap(rest),
    Effect.forever,
    Effect.annotateLogs({ chain: nameOf(chain) })
  )

  return { step, run, size: () => known.size } satisfies MempoolWatch
})
