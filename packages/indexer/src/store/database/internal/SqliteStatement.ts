/** Statements in the forms in which the thread that writes a SQLite file is sent them. */

/** One statement, run once for each row of parameters. */
export interface ExecuteMany {
  readonly sql: string
  readonly rows: ReadonlyArray<ReadonlyArray<unknown>>
}

export type Statement =
  | {
      readonly sql: string
      readonly parameters: ReadonlyArray<unknown>
      readonly rows?: undefined
      /** Of a statement that begins a transaction: it fails where another connection has changed the file since the last one. */
      readonly ifUnchanged?: true
    }
  | ExecuteMany
  | { readonly batch: ReadonlyArray<ExecuteMany> }
