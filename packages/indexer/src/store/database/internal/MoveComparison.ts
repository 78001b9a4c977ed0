/** Rows of the file beside those of the database, a piece of a table at a time. */
import * as Effect from "effect/Effect"
import type { MoveChanges } from "./MoveChanges.ts"
import { differing, haveSame, keyOf, type MovedTable, textOf, type Values } from "./MovedTable.ts"
import type { OpenMove } from "./OpenMove.ts"
import { attempt } from "./SqliteFile.ts"

/** Rows that the database may have beside those of a piece, until the rest waits for the next comparison. */
const surplus = 20_000

/** Compares the next rows of a table: which keys differ, other than those that were noted as changed. */
export const make = ({ source, target }: OpenMove, changes: MoveChanges) =>
  Effect.fnUntraced(function* (table: MovedTable, after: Values | undefined) {
    const { isLast, rows } = yield* attempt(() => source.piece(table, after))
    if (table.key.length === 0) {
      const same = haveSame(rows, yield* target.all(table))
      const isChanged = (yield* changes.since(table)).size > 0
      return { rows: rows.length, last: undefined, keys: same || isChanged ? [] : [[]] }
    }
    const last = isLast ? undefined : keyOf(table, rows.at(-1)!)
    const others = yield* target.between(table, after, last, rows.length + surplus)
    const keys = differing(table, rows, others)
    if (keys.length === 0) return { rows: rows.length, last, keys }
    const changed = yield* changes.since(table)
    return { rows: rows.length, last, keys: keys.filter((key) => !changed.has(textOf(key))) }
  })
