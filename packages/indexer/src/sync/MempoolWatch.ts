/**
 * Watches what waits at a UTXO chain's node, for the subscriptions to unconfirmed coins.
 *
 * Of a transaction that was dealt with only the id is remembered, as long as the node lists it: one that is mined,
 * replaced or evicted is forgotten. An event is made when it is known of every input whose coins it takes; where one
 * leaves or is mined while that is found out, it is looked at again with the next poll, if it still waits.
 *
 * A subscription is told of what arrives after it was made, and not of what waited already then: the first look after
 * a start, which sees both, goes by the time at which the node first saw a transaction.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import { keyOf, type Outpoint } from "@headwater/core/utxo/Coin"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { NodeError } from "../families/node/NodeError.ts"
import type { Mempool, MempoolTransaction, Output } from "../families/SideSources.ts"
import * as UtxoSet from "../store/chain/UtxoSet.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as UnconfirmedCoins from "../store/subscriptions/UnconfirmedCoins.ts"

export interface Options {
  readonly pollInterval: Duration.Duration
  /** Runs after callbacks have been made. */
  readonly onRecorded?: Effect.Effect<void>
}

export interface MempoolWatch {
  /** One look at the node: makes callbacks of what is new. Does not ask the node where nobody wants to know. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Looks until it is interrupted; what goes wrong is logged and tried again. */
  readonly run: Effect.Effect<never>
  /** Transactions that are remembered. */
  readonly size: () => number
}

/** Transactions that are fetched and resolved together. */
const chunkSize = 500
/** How far the clocks of a node and of this machine may be apart, as the first look counts. */
const skewMillis = 60_000

const backoff = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** What a transaction's inputs take and its outputs give, or undefined where an input cannot be resolved yet. */
const resolved = (
  transaction: MempoolTransaction,
  outputs: ReadonlyMap<string, Output>,
  complete: boolean,
  number: number
): ReadonlyArray<CoinTransfer> | undefined => {
  const transfers = transaction.transfers.map((transfer) => ({ ...transfer, transaction: number }))
  const shown = new Set(transaction.transfers.flatMap(({ position, to }) => (to === undefined ? [position] : [])))
  for (const { outpoint, position } of transaction.spends) {
    if (shown.has(position)) continue
    const output = outputs.get(keyOf(outpoint))
    if (output === undefined) {
      if (complete) return undefined
      continue
    }
    const { amount, script } = output
    transfers.push({ kind: "coin", transaction: number, position, from: script, to: undefined, amount })
  }
  return transfers
}

