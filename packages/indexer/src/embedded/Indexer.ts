/**
 * Headwater inside another program: follows chains into a store, and tells the program's consumers what happens to its
 * addresses. Each consumer has a name, and its position in the store: what it has not acknowledged is told again, after
 * whatever kill; what has left the chain is told as well, also what left while the consumer was away.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { ChainStatus, type Status } from "../families/node/ChainStatus.ts"
import * as Consumers from "../store/consumers/Consumers.ts"
import * as BackgroundMigrations from "../store/database/BackgroundMigrations.ts"
import * as ChainRow from "../store/database/ChainRow.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as StoreLock from "../store/database/StoreLock.ts"
import * as ReaderThreads from "../sync/ReaderThreads.ts"
import * as ConsumerOptions from "./ConsumerOptions.ts"
import * as ConsumerStream from "./ConsumerStream.ts"
import * as FollowedChain from "./FollowedChain.ts"
import * as IndexerSettings from "./IndexerSettings.ts"
import type { Acknowledgeable, Notification } from "./Notification.ts"

export { ConsumerElsewhere, EventsNotKept } from "../store/consumers/Consumers.ts"
export type { ConsumedBlock, Event } from "../store/consumers/BlockEvents.ts"
export type { ConsumerOptions } from "./ConsumerOptions.ts"
export { ChainStopped } from "./FollowedChain.ts"
export { InvalidIndexerSettings } from "./IndexerSettings.ts"
export type { Acknowledgeable, Blocks, Committed, Completed, Notification, Reorganised } from "./Notification.ts"

/** Why a consumer is told nothing more. */
export type ConsumerError =
  | Consumers.ConsumerElsewhere
  | Consumers.EventsNotKept
  | FollowedChain.ChainStopped
  | IndexerSettings.InvalidIndexerSettings
  | DatabaseError

/**
 * The indexer of a program.
 *
 * @example
 * ```ts
 * import { Indexer } from "@headwater/indexer/embedded/Indexer"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const listen = Effect.gen(function* () {
 *   const indexer = yield* Indexer
 *   yield* Stream.runForEach(indexer.events("deposits"), ({ acknowledge, events, undone }) =>
 *     Effect.andThen(Effect.log({ credited: events.length, takenBack: undone.events.length }), acknowledge)
 *   )
 * }).pipe(
 *   Effect.provide(
 *     Indexer.layer({
 *       chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:8545"], start: 0 } },
 *       store: { sqlite: "deposits.db" },
 *       addresses: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
 *     })
 *   )
 * )
 * ```
 */
export class Indexer extends Context.Service<
  Indexer,
  {
    /**
     * What happens on all chains, from where the consumer of this name has acknowledged: at least once. A consumer that does
     * not acknowledge for long holds the following of the chain, as far as the stream is open.
     */
    readonly events: (
      consumer: string,
      options?: ConsumerOptions.ConsumerOptions
    ) => Stream.Stream<Acknowledgeable, ConsumerError>
    /**
     * Has everything handled in transactions of the store that move the consumer's position as well: exactly once, for what
     * `handle` writes through the `Database` that it is given. Ends with the first failure.
     */
    readonly inCommit: <E, R>(
      consumer: string,
      handle: (notification: Notification) => Effect.Effect<unknown, E, R>,
      options?: ConsumerOptions.ConsumerOptions
    ) => Effect.Effect<never, ConsumerError | E, Exclude<R, Database>>
    /** Adds addresses to those of the settings, for all blocks that are committed from then on. */
    readonly watch: (
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<void, IndexerSettings.InvalidIndexerSettings | DatabaseError>
    readonly unwatch: (
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<void, IndexerSettings.InvalidIndexerSettings | DatabaseError>
    /** Forgets a consumer, for which nothing is kept any more. */
    readonly forget: (consumer: string) => Effect.Effect<void, DatabaseError>
    readonly status: Effect.Effect<ReadonlyArray<Status>>
  }
>()("@headwater/indexer/embedded/Indexer") {
  /** Follows the chains as long as the layer lives. A SQLite file is locked for this program. */
  static readonly layer = <E = never>(settings: IndexerSettings.IndexerSettings<E>) =>
    Layer.unwrap(
      Effect.map(IndexerSettings.read(settings), (read) =>
        Layer.effect(Indexer, make(read)).pipe(
          Layer.provide(ReaderThreads.layer(read)),
          Layer.merge(BackgroundMigrations.layer),
          Layer.provide(Layer.effectDiscard(StoreLock.acquire(read.location))),
          Layer.provideMerge(Layer.merge(Database.layer(read.location), ChainStatus.layer))
        )
      )
    )
}

const make = Effect.fnUntraced(function* <E>(settings: IndexerSettings.ReadSettings<E>) {
  const database = yield* Database
  const statuses = yield* ChainStatus
  const stored = Effect.provideService(Database, database)
  const addresses = yield* settings.addresses
  const chains = yield* Effect.forEach(settings.chains, (configured) =>
    FollowedChain.make(configured, addresses.get(configured.chain) ?? [], settings)
  )

  /** Changes what is watched between two blocks. */
  const change = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<string>,
    apply: (
      followed: FollowedChain.FollowedChain,
      own: Parameters<FollowedChain.FollowedChain["addresses"]["add"]>[0]
    ) => void
  ) {
    const decoded = yield* Effect.fromResult(
      IndexerSettings.addressesOf(
        chains.map(({ chain }) => chain),
        addresses
      )
    )
    for (const followed of chains) {
      const own = decoded.get(followed.chain) ?? []
      if (own.length === 0) continue
      yield* database.transaction(
        Effect.gen(function* () {
          yield* ChainRow.lock(yield* ChainRow.make(followed.chain))
          apply(followed, own)
        })
      )
    }
  }, stored)

  return Indexer.of({
    events: (consumer, options = {}) =>
      Stream.unwrap(
        Effect.map(ConsumerOptions.read(chains, consumer, options), ({ chains, from }) => {
          const streams = chains.map((one) => ConsumerStream.events(one, consumer, from))
          return streams.length === 1
            ? streams[0]!
            : Stream.mergeAll(streams, { concurrency: "unbounded", bufferSize: 1 })
        })
      ).pipe(Stream.provideService(Database, database)),
    inCommit: (consumer, handle, options = {}) =>
      Effect.flatMap(ConsumerOptions.read(chains, consumer, options), ({ chains, from }) =>
        Effect.forEach(chains, (one) => Effect.scoped(ConsumerStream.inCommit(one, consumer, from, handle)), {
          concurrency: "unbounded"
        })
      ).pipe(Effect.andThen(Effect.never), stored),
    watch: (addresses) => change(addresses, ({ addresses }, own) => addresses.add(own)),
    unwatch: (addresses) => change(addresses, ({ addresses }, own) => addresses.remove(own)),
    forget: (consumer) => stored(Consumers.forget(consumer)),
    status: statuses.all
  })
})
