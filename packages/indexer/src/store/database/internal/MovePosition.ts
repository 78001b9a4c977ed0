/** How far a move is with a table, as the database keeps that. */
import { fromJson, keyColumns, type MovedTable, toJson, type Values } from "./MovedTable.ts"

/** How far one pass over a table is. */
export interface Position {
  readonly after: Values | undefined
  readonly rows: number
  readonly done: boolean
}
export const beginning: Position = { after: undefined, rows: 0, done: false }

/** The position that a text says; the beginning where there is none. */
export const positionOf = (table: MovedTable, text: string | undefined): Position => {
  if (text === undefined) return beginning
  const { after, done, rows } = JSON.parse(text) as { after: string | null; done: boolean; rows: number }
  return { after: after === null ? undefined : fromJson(keyColumns(table), after), rows, done }
}

/** A position as a text, for `positionOf`. */
export const textOf = (table: MovedTable, { after, ...position }: Position) =>
  JSON.stringify({ ...position, after: after === undefined ? null : toJson(keyColumns(table), [after]) })
