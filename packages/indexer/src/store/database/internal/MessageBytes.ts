/**
 * The bytes of a message to another thread, in one buffer that moves with the message. Small arrays of bytes are views
 * on pools that many share, and a message would copy the whole pool of each.
 */
import type { ExecuteMany, Statement } from "./SqliteExecution.ts"

type Values = ReadonlyArray<unknown>

const rowsOf = (statement: Statement): ReadonlyArray<Values> => {
  if ("batch" in statement) return statement.batch.flatMap(({ rows }) => rows)
  return statement.rows ?? [statement.parameters]
}

/** The statements with their bytes in `buffer` alone, which is undefined where the statements have no bytes. */
export const gather = (
  statements: ReadonlyArray<Statement>
): { readonly statements: ReadonlyArray<Statement>; readonly buffer: ArrayBuffer | undefined } => {
  let size = 0
  for (const statement of statements) {
    for (const row of rowsOf(statement)) for (const value of row) if (value instanceof Uint8Array) size += value.length
  }
  if (size === 0) return { statements, buffer: undefined }
  const bytes = new Uint8Array(size)
  let end = 0
  const moved = (values: Values): Values =>
    values.map((value) => {
      if (!(value instanceof Uint8Array)) return value
      bytes.set(value, end)
      end += value.length
      return bytes.subarray(end - value.length, end)
    })
  const movedRows = ({ rows, sql }: ExecuteMany): ExecuteMany => ({ sql, rows: rows.map(moved) })
  return {
    statements: statements.map((statement) => {
      if ("batch" in statement) return { batch: statement.batch.map(movedRows) }
      return statement.rows === undefined
        ? { sql: statement.sql, parameters: moved(statement.parameters) }
        : movedRows(statement)
    }),
    buffer: bytes.buffer
  }
}
