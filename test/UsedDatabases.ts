/**
 * Databases that a test has used and another one may use after it, emptied: PostgreSQL copies 12 MB for each new one, and
 * writes all that it has in memory to the disk where one is dropped. A database whose tables a test has changed is dropped.
 */
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

const schemaOf = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query(`
    select md5(coalesce(string_agg(line, ';' order by line), '')) as schema from (
      select concat_ws(' ', relname, relkind, attname, atttypid, attnotnull, attnum,
        pg_get_expr(adbin, adrelid), pg_get_indexdef(indexrelid)) as line
      from pg_class
        join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
        left join pg_index on indexrelid = pg_class.oid
      where relnamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', proname, prosrc) from pg_proc where pronamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', tgname, tgrelid::regclass) from pg_trigger
    ) lines`)
  return rows[0].schema
}

/** The tables that have rows. */
const filled = async (client: pg.Client): Promise<ReadonlyArray<string>> => {
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by tablename")
  const some = rows.map(({ tablename }) => `select '${tablename}' as name where exists (select 1 from ${tablename})`)
  return (await client.query(some.join(" union all "))).rows.map(({ name }) => name)
}

const look = async (client: pg.Client): Promise<Pristine> => {
  const rows: Array<readonly [string, unknown]> = []
  for (const table of await filled(client)) {
    const { rows: found } = await client.query(`select json_agg(t) as all from ${table} t`)
    rows.push([table, found[0].all])
  }
  return { schema: await schemaOf(client), rows }
}

/** Makes a database as it was when it was new; whether it is. */
const empty = async (client: pg.Client, { rows, schema }: Pristine): Promise<boolean> => {
  await client.query(`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
  if ((await schemaOf(client)) !== schema) return false
  await client.query(`truncate ${(await filled(client)).join(", ")} restart identity cascade`)
  const { rows: sequences } = await client.query(
    "select sequencename from pg_sequences where schemaname = 'public' and last_value is not null"
  )
  for (const { sequencename } of sequences) await client.query(`alter sequence ${sequencename} restart`)
  for (const [table, list] of rows) {
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
