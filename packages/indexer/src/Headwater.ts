/**
 * Headwater inside a program without Effect: promises, async iterators, and tagged errors that are thrown. The pure work,
 * addresses, signing hashes, matching and the verification of callbacks, is in `@headwater/core/Plain`.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { LogLevel } from "effect/LogLevel"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type ConsumerOptions, Indexer, type Notification } from "./embedded/Indexer.ts"
import type { IndexerSettings } from "./embedded/IndexerSettings.ts"
import type { Status } from "./families/node/ChainStatus.ts"
import { Database } from "./store/database/Database.ts"
import * as ProgramTransaction from "./store/database/ProgramTransaction.ts"

export { ChainStopped, ConsumerElsewhere, EventsNotKept, InvalidIndexerSettings } from "./embedded/Indexer.ts"
export type {
  Committed,
  Completed,
  ConsumedBlock,
  ConsumerOptions,
  Event,
  Notification,
  Reorganised
} from "./embedded/Indexer.ts"
export type { IndexerSettings } from "./embedded/IndexerSettings.ts"
export { DatabaseError } from "./store/database/DatabaseError.ts"
export { StoreInUse } from "./store/database/StoreLock.ts"

/** Headwater was closed before this was asked of it. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {
  override get message() {
    return "Headwater was closed"
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the tables are the program's own
type ReadAddresses = (db: ProgramTransaction.ProgramTables<any>) => Promise<ReadonlyArray<string>>

export interface Settings extends Omit<IndexerSettings, "addresses"> {
  /**
   * Addresses, each of every configured chain that has such addresses, or all of all chains. A function reads them off the
   * program's own tables in the store, in a transaction before any block is committed.
   */
  readonly addresses: ReadonlyArray<string> | "all" | ReadAddresses
  /** Messages of this level and above go to standard error; warnings by default. */
  readonly log?: LogLevel
}

/** As in {@link Indexer}, with a promise. */
export type Acknowledgeable = Notification & {
  /**
   * Moves the consumer's position behind this notification: what is not acknowledged is told again after a restart. `close`
   * waits for this; later it is refused.
   */
  readonly acknowledge: () => Promise<void>
}

/** A running indexer. Its promises reject with tagged errors, and its iterators throw them. */
export interface Headwater {
  /**
   * What happens to the addresses, from where the consumer of this name has acknowledged: at least once. Ends with `close`.
   */
  readonly events: (consumer: string, options?: ConsumerOptions) => AsyncIterable<Acknowledgeable>
  /**
   * Has everything handled in transactions of the store that move the consumer's position as well: exactly once, for what
   * `handle` writes through `db`, which is the program's own tables in the store. Resolves with `close`; rejects with what
   * `handle` throws, and nothing of that notification is kept then. What `handle` asks of this object while it runs is of the
   * same transaction.
   */
  readonly inCommit: <Tables>(
    consumer: string,
    handle: (
      notification: Notification & { readonly db: ProgramTransaction.ProgramTables<Tables> }
    ) => Promise<unknown>,
    options?: ConsumerOptions
  ) => Promise<void>
  /** A transaction of the store, for the program's own tables; inside another one, that one. */
  readonly transaction: <Tables, A>(run: (db: ProgramTransaction.ProgramTables<Tables>) => Promise<A>) => Promise<A>
  /** Adds addresses, for all blocks that are committed from then on. */
  readonly watch: (addresses: ReadonlyArray<string>) => Promise<void>
  readonly unwatch: (addresses: ReadonlyArray<string>) => Promise<void>
  /** Forgets a consumer, for which nothing is kept any more. */
  readonly forget: (consumer: string) => Promise<void>
  readonly status: () => Promise<ReadonlyArray<Status>>
  /** Ends the following, the iterators and what `inCommit` does, waits for what else was asked, and closes the store. */
  readonly close: () => Promise<void>
}

