/**
 * Moves a SQLite store to PostgreSQL while the daemon goes on with the file, up to a last short stop:
 *
 * 1. `copy` reads every table in the order of its key, and notes in the database how far it is, with the rows. From before its
 *    first row on, triggers note in the file which rows change.
 * 2. `carryOver` brings the rows that were noted since the last time over, all in one transaction: the database is then as the
 *    file was at one moment. The rows are read again, and compared, before the transaction ends.
 * 3. `compare` reads every row of both. What differs was noted as changed since, or is carried over again.
 * 4. `finish`, with the daemon stopped, carries over what is left, compares what can be compared in a moment, marks the file
 *    as moved, and makes the database a store: with the epoch, the ids and the numbers of the file's.
 *
 * A process that is killed at any of this leaves a file that is a store, or a file and a database of which neither is one
 * until the move is ended; the next process goes on.
 */
import { existsSync } from "node:fs"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "./Database.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import * as MoveChanges from "./internal/MoveChanges.ts"
import * as MoveComparison from "./internal/MoveComparison.ts"
import { keyOf, type MovedTable, textOf, type Values } from "./internal/MovedTable.ts"
import * as MovePosition from "./internal/MovePosition.ts"
import * as MoveSource from "./internal/MoveSource.ts"
import * as OpenMove from "./internal/OpenMove.ts"
import { attempt } from "./internal/SqliteFile.ts"
import type { Location } from "./Location.ts"
import { rows } from "./Statements.ts"
import * as StoreLock from "./StoreLock.ts"

export { CannotMove, MovedAlready } from "./internal/OpenMove.ts"

type Advance = (rows: number) => Effect.Effect<void>

/** While rows are compared, so many noted changes are carried over before the next rows. */
const changesBeside = 5_000
/** Tables with no more rows than these are compared once more while the daemon is stopped. */
const smallTable = 10_000