export const make = Effect.fn("MempoolWatch.make")(function* (chain: Chain, mempool: Mempool, options: Options) {
  const database = yield* Database
  const coins = yield* UnconfirmedCoins.open(chain)
  const findMined = yield* UtxoSet.finder(chain)
  /** Ids, as hex, of what was dealt with and waits still. */
  const known = new Set<string>()
  let first = true

  const outputsOf = (transactions: ReadonlyArray<MempoolTransaction>, into: Map<string, Output>) => {
    for (const { id, transfers } of transactions) {
      for (const { amount, position, to } of transfers) {
        if (to !== undefined) into.set(keyOf({ transactionId: id, index: position }), { script: to, amount })
      }
    }
  }

  /** The outputs that transactions spend: their own batch's, the output map's, their unconfirmed parents', the node's. */
  const prevouts = Effect.fnUntraced(function* (
    transactions: ReadonlyArray<MempoolTransaction>,
    waits: (id: string) => boolean
  ) {
    const outputs = new Map<string, Output>()
    outputsOf(transactions, outputs)
    const spends = new Map<string, Outpoint>()
    for (const { spends: all, transfers } of transactions) {
      if (all.length === transfers.filter(({ to }) => to === undefined).length) continue
      for (const { outpoint } of all) spends.set(keyOf(outpoint), outpoint)
    }
    const missing = () => [...spends].flatMap(([key, outpoint]) => (outputs.has(key) ? [] : [outpoint]))
    for (const coin of yield* findMined(missing())) outputs.set(keyOf(coin.outpoint), coin)
    const parents = new Set(missing().map(({ transactionId }) => Buffer.from(transactionId).toString("hex")))
    const waiting = [...parents].filter(waits)
    for (let i = 0; i < waiting.length; i += chunkSize) {
      outputsOf(yield* mempool.transactions(waiting.slice(i, i + chunkSize)), outputs)
    }
    const unknown = missing()
    const answers = unknown.length === 0 ? [] : yield* mempool.outputs(unknown)
    answers?.forEach((output, i) => {
      if (output !== undefined) outputs.set(keyOf(unknown[i]!), output)
    })
    return { outputs, complete: answers !== undefined }
  })

  const look = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, waits: (id: string) => boolean) {
    const transactions = yield* mempool.transactions(ids)
    const { complete, outputs } = yield* prevouts(transactions, waits)
    const again = new Set<string>()
    const transfers: Array<CoinTransfer> = []
    transactions.forEach((transaction, number) => {
      const found = resolved(transaction, outputs, complete, number)
      if (found === undefined) again.add(Buffer.from(transaction.id).toString("hex"))
      else transfers.push(...found)
    })
    const concerns = new Set<string>()
    const concern = (address: AddressBytes | undefined) => {
      if (address !== undefined && coins.has(address)) concerns.add(Buffer.from(address).toString("hex"))
    }
    for (const { from, to } of transfers) {
      concern(from)
      concern(to)
    }
    const movements = concerns.size === 0 ? [] : Matcher.net(transfers, concerns)
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const times = new Map<number, number>()
    for (const { transaction } of movements) {
      if (times.has(transaction)) continue
      const id = Buffer.from(transactions[transaction]!.id).toString("hex")
      times.set(transaction, (yield* mempool.timeOf(id)) ?? now)
    }
    const seen = movements.map((movement) => ({
      ...movement,
      transactionId: transactions[movement.transaction]!.id,
      firstSeen: times.get(movement.transaction)!
    }))
    const made = yield* coins.record(seen, first ? skewMillis : Number.POSITIVE_INFINITY)
    if (made > 0 && options.onRecorded !== undefined) yield* options.onRecorded
    for (const id of ids) if (!again.has(id)) known.add(id)
  })

  const step = Effect.gen(function* () {
    if (!(yield* coins.refresh)) {
      known.clear()
      first = true
      return
    }
    const present = new Set(yield* mempool.ids)
    for (const id of known) if (!present.has(id)) known.delete(id)
    const fresh = [...present].filter((id) => !known.has(id))
    for (let i = 0; i < fresh.length; i += chunkSize) {
      yield* look(fresh.slice(i, i + chunkSize), (id) => present.has(id))
    }
    first = false
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("MempoolWatch.step"))

  /**
   * Announced transactions wake it early, but it rests ten times as long as it looked: where much waits, all of it is
   * listed each time.
   */
  const rest = (looked: Duration.Duration) => {
    if (mempool.announced === undefined) return Effect.sleep(options.pollInterval)
    const least = Duration.min(Duration.times(looked, 10), options.pollInterval)
    const longest = Duration.subtract(options.pollInterval, least)
    return Effect.andThen(Effect.sleep(least), Effect.raceFirst(Effect.sleep(longest), mempool.announced))
  }

  const run: MempoolWatch["run"] = step.pipe(
    Effect.tapError((error) => Effect.logWarning(`Looking at the mempool failed: ${error.message}`)),
    Effect.tapDefect((defect) => Effect.logError("Looking at the mempool failed", Cause.die(defect))),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry(backoff),
    Effect.orDie,
    Effect.timed,
    Effect.flatMap(([looked]) => rest(looked)),
    Effect.forever,
    Effect.annotateLogs({ chain: nameOf(chain) })
  )

  return { step, run, size: () => known.size } satisfies MempoolWatch
})
