/** The store in PostgreSQL, which several processes share: rows are locked, and many rows go in one statement. */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import type { Adapter, ParameterTypes } from "./Adapter.ts"
import { type Connection, rows } from "./Connection.ts"

/** Bind parameters of one statement are counted in 16 bits. */
const maxParameters = 65_535

/** Rows of parameters as a table: one array a column. */
const unnested = (types: ParameterTypes, parameters: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
  const arrays = Object.entries(types).map(([name, type]) => {
    const values = parameters.map((row) => row[name])
    const bound = type === "bytea" ? values.map((value) => Buffer.from(value as Uint8Array)) : values
    return sql`${bound}::${sql.raw(type)}[]`
  })
  return sql`unnest(${sql.join(arrays)}) as parameter(${sql.join(Object.keys(types).map((name) => sql.ref(name)))})`
}

const forUpdate = sql.raw("for update")

const list =
  (type: string) =>
  (values: ReadonlyArray<number | string>): RawBuilder<unknown> =>
    sql`(select unnest(${[...values]}::${sql.raw(type)}[]))`

export const make = ({ query }: Connection): Adapter => ({
  exclusive: false,
  defer: (build) => Effect.asVoid(query(build)),
  insertMany: (table, rows, conflict = "") => {
    const size = Math.floor(maxParameters / Object.keys(rows[0] ?? { none: 0 }).length)
    const chunks = Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
    return Effect.forEach(
      chunks,
      (chunk) =>
        query((db) =>
          db
            .insertInto(table)
            .values(chunk as never)
            .modifyEnd(sql.raw(conflict))
        ),
      { discard: true }
    )
  },
  updateEach: (table, values, same = [], condition = "true") => {
    const [first] = values
    if (first === undefined) return Effect.void
    const columns = Object.keys(first).filter((column) => column !== "id")
    const own = columns.map((column) => sql`${sql.ref(column)} = v.${sql.ref(column)}`)
    const set = sql.join([...own, ...same.map((assignment) => sql.raw(assignment))])
    return Effect.asVoid(
      query(
        rows(sql`
          update ${sql.table(table)} set ${set}
          from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(values)}) v
          where ${sql.table(table)}.id = v.id and ${sql.raw(condition)}`)
      )
    )
  },
  selectEach: <A>(
    types: ParameterTypes,
    parameters: ReadonlyArray<Readonly<Record<string, unknown>>>,
    select: string
  ) => {
    if (parameters.length === 0) return Effect.succeed([])
    const lateral = sql.raw(select.replace(/:(\w+)/g, 'parameter."$1"'))
    return query(rows(sql<A>`select found.* from ${unnested(types, parameters)} cross join lateral (${lateral}) found`))
  },
  takeEach: (table, types, keys, returning) => {
    if (keys.length === 0) return Effect.succeed([])
    const of = (column: string) => sql.ref(`${table}.${column}`)
    const where = Object.keys(types).map((column) => sql`${of(column)} = ${sql.ref(`parameter.${column}`)}`)
    return query(
      rows(sql<never>`
        delete from ${sql.table(table)} using ${unnested(types, keys)}
        where ${sql.join(where, sql` and `)} returning ${sql.join(returning.map(of))}`)
    )
  },
  batch: () => Effect.succeed([]),
  lockRows: (select) => Effect.asVoid(query((db) => select(db).modifyEnd(forUpdate))),
  forUpdate,
  forUpdateSkipLocked: sql.raw("for update skip locked"),
  numbers: list("bigint"),
  texts: list("text")
})