/** The promise rejects with what the program has thrown itself. */
const asThrown = (error: unknown) => {
  throw error instanceof ProgramTransaction.Thrown ? error.cause : error
}

/** Starts to follow the chains of the settings. */
const start = async ({ addresses, log = "Warn", ...settings }: Settings): Promise<Headwater> => {
  const logging = Layer.succeedContext(
    Context.make(Logger.LogToStderr, true).pipe(Context.add(References.MinimumLogLevel, log))
  )
  const read =
    typeof addresses === "function"
      ? Effect.flatMap(Database, ({ transaction }) => transaction(ProgramTransaction.join(addresses)))
      : addresses
  const layer = Indexer.layer({ ...settings, addresses: read })
  const runtime = ManagedRuntime.make(layer.pipe(Layer.provideMerge(logging)))
  // What was opened before the failure is closed.
  const context = await runtime.context().catch((error) => runtime.dispose().then(() => asThrown(error)))
  const indexer = Context.get(context, Indexer)
  const closed = Deferred.makeUnsafe<void>()
  const untilClosed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.raceFirst(effect, Effect.andThen(Deferred.await(closed), Effect.void))
  let isClosed = false
  const running = new Set<Promise<unknown>>()
  /** A promise that `close` waits for. */
  const begin = async <A, E>(effect: Effect.Effect<A, E, Database | Indexer>): Promise<A> => {
    if (isClosed) throw new Closed()
    const promise = runtime.runPromise(effect)
    const settled: Promise<unknown> = promise.then(
      () => running.delete(settled),
      () => running.delete(settled)
    )
    running.add(settled)
    return promise.catch(asThrown)
  }
  /** As `begin`; in a transaction of the program, of that transaction: another one would wait for its end. */
  const run = <A, E>(effect: Effect.Effect<A, E, Database>): Promise<A> => {
    const transaction = ProgramTransaction.surrounding()
    return transaction === undefined ? begin(effect) : Effect.runPromiseWith(transaction)(effect).catch(asThrown)
  }

  return {
    events: (consumer, options) =>
      indexer.events(consumer, options).pipe(
        Stream.map(
          ({ acknowledge, ...notification }): Acknowledgeable => ({
            ...notification,
            acknowledge: () => run(acknowledge)
          })
        ),
        Stream.interruptWhen(Deferred.await(closed)),
        Stream.toAsyncIterableWith(context)
      ),
    inCommit: <Tables>(
      consumer: string,
      handle: (
        notification: Notification & { readonly db: ProgramTransaction.ProgramTables<Tables> }
      ) => Promise<unknown>,
      options?: ConsumerOptions
    ) =>
      begin(
        untilClosed(
          indexer.inCommit(
            consumer,
            (notification) => ProgramTransaction.join<Tables, unknown>((db) => handle({ ...notification, db })),
            options
          )
        )
      ),
    transaction: (handle) =>
      run(Effect.flatMap(Database, ({ transaction }) => transaction(ProgramTransaction.join(handle)))),
    watch: (addresses) => run(indexer.watch(addresses)),
    unwatch: (addresses) => run(indexer.unwatch(addresses)),
    forget: (consumer) => run(indexer.forget(consumer)),
    status: () => run(indexer.status),
    close: async () => {
      isClosed = true
      Deferred.doneUnsafe(closed, Effect.void)
      await Promise.all(running)
      await runtime.dispose()
    }
  }
}

/**
 * Starts Headwater in this process.
 *
 * @example
 * ```ts
 * import { Headwater } from "@headwater/indexer/Headwater"
 *
 * export const listen = async () => {
 *   const headwater = await Headwater.start({
 *     chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:8545"], start: 0 } },
 *     store: { sqlite: "deposits.db" },
 *     addresses: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
 *   })
 *   for await (const { acknowledge, events, undone } of headwater.events("deposits")) {
 *     console.log({ credited: events.length, takenBack: undone.events.length })
 *     await acknowledge()
 *   }
 * }
 * ```
 */
export const Headwater = { start }
