/**
 * The rows of the file that have changed since a move began, as triggers note them. They are carried over in one transaction,
 * which makes of the database what the file was at one moment.
 */
import * as Effect from "effect/Effect"
import { differing, haveSame, type MovedTable, type Values } from "./MovedTable.ts"
import * as MoveSource from "./MoveSource.ts"
import * as OpenMove from "./OpenMove.ts"
import { attempt } from "./SqliteFile.ts"

export const make = ({ begun, source, tables, target, ...opened }: OpenMove.OpenMove) => {
  /** The last change that the database has. */
  let change = opened.change

  const replace = Effect.fnUntraced(function* (table: MovedTable) {
    const { rows } = yield* attempt(() => source.piece(table, undefined))
    yield* target.empty(table)
    yield* target.insert(table, rows)
    return rows
  })

  const notWritten = ({ name }: MovedTable) =>
    OpenMove.cannot(`Rows of ${name} are not in the database as they were written: does another program write there?`)

  /** Within a transaction of the file: the changes up to now. */
  const carry = Effect.gen(function* () {
    const upTo = yield* attempt(source.journal.lastChange)
    if (upTo === change) return 0
    const count = yield* attempt(() => source.journal.gather(begun.width, change, upTo))
    const carried = function* () {
      for (const changed of source.journal.gathered()) if (tables.includes(changed.table)) yield changed
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

  /** Carries over what has changed beside whoever writes to the file; how many rows. */
  const carryOver = Effect.gen(function* () {
    const count = yield* MoveSource.during(source, "deferred", carry)
    const before = change
    // Beside a daemon that writes without a pause a later time forgets these changes: the database has them.
    yield* Effect.catchIf(
      attempt(() => source.journal.forget(before)),
      ({ busy }) => busy,
      () => Effect.void
    )
    return count
  })

  return {
    carry,
    carryOver,
    /** How many changes the database lacks. */
    left: Effect.map(attempt(source.journal.lastChange), (last) => last - change),
    /** The rows of a table that the database lacks a change of, by the texts of their keys. */
    since: (table: MovedTable) => attempt(() => source.journal.changedSince(table, begun.width, change)),
    /** Notes rows as changed that no trigger has noted. */
    note: (table: MovedTable, keys: ReadonlyArray<Values>) =>
      attempt(() => source.journal.note(table, begun.width, keys))
  }
}

export type MoveChanges = ReturnType<typeof make>
