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
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database } from "./Database.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import * as Migrations from "./internal/Migrations.ts"
import {
  fromJson,
  isSame,
  keyColumns,
  keyOf,
  type MovedTable,
  textOf,
  toJson,
  type Values
} from "./internal/MovedTable.ts"
import * as MoveSource from "./internal/MoveSource.ts"
import * as MoveTarget from "./internal/MoveTarget.ts"
import { attempt } from "./internal/SqliteFile.ts"
import type { Location } from "./Location.ts"
import * as SecretKeys from "./SecretKeys.ts"
import { rows } from "./Statements.ts"
import * as StoreLock from "./StoreLock.ts"

/** The store cannot be moved, or not yet. */
export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", { message: Schema.String }) {}

type Advance = (rows: number) => Effect.Effect<void>

/** While rows are compared, so many noted changes are carried over before the next rows. */
const changesBeside = 5_000
/** Rows that the database may have beside those of a piece, until the rest waits for the next comparison. */
const surplus = 20_000
/** Tables with no more rows than these are compared once more while the daemon is stopped. */
const smallTable = 10_000

/** How far one pass over a table is. */
interface Position {
  readonly after: Values | undefined
  readonly rows: number
  readonly done: boolean
}
const beginning: Position = { after: undefined, rows: 0, done: false }

const positionOf = (table: MovedTable, text: string | undefined): Position => {
  if (text === undefined) return beginning
  const { after, done, rows } = JSON.parse(text) as { after: string | null; done: boolean; rows: number }
  return { after: after === null ? undefined : fromJson(keyColumns(table), after), rows, done }
}

const textOfPosition = (table: MovedTable, { after, ...position }: Position) =>
  JSON.stringify({ ...position, after: after === undefined ? null : toJson(keyColumns(table), [after]) })

/** The keys of the rows that are not the same in both. */
const differing = (
  table: MovedTable,
  rows: ReadonlyArray<Values>,
  others: ReadonlyArray<Values>
): ReadonlyArray<Values> => {
  let first = 0
  while (first < rows.length && first < others.length && isSame(rows[first]!, others[first]!)) first++
  if (first === rows.length && first === others.length) return []
  const left = new Map(others.slice(first).map((row) => [textOf(keyOf(table, row)), row]))
  const keys: Array<Values> = []
  for (const row of rows.slice(first)) {
    const key = keyOf(table, row)
    const text = textOf(key)
    const other = left.get(text)
    left.delete(text)
    if (other === undefined || !isSame(row, other)) keys.push(key)
  }
  return [...keys, ...[...left.values()].map((row) => keyOf(table, row))]
}

/** Of a table without a key: whether both have the same rows, each as often. */
const haveSame = (rows: ReadonlyArray<Values>, others: ReadonlyArray<Values>) =>
  rows.map(textOf).sort().join("\n") === others.map(textOf).sort().join("\n")

const cannot = (message: string) => new CannotMove({ message })

/** Sees to it that the daemon will find the keys that callback secrets are encrypted with; the file that was made for that. */
const bringKeys = Effect.fnUntraced(function* (from: Location, to: Location, needed: ReadonlyArray<string>) {
  const keys = yield* SecretKeys.read(to)
  const missing = needed.filter((id) => keys.every((key) => key.id !== id))
  if (missing.length === 0) return undefined
  if (keys.length > 0 || to.secretKeys !== undefined || from.secretKeys !== undefined) {
    return yield* cannot(
      `Callback secrets in the store are encrypted with the key ${missing.join(", ")}, which is in ${SecretKeys.placeOf(from)} ` +
        `and not in ${SecretKeys.placeOf(to)} of the new settings: put it there too`
    )
  }
  yield* SecretKeys.copy(from, to)
  return SecretKeys.fileOf(to)
})

/** Compares what was applied to both with what this program knows. */
const checkSchema = (source: ReadonlyArray<string>, target: ReadonlyArray<string>) => {
  const known = Migrations.known
  if (source.some((name) => !known.includes(name))) {
    return cannot("A newer headwater has changed the store: move it by that version, or by a newer one")
  }
  if (known.some((name) => !source.includes(name))) {
    return cannot("The store is of an older headwater: start the daemon of this version on it once, and move it then")
  }
  if (target.length !== known.length || known.some((name) => !target.includes(name))) {
    return cannot(
      "The move was begun by another version of headwater: end it by headwater migrate-store --cancel, and begin again with an " +
        "empty database"
    )
  }
  return Effect.void
}

const beginAgain = "end that move by headwater migrate-store --cancel, and begin again with an empty database"

