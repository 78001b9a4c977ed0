/** A table on its way from SQLite to PostgreSQL, and its rows as both databases say them. */

/** What a column holds, in the words of the schema. */
export type ColumnType = "bigint" | "text" | "bytea" | "double precision"

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export interface MovedTable {
  readonly name: string
  readonly columns: ReadonlyArray<Column>
  /** The places of the primary key's columns, in its order; empty for a table without one, which is moved as a whole. */
  readonly key: ReadonlyArray<number>
  /** Whether the database gives the ids. */
  readonly isSerial: boolean
}

export type Value = number | string | Uint8Array | null

/** The values of a row, in the order of the table's columns; of a key, in the order of the key's. */
export type Values = ReadonlyArray<Value>

export const keyColumns = ({ columns, key }: MovedTable): ReadonlyArray<Column> => key.map((place) => columns[place]!)

export const keyOf = ({ key }: MovedTable, row: Values): Values => key.map((place) => row[place]!)

const wordOf = (value: Value) => {
  if (value === null) return "-"
  if (typeof value === "number") return `${value}`
  // With its length: a text may have commas.
  return typeof value === "string" ? `${value.length}:${value}` : `x${Buffer.from(value).toString("hex")}`
}

/** A text that is the same for the same values, and for no others of the same columns. */
export const textOf = (values: Values): string => values.map(wordOf).join(",")

const isSame = (one: Values, other: Values): boolean =>
  one.every((value, place) => {
    const counterpart = other[place]!
    return (
      value === counterpart ||
      (value instanceof Uint8Array && counterpart instanceof Uint8Array && Buffer.compare(value, counterpart) === 0)
    )
  })

/** The keys of the rows that are not the same in both. */
export const differing = (
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
export const haveSame = (rows: ReadonlyArray<Values>, others: ReadonlyArray<Values>) =>
  rows.map(textOf).sort().join("\n") === others.map(textOf).sort().join("\n")

/** A value in JSON, as PostgreSQL reads one into a column. */
const jsonOf = (value: Value) => (value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value)

/** Rows in JSON, for `json_to_recordset`. */
export const toJson = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Values>): string =>
  JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map(({ name }, place) => [name, jsonOf(row[place]!)] as const)))
  )

/** A key that `toJson` has written, as a list of one. */
export const fromJson = (columns: ReadonlyArray<Column>, text: string): Values => {
  const [row] = JSON.parse(text) as [Record<string, number | string>]
  return columns.map(({ name, type }) => {
    const value = row[name]!
    return type === "bytea" ? Buffer.from((value as string).slice(2), "hex") : value
  })
}
