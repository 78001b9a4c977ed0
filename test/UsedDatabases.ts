/**
 * Databases that a test has used and another one may use after it, emptied: PostgreSQL copies 12 MB for each new one, and
 * writes all that it has in memory to the disk where one is dropped. A database whose tables a test has changed is dropped.
 */
import { isDeepStrictEqual } from "node:util"
import * as Effect from "effect/Effect"
import pg from "pg"

/** What a new database has: its tables, indexes and columns, and the rows of migrations. */
interface Pristine {
  readonly schema: string
  readonly rows: ReadonlyArray<readonly [table: string, rows: unknown]>
}

let pristine: Pristine | undefined
const free: Array<string> = []

const within = async <A>(name: string, run: (client: pg.Client) => Promise<A>) => {
  const url = new URL(process.env.DATABASE_URL!)
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  return run(client).finally(() => client.end())
}

/** By the numbers of what a schema is made of, which are the same in each copy: texts of it would take PostgreSQL longer. */
const schemaOf = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query(`
    select md5(string_agg(line, ';' order by line)) as schema from (
      select concat_ws(' ', oid, relname, relkind, relnatts) as line
      from pg_class where relnamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', attrelid, attnum, attname, atttypid, attnotnull, attisdropped)
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', 'default', oid) from pg_attrdef
      union all
      select concat_ws(' ', 'constraint', oid) from pg_constraint where connamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', oid, proname, prosrc) from pg_proc where pronamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', 'trigger', oid) from pg_trigger
    ) lines`)
  return rows[0].schema
}

/** The tables that have a file with something in it: all that have rows. */
const filled = async (client: pg.Client): Promise<ReadonlyArray<string>> => {
  const { rows } = await client.query(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 order by relname`)
  return rows.map(({ name }) => name)
}

const rowsOf = async (client: pg.Client, table: string): Promise<unknown> => {
  const { rows } = await client.query(`select json_agg(t) as all from ${table} t`)
  return rows[0].all
}

const look = async (client: pg.Client): Promise<Pristine> => {
  const rows: Array<readonly [string, unknown]> = []
  for (const table of await filled(client)) {
    const list = await rowsOf(client, table)
    if (list !== null) rows.push([table, list])
  }
  return { schema: await schemaOf(client), rows }
}

/** Makes a database as it was when it was new; whether it is. */
const empty = async (client: pg.Client, { rows, schema }: Pristine): Promise<boolean> => {
  await client.query(`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
  if ((await schemaOf(client)) !== schema) return false
  // To write again what every store has would take longer than the rest.
  const kept = new Set<string>()
  for (const [table, list] of rows) if (isDeepStrictEqual(await rowsOf(client, table), list)) kept.add(table)
  const changed = (await filled(client)).filter((table) => !kept.has(table))
  if (changed.length > 0) await client.query(`truncate ${changed.join(", ")} restart identity cascade`)
  const { rows: sequences } = await client.query(
    "select sequencename from pg_sequences where schemaname = 'public' and last_value is not null"
  )
  for (const { sequencename } of sequences) await client.query(`alter sequence ${sequencename} restart`)
  for (const [table, list] of rows) {
    if (kept.has(table)) continue
    await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(list)
    ])
  }
  return true
}

/** A database that nothing uses, else one that \`create\` makes. */
export const take = (create: Effect.Effect<string>): Effect.Effect<string> =>
  Effect.suspend(() => {
    const used = free.pop()
    if (used !== undefined) return Effect.succeed(used)
    return Effect.tap(create, (name) =>
      Effect.promise(async () => {
        pristine ??= await within(name, look)
      })
    )
  })

/** Keeps a database for others, or has it dropped. */
export const giveBack = (name: string, drop: (name: string) => Effect.Effect<void>): Effect.Effect<void> =>
  Effect.promise(() => within(name, (client) => empty(client, pristine!)).catch(() => false)).pipe(
    Effect.flatMap((isEmpty) => (isEmpty ? Effect.sync(() => void free.push(name)) : drop(name)))
  )