/** Opens both, begins the move or finds where it is. */
export const open = Effect.fn("StoreMove.open")(function* (from: Location, to: Location) {
  const opened = yield* OpenMove.open(from, to)
  const { foreign, isMoved, keyFile, source, state, tables, target } = opened
  const changes = MoveChanges.make(opened)
  const comparePiece = MoveComparison.make(opened, changes)
  const positions = (pass: "copied" | "compared") =>
    new Map(tables.map((table) => [table.name, MovePosition.positionOf(table, state.get(`${pass} ${table.name}`))]))
  const [copied, compared] = [positions("copied"), positions("compared")]
  const setPosition = Effect.fnUntraced(function* (
    pass: "copied" | "compared",
    table: MovedTable,
    position: MovePosition.Position
  ) {
    yield* target.setState(`${pass} ${table.name}`, MovePosition.textOf(table, position))
    ;(pass === "copied" ? copied : compared).set(table.name, position)
  })

  const counted = Effect.forEach(tables, (table) =>
    Effect.map(
      attempt(() => source.count(table)),
      (rows) => ({ rows, table })
    )
  )

  const left = (positions: ReadonlyMap<string, MovePosition.Position>) =>
    Effect.map(counted, (all) =>
      all.reduce((sum, { rows, table: { name } }) => {
        const { done, rows: before } = positions.get(name)!
        return done ? sum : sum + Math.max(0, rows - before)
      }, 0)
    )

  const copy = Effect.fn("StoreMove.copy")(function* (advance: Advance) {
    for (const table of tables) {
      let position = copied.get(table.name)!
      while (!position.done) {
        // Rows that come behind the last piece are noted as changed.
        const { isLast, rows } = yield* attempt(() => source.piece(table, position.after))
        const after = isLast ? undefined : keyOf(table, rows.at(-1)!)
        const end = { after, rows: position.rows + rows.length, done: isLast }
        yield* target.transaction(Effect.andThen(target.insert(table, rows), setPosition("copied", table, end)))
        position = end
        yield* advance(rows.length)
      }
    }
    // Plans that were made for an empty database would be slow ones.
    yield* target.analyze
  })

  let mended = 0
  const compare = Effect.fn("StoreMove.compare")(function* (advance: Advance) {
    for (const table of tables) {
      let position = compared.get(table.name)!
      while (!position.done) {
        if ((yield* changes.left) > changesBeside) yield* changes.carryOver
        const { keys, last, rows } = yield* comparePiece(table, position.after)
        if (keys.length > 0) {
          mended += keys.length
          yield* changes.note(table, keys)
        }
        position = { after: last, rows: position.rows + rows, done: last === undefined }
        yield* setPosition("compared", table, position)
        yield* advance(rows)
      }
    }
    const differed = mended
    mended = 0
    return differed
  })

  /** Compares a table while nobody writes: nothing may differ. */
  const compareStill = Effect.fnUntraced(function* (table: MovedTable) {
    let after: Values | undefined
    let total = 0
    while (true) {
      const { keys, last, rows } = yield* comparePiece(table, after)
      total += rows
      if (keys.length > 0) {
        yield* setPosition("compared", table, MovePosition.beginning)
        return yield* OpenMove.cannot(
          `Rows of ${table.name} differ (${keys.length}), the first with the key ${textOf(keys[0]!)}: run headwater migrate-store ` +
            "again, which compares the table anew"
        )
      }
      if (last === undefined) return total
      after = last
    }
  })

  /** What is left to do while nobody writes to the file. */
  const settle = Effect.fnUntraced(function* (everyRow: boolean) {
    const carried = yield* changes.carry
    let [rows, again] = [0, 0]
    for (const { rows: inFile, table } of yield* counted) {
      rows += inFile
      if (everyRow || inFile <= smallTable) {
        again += yield* compareStill(table)
        continue
      }
      const there = yield* target.count(table)
      if (there !== inFile) {
        yield* setPosition("compared", table, MovePosition.beginning)
        return yield* OpenMove.cannot(
          `${table.name} has ${inFile} rows in the file and ${there} in the database: run headwater migrate-store again, which ` +
            "compares the table anew"
        )
      }
    }
    for (const table of tables)
      if (table.isSerial) yield* target.setLastId(table, yield* attempt(() => source.lastId(table)))
    return { carried, rows, again }
  })

  /**
   * Ends the move; fails with `StoreInUse` as long as a daemon has the file. `everyRow`: compares every row once more, which
   * takes as long as `compare` does.
   */
  const finish = Effect.fn("StoreMove.finish")(function* (everyRow: boolean) {
    yield* StoreLock.acquire(from)
    yield* OpenMove.bringKeys(from, to, yield* attempt(source.secretKeys))
    const unfinished = [...copied.values(), ...compared.values()].some(({ done }) => !done)
    if (unfinished)
      return yield* OpenMove.cannot("Not everything was copied and compared: run headwater migrate-store again")
    const wasMarked = yield* attempt(source.isMoved)
    const settled = yield* MoveSource.during(
      source,
      "immediate",
      Effect.tap(settle(everyRow), () => (wasMarked ? Effect.void : attempt(source.mark)))
    )
    // From here on neither is a store, until the database is one.
    yield* target.open(yield* attempt(source.epoch))
    return { ...settled, tables: tables.length }
  }, Effect.scoped)

  return {
    /** The file with the key of callback secrets, where it was made for the database's daemon. */
    keyFile,
    /** Whether the end of the move was interrupted: the file is no store any more, and the database none yet. */
    isEnding: isMoved,
    /** Tables of the file that are none of Headwater's: they stay behind. */
    foreign,
    /** Rows that are not copied yet, and rows that are not compared yet. */
    left: { copy: Effect.suspend(() => left(copied)), compare: Effect.suspend(() => left(compared)) },
    /** Copies what is not copied yet. */
    copy,
    /** Compares what is not compared yet; how many rows differed without a noted change, which are carried over again. */
    compare,
    /** Carries over the rows that have changed; how many. */
    carryOver: changes.carryOver,
    finish
  }
})

export type StoreMove = Effect.Success<ReturnType<typeof open>>

/** Whether the changes of an open store are noted for a move: a move that was given up has to be cancelled. */
export const isUnderWay = Effect.fn("StoreMove.isUnderWay")(function* (location: Location) {
  if (location.kind === "postgres") return false
  const { read } = yield* Database
  return (yield* read(rows(sql`select 1 from sqlite_master where type = 'table' and name = 'store_move'`))).length > 0
})

/** What a cancelled move was. */
interface Cancelled {
  readonly isBegun: boolean
  /** Whether it had ended: what the database has of later is not in the file. */
  readonly isMoved: boolean
}

/** Takes everything of a move from the file. A file that was moved is a store again, with another epoch. */
export const cancel = Effect.fn("StoreMove.cancel")(function* (
  from: Location
): Effect.fn.Return<Cancelled, OpenMove.CannotMove | DatabaseError> {
  if (from.kind !== "sqlite")
    return yield* OpenMove.cannot("The store is PostgreSQL: a move is cancelled in the SQLite file")
  if (!existsSync(from.file))
    return yield* OpenMove.cannot(`There is no store ${from.file}: nothing is to be cancelled`)
  return yield* MoveSource.cancel(from.file)
})