/** Opens both, begins the move or finds where it is. */
export const open = Effect.fn("StoreMove.open")(function* (from: Location, to: Location) {
  if (from.kind !== "sqlite") return yield* cannot("The store is PostgreSQL already: a SQLite file is what is moved")
  if (to.kind !== "postgres") return yield* cannot("The new settings must name a database in store.postgres")
  if (!existsSync(from.file)) return yield* cannot(`There is no store ${from.file} yet: nothing is to be moved`)
  const unopened = (name: string) => (error: { readonly message: string }) =>
    cannot(`Cannot open ${name}: ${error.message}`)
  const source = yield* Effect.mapError(MoveSource.open(from.file), unopened(`the SQLite file ${from.file}`))
  const isMoved = yield* attempt(source.isMoved)
  const { isFillable, names, target } = yield* Effect.mapError(
    MoveTarget.open(to),
    unopened("PostgreSQL, which store.postgres of the new settings names")
  )
  if (!isFillable) {
    return yield* cannot(
      isMoved
        ? "The store was moved already: start the daemon with the new settings"
        : "The database is a store of its own, or of a move that has ended: name an empty database"
    )
  }
  const withoutMark = (all: ReadonlyArray<string>, mark: string) => all.filter((name) => name !== mark)
  yield* checkSchema(
    withoutMark(yield* attempt(source.migrations), Migrations.moved),
    withoutMark(names, Migrations.beingFilled)
  )
  if (!(yield* target.claim)) return yield* cannot("Another headwater migrate-store is at work on the database")

  const columns = yield* target.columns
  const tables = source.tables.filter(({ name }) => columns.has(name))
  for (const table of tables) {
    const there = new Set(columns.get(table.name)!.map(({ column }) => column))
    const missing = table.columns.find(({ name }) => !there.has(name))
    if (missing !== undefined) return yield* cannot(`The database has no column ${missing.name} in ${table.name}`)
  }

  const state = yield* target.state
  const token = state.get("token") ?? randomBytes(8).toString("hex")
  const earlier = yield* attempt(source.begun)
  if (!state.has("token")) {
    if (earlier !== undefined) {
      return yield* cannot(
        `The store is being moved to another database, or was: go on with that one. Where it is lost, ${beginAgain}`
      )
    }
    yield* target.transaction(
      Effect.andThen(Effect.forEach(tables, target.empty, { discard: true }), target.setState("token", token))
    )
  }
  if (earlier === undefined && state.has("change")) {
    return yield* cannot("The database holds a part of another store, or of a copy of this one: name an empty database")
  }
  if (earlier !== undefined && earlier.token !== token) {
    return yield* cannot("The database holds a part of another store: name an empty database")
  }
  const keyFile = yield* bringKeys(from, to, yield* attempt(source.secretKeys))
  const begun = earlier ?? (yield* attempt(() => source.begin(token)))
  if (!(yield* attempt(() => source.isNoted(begun)))) {
    return yield* cannot(`The schema of the store was changed since the move began: ${beginAgain}`)
  }
  let change = Number(state.get("change") ?? 0)
  const last = yield* attempt(source.lastChange)
  if (last < change) return yield* cannot(`The store was put back from a copy since the move began: ${beginAgain}`)
  if (!state.has("change")) {
    change = last
    yield* target.setState("change", String(last))
  }
  const positions = (pass: "copied" | "compared") =>
    new Map(tables.map((table) => [table.name, positionOf(table, state.get(`${pass} ${table.name}`))]))
  const [copied, compared] = [positions("copied"), positions("compared")]
  const setPosition = Effect.fnUntraced(function* (pass: "copied" | "compared", table: MovedTable, position: Position) {
    yield* target.setState(`${pass} ${table.name}`, textOfPosition(table, position))
    ;(pass === "copied" ? copied : compared).set(table.name, position)
  })

  /** Runs `self` while the file stays as it is for the reader, or for everybody. */
  const during = <A, E>(kind: "deferred" | "immediate", self: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      attempt(() => source.start(kind)),
      () => self,
      (_, exit) => attempt(() => (Exit.isSuccess(exit) ? source.commit() : source.rollback()))
    )

  const replace = Effect.fnUntraced(function* (table: MovedTable) {
    const { rows } = yield* attempt(() => source.piece(table, undefined))
    yield* target.empty(table)
    yield* target.insert(table, rows)
    return rows
  })

  const notWritten = ({ name }: MovedTable) =>
    cannot(`Rows of ${name} are not in the database as they were written: does another program write there?`)

  /** Within a transaction of the file: the changes up to now. */
  const carry = Effect.gen(function* () {
    const upTo = yield* attempt(source.lastChange)
    if (upTo === change) return 0
    const count = yield* attempt(() => source.gather(begun.width, change, upTo))
    const tableOf = (name: string) => tables.find((table) => table.name === name)
    const carried = function* () {
      for (const { keys, table: name } of source.gathered()) {
        const table = tableOf(name)
        if (table !== undefined) yield { keys, table }
      }
    }
    yield* target.transaction(
      Effect.gen(function* () {
        yield* target.byKeys
        // All of them, before one is written: a name may have gone from one row to another.
        for (const { keys, table } of carried()) if (table.key.length > 0) yield* target.remove(table, keys)
        for (const { keys, table } of carried()) {
          if (table.key.length === 0) {
            if (!haveSame(yield* replace(table), yield* target.all(table))) return yield* notWritten(table)
            continue
          }
          const rows = yield* attempt(() => source.rowsOf(table, keys))
          yield* target.insert(table, rows)
          if (differing(table, rows, yield* target.withKeys(table, keys)).length > 0) return yield* notWritten(table)
        }
        yield* target.setState("change", String(upTo))
      })
    )
    change = upTo
    return count
  })

  /** The keys that differ of the next rows of a table, other than those that were noted as changed. */
  const comparePiece = Effect.fnUntraced(function* (table: MovedTable, after: Values | undefined) {
    const { isLast, rows } = yield* attempt(() => source.piece(table, after))
    if (table.key.length === 0) {
      const same = haveSame(rows, yield* target.all(table))
      const isChanged = (yield* attempt(() => source.changedSince(table, begun.width, change))).size > 0
      return { rows: rows.length, last: undefined, keys: same || isChanged ? [] : [[]] }
    }
    const last = isLast ? undefined : keyOf(table, rows.at(-1)!)
    const others = yield* target.between(table, after, last, rows.length + surplus)
    const keys = differing(table, rows, others)
    if (keys.length === 0) return { rows: rows.length, last, keys }
    const changed = yield* attempt(() => source.changedSince(table, begun.width, change))
    return { rows: rows.length, last, keys: keys.filter((key) => !changed.has(textOf(key))) }
  })

  const carryOver = Effect.gen(function* () {
    const count = yield* during("deferred", carry)
    const before = change
    yield* attempt(() => source.forget(before))
    return count
  })

  const counted = Effect.forEach(tables, (table) =>
    Effect.map(
      attempt(() => source.count(table)),
      (rows) => ({ rows, table })
    )
  )

  const left = (positions: ReadonlyMap<string, Position>) =>
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
        if ((yield* attempt(source.lastChange)) - change > changesBeside) yield* carryOver
        const { keys, last, rows } = yield* comparePiece(table, position.after)
        if (keys.length > 0) {
          mended += keys.length
          yield* attempt(() => source.note(table, begun.width, keys))
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
        yield* setPosition("compared", table, beginning)
        return yield* cannot(
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
    const carried = yield* carry
    let [rows, again] = [0, 0]
    for (const { rows: inFile, table } of yield* counted) {
      rows += inFile
      if (everyRow || inFile <= smallTable) {
        again += yield* compareStill(table)
        continue
      }
      const there = yield* target.count(table)
      if (there !== inFile) {
        yield* setPosition("compared", table, beginning)
        return yield* cannot(
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
    yield* bringKeys(from, to, yield* attempt(source.secretKeys))
    const unfinished = [...copied.values(), ...compared.values()].some(({ done }) => !done)
    if (unfinished) return yield* cannot("Not everything was copied and compared: run headwater migrate-store again")
    const wasMarked = yield* attempt(source.isMoved)
    const settled = yield* during(
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
    /** Tables of the file that are none of Headwater's: they stay behind. */
    foreign: source.tables.filter(({ name }) => !columns.has(name)).map(({ name }) => name),
    /** Rows that are not copied yet, and rows that are not compared yet. */
    left: { copy: Effect.suspend(() => left(copied)), compare: Effect.suspend(() => left(compared)) },
    /** Copies what is not copied yet. */
    copy,
    /** Compares what is not compared yet; how many rows differed without a noted change, which are carried over again. */
    compare,
    /** Carries over the rows that have changed; how many. */
    carryOver,
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
): Effect.fn.Return<Cancelled, CannotMove | DatabaseError> {
  if (from.kind !== "sqlite") return yield* cannot("The store is PostgreSQL: a move is cancelled in the SQLite file")
  if (!existsSync(from.file)) return yield* cannot(`There is no store ${from.file}: nothing is to be cancelled`)
  return yield* MoveSource.cancel(from.file)
})
