/** Statements on many rows at once, as each dialect runs them best. */
import * as Effect from "effect/Effect"
import { type Kysely, type RawBuilder, sql } from "kysely"
import type { Database, DatabaseError } from "./Database.ts"
import type { Row, Tables } from "./Tables.ts"

/** A statement in SQL, for `Database.query` and `Database.read`. */
export const rows =
  <A>(statement: RawBuilder<A>) =>
  (db: Kysely<Tables>) => ({ execute: async (): Promise<ReadonlyArray<A>> => (await statement.execute(db)).rows })

/** What follows `in`: numbers as one parameter, so that the statement's text is the same for any count. */
export const numbers = (dialect: Database["Service"]["dialect"], values: ReadonlyArray<number>): RawBuilder<unknown> =>
  dialect === "sqlite"
    ? sql`(select value from json_each(${JSON.stringify(values)}))`
    : sql`(select unnest(${[...values]}::bigint[]))`

/**
 * Gives each row, found by its id, values of its own. All rows must have the same keys. `same` is SQL that sets what is
 * the same for all, or follows from the row: what does not go with each row costs nothing to send.
 */
export const updateEach = <T extends "callback" | "subscription">(
  { dialect, query, writeEach }: Database["Service"],
  table: T,
  values: ReadonlyArray<{ readonly id: number } & Partial<Row<T>>>,
  same: ReadonlyArray<string> = []
): Effect.Effect<void, DatabaseError> => {
  const [first] = values
  if (first === undefined) return Effect.void
  const columns = Object.keys(first).filter((column) => column !== "id")
  if (dialect === "sqlite") {
    const set = [...columns.map((column) => `"${column}" = ?`), ...same].join(", ")
    return writeEach(
      `update "${table}" set ${set} where id = ?`,
      values.map((row) => [...columns, "id"].map((column) => (row as Record<string, unknown>)[column]))
    )
  }
  const own = columns.map((column) => sql`${sql.ref(column)} = v.${sql.ref(column)}`)
  const set = sql.join([...own, ...same.map((assignment) => sql.raw(assignment))])
  return Effect.asVoid(
    query(
      rows(sql`
        update ${sql.table(table)} set ${set}
        from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(values)}) v
        where ${sql.table(table)}.id = v.id`)
    )
  )
}
