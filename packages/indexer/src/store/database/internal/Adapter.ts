/** What the two databases do each in its own way. Everything else is blind to which one runs. */
import type * as Effect from "effect/Effect"
import type { CompiledQuery, Insertable, Kysely, RawBuilder } from "kysely"
import type { DatabaseError } from "../DatabaseError.ts"
import type { Row, Tables } from "../Tables.ts"

export type BuildDeferred = (db: Kysely<Tables>) => { execute(): Promise<unknown>; compile(): CompiledQuery }

/** The type of a parameter that stands for a column. */
type ParameterType = "bigint" | "bytea" | "text"
export type ParameterTypes = Readonly<Record<string, ParameterType>>

export interface Adapter {
  /** Whether one process alone has the store, so that nobody else's leases or changes can be in it. */
  readonly exclusive: boolean
  /** Whether callbacks that ended long ago are in partitions, beside the table of callbacks ({@link Tables}). */
  readonly partitioned: boolean
  /**
   * As `query`, for a statement whose answer nobody needs. In a transaction the statement goes to the store with the next
   * one whose answer somebody needs, or with the commit: that is where its failure shows.
   */
  readonly defer: (build: BuildDeferred) => Effect.Effect<void, DatabaseError>
  /**
   * Inserts rows in bulk, as `defer` does. All rows must have the same keys; `conflict` is an `on conflict …` clause.
   */
  readonly insertMany: <T extends keyof Tables & string>(
    table: T,
    rows: ReadonlyArray<Insertable<Tables[T]>>,
    conflict?: string
  ) => Effect.Effect<void, DatabaseError>
  /**
   * Gives each row, found by its id, values of its own, as `defer` does. All rows must have the same keys. `same` is
   * SQL that sets what is the same for all, or follows from the row: what does not go with each row costs nothing to
   * send. `condition` is SQL too: a row for which it does not hold stays as it is.
   */
  readonly updateEach: <T extends "callback" | "subscription">(
    table: T,
    values: ReadonlyArray<{ readonly id: number } & Partial<Row<T>>>,
    same?: ReadonlyArray<string>,
    condition?: string
  ) => Effect.Effect<void, DatabaseError>
  /**
   * Runs a select, which names its parameters `:name`, for each row of them: what all of them found together. Some rows at a
   * time, as inserts, updates and `takeEach` do: where they must happen together or be of one moment, in a transaction.
   */
  readonly selectEach: <A>(
    types: ParameterTypes,
    parameters: ReadonlyArray<Readonly<Record<string, unknown>>>,
    select: string
  ) => Effect.Effect<ReadonlyArray<A>, DatabaseError>
  /** Deletes the rows that have one of the keys, and gives what was deleted; a key that no row has is passed over. */
  readonly takeEach: <T extends keyof Tables & string, C extends keyof Row<T> & string>(
    table: T,
    types: ParameterTypes,
    keys: ReadonlyArray<Readonly<Record<string, unknown>>>,
    returning: ReadonlyArray<C>
  ) => Effect.Effect<ReadonlyArray<Pick<Row<T>, C>>, DatabaseError>
  /** As `takeEach`, where nobody needs to know what was deleted: as `defer` does. */
  readonly deleteEach: (
    table: keyof Tables & string,
    types: ParameterTypes,
    keys: ReadonlyArray<Readonly<Record<string, unknown>>>
  ) => Effect.Effect<void, DatabaseError>
  /**
   * Runs statements, each for its rows of parameters, in a transaction of their own and in one message to the store;
   * what each row gave. The answer is empty, with nothing done, where a row gives nothing, and always where the store
   * cannot do it in one message.
   */
  readonly batch: (
    statements: ReadonlyArray<{ readonly sql: string; readonly rows: ReadonlyArray<ReadonlyArray<unknown>> }>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, DatabaseError>
  /** Writes something that changes nothing, as proof that the store can be written; takes no room with the time. */
  readonly proveWrite: Effect.Effect<void, DatabaseError>
  /** Empties the log of a SQLite file into the file, as far as readers let it: what was overwritten is in neither then. */
  readonly emptyLog: Effect.Effect<void, DatabaseError>
  /** Locks the rows of a select until the transaction ends; asks nothing of a store with one writer at a time. */
  readonly lockRows: (
    select: (db: Kysely<Tables>) => { modifyEnd(modifier: RawBuilder<unknown>): { execute(): Promise<unknown> } }
  ) => Effect.Effect<void, DatabaseError>
  /**
   * Ends the sessions of other processes that have asked nothing for so many milliseconds in the midst of a transaction, and
   * whose locks somebody waits for; how many. What such a transaction has changed is undone.
   */
  readonly endSilentHolders: (silentMillis: number) => Effect.Effect<number, DatabaseError>
  /** The time by the clock of the store's machine, in milliseconds since the Unix epoch: one for all daemons. */
  readonly now: RawBuilder<number>
  /**
   * A text that differs between a store and one that was made from its dump, or from its standby; empty where they cannot be
   * told apart.
   */
  readonly identity: RawBuilder<string>
  /** What `identity` may have been before, of the same store with all that was ever in it. */
  readonly formerIdentities: ReadonlyArray<RawBuilder<string>>
  /** The end of a select whose rows stay as they are until the transaction ends, passing over what others have locked. */
  readonly forUpdate: RawBuilder<unknown>
  readonly forUpdateSkipLocked: RawBuilder<unknown>
  /** What follows `in`: values as one parameter, so that the statement's text is the same for any count. */
  readonly numbers: (values: ReadonlyArray<number>) => RawBuilder<unknown>
  readonly texts: (values: ReadonlyArray<string>) => RawBuilder<unknown>
}
