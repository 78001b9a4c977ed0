/**
 * Statements as a message to another thread carries them: the values of all rows one behind another, and all bytes in one buffer
 * that moves with the message. Every array in a message costs as much as some dozens of values, and small arrays of bytes are
 * views on pools that many share: a message would copy the whole pool of each.
 */
import type { ExecuteMany, Statement } from "./SqliteStatement.ts"

type Values = ReadonlyArray<unknown>

/** A statement whose rows are among the values of the message. */
interface Outline {
  readonly sql: string
  readonly rows: number
  /** Values of each row. */
  readonly width: number
}

type Outlined =
  | (Outline & { readonly isOne: boolean; readonly ifUnchanged?: true })
  | { readonly batch: ReadonlyArray<Outline> }

export interface Packed {
  readonly statements: ReadonlyArray<Outlined>
  /** Of all rows of all statements; anything where bytes stand. */
  readonly values: Array<unknown>
  /** Which of the values are bytes, and where these end in the buffer, one behind another. */
  readonly places: Uint32Array
  readonly ends: Uint32Array
  /** Undefined where there are no bytes. */
  readonly buffer: ArrayBuffer | undefined
}

const rowsOf = (statement: Statement): ReadonlyArray<Values> => {
  if ("batch" in statement) return statement.batch.flatMap(({ rows }) => rows)
  return statement.rows ?? [statement.parameters]
}

const outlineOf = ({ rows, sql }: ExecuteMany): Outline => ({ sql, rows: rows.length, width: rows[0]?.length ?? 0 })

const outlined = (statement: Statement): Outlined => {
  if ("batch" in statement) return { batch: statement.batch.map(outlineOf) }
  if (statement.rows !== undefined) return { ...outlineOf(statement), isOne: false }
  const { ifUnchanged, parameters, sql } = statement
  return { sql, rows: 1, width: parameters.length, isOne: true, ...(ifUnchanged && { ifUnchanged }) }
}

/** The message of statements, each of which has rows of one width. */
export const pack = (statements: ReadonlyArray<Statement>): Packed => {
  const rows = statements.flatMap(rowsOf)
  let size = 0
  let count = 0
  for (const row of rows) {
    for (const value of row) {
      if (!(value instanceof Uint8Array)) continue
      size += value.length
      count++
    }
  }
  const bytes = new Uint8Array(size)
  const places = new Uint32Array(count)
  const ends = new Uint32Array(count)
  const values: Array<unknown> = []
  let end = 0
  let next = 0
  for (const row of rows) {
    for (const value of row) {
      if (value instanceof Uint8Array) {
        places[next] = values.length
        bytes.set(value, end)
        end += value.length
        ends[next++] = end
        values.push(0)
      } else values.push(value)
    }
  }
  return { statements: statements.map(outlined), values, places, ends, buffer: size === 0 ? undefined : bytes.buffer }
}

/** The statements of a message, whose values are used up. */
export const unpack = ({
  buffer = new ArrayBuffer(0),
  ends,
  places,
  statements,
  values
}: Packed): ReadonlyArray<Statement> => {
  for (let next = 0, from = 0; next < places.length; next++) {
    const end = ends[next]!
    values[places[next]!] = new Uint8Array(buffer, from, end - from)
    from = end
  }
  let at = 0
  const rowsOf = ({ rows, width }: Outline) => {
    const found: Array<Values> = []
    for (let row = 0; row < rows; row++) {
      found.push(values.slice(at, at + width))
      at += width
    }
    return found
  }
  const manyOf = (outline: Outline): ExecuteMany => ({ sql: outline.sql, rows: rowsOf(outline) })
  return statements.map((statement): Statement => {
    if ("batch" in statement) return { batch: statement.batch.map(manyOf) }
    if (!statement.isOne) return manyOf(statement)
    const { ifUnchanged, sql } = statement
    return { sql, parameters: rowsOf(statement)[0]!, ...(ifUnchanged && { ifUnchanged }) }
  })
}
