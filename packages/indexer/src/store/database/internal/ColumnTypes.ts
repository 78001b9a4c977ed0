/** What the two databases spell differently in the statements of a migration. */
export interface ColumnTypes {
  readonly blob: "blob" | "bytea"
  /** A primary key that counts up and is never given twice. */
  readonly serial: string
  /** Clause for tables that live in their primary key's tree. */
  readonly clustered: "without rowid" | ""
  /** Whether callbacks that ended long ago are in partitions of a table of their own. */
  readonly partitioned: boolean
  /** Statements before the first migration of an empty store. */
  readonly first: ReadonlyArray<string>
}
