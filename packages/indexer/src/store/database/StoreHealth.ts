/** The state of a store, for its operator. */
import { stat, statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "./ChainRow.ts"
import { Database, DatabaseError } from "./Database.ts"
import { completeEncodings } from "./internal/PostgresAdapter.ts"
import type { Location } from "./Location.ts"
import * as StoreFile from "./StoreFile.ts"
import { rows } from "./Statements.ts"

export interface StoreHealth {
  /** Chains of which at least one block was committed. */
  readonly chains: number
  /** Of a store on a server. */
  readonly server:
    | {
        readonly version: string
        /** How far its clock is ahead of this machine's, in seconds. */
        readonly clockAhead: number
        /** The encoding of its database, where that lacks characters that text from chains has. */
        readonly incompleteEncoding: string | undefined
        readonly role: Role
      }
    | undefined
  /** Of a store in a file. */
  readonly file:
    | {
        readonly name: string
        /** Permission bits. */
        readonly mode: number
        readonly folder: string
        /** Bytes that this user may still write in the folder. */
        readonly free: number
        /** What is damaged, in SQLite's words; empty where nothing is, undefined where the file is too large to read through. */
        readonly damage: ReadonlyArray<string> | undefined
      }
    | undefined
}

/** What the role may do that the store's URL names. */
export interface Role {
  readonly name: string
  readonly superuser: boolean
  /** Whether the server takes no writes: a standby, or one whose transactions only read. */
  readonly readOnly: boolean
  /** Whether it may change the schema, as an upgrade does: make tables, and alter every table that is there. */
  readonly altersSchema: boolean
  /** Tables that it may not read, or not write. */
  readonly refused: ReadonlyArray<string>
}

/** Reads a few rows, as a request would, and writes what changes nothing; fails where the store does not do either. */
export const works = Effect.flatMap(Database, ({ proveWrite }) => Effect.andThen(ChainRow.all, proveWrite))

const sizeOf = (file: string) =>
  Effect.promise(() =>
    stat(file).then(
      ({ size }) => size,
      () => 0
    )
  )

const role = Effect.gen(function* () {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<{
      name: string
      superuser: boolean
      standby: boolean
      read_only: string
      creates: boolean | null
      refused: ReadonlyArray<string>
      foreign: number
    }>`
      with own as (
        select c.relname::text as name,
          pg_has_role(c.relowner, 'USAGE') as owned,
          has_table_privilege(c.oid, 'SELECT') and has_table_privilege(c.oid, 'INSERT')
            and has_table_privilege(c.oid, 'UPDATE') and has_table_privilege(c.oid, 'DELETE') as writable
        from pg_class c
        where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text = quote_ident(current_schema())
          -- Other partitions are reached through their tables alone.
          and (not c.relispartition or c.relname in ('callback', 'packed_internal_default'))
        union all
        select c.relname::text, pg_has_role(c.relowner, 'USAGE'), has_sequence_privilege(c.oid, 'USAGE')
        from pg_class c
        where c.relkind = 'S' and c.relname = 'callback_number'
          and c.relnamespace::regnamespace::text = quote_ident(current_schema())
      )
      select current_user::text as name,
        (select rolsuper from pg_roles where rolname = current_user) as superuser,
        pg_is_in_recovery() as standby,
        current_setting('default_transaction_read_only') as read_only,
        has_schema_privilege(current_schema(), 'CREATE') as creates,
        (select coalesce(json_agg(name order by name), '[]'::json) from own where not writable) as refused,
        (select count(*) from own where not owned) as foreign`)
  )
  const { creates, foreign, name, read_only, refused, standby, superuser } = row!
  return {
    ...{ name, superuser, refused },
    readOnly: standby || read_only === "on",
    altersSchema: creates === true && foreign === 0
  } satisfies Role
})

const server = Effect.gen(function* () {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectNoFrom(({ fn }) => [
      fn<string>("version", []).as("version"),
      fn<Date>("now", []).as("now"),
      sql<string>`getdatabaseencoding()::text`.as("encoding")
    ])
  )
  const { encoding } = row!
  const clockAhead = Math.round((row!.now.getTime() - (yield* Clock.currentTimeMillis)) / 1000)
  return {
    version: row!.version.split(" on ")[0]!,
    clockAhead,
    incompleteEncoding: completeEncodings.includes(encoding) ? undefined : encoding,
    role: yield* role
  }
})

/** Larger files are not read through, which would take minutes. */
const readThroughBytes = 8 * 2 ** 30
/** Places of damage that are named. */
const namedPlaces = 5

const damageOf = Effect.fnUntraced(function* (name: string) {
  if ((yield* sizeOf(name)) > readThroughBytes) return undefined
  const { read } = yield* Database
  const found = yield* read(rows(sql<{ quick_check: string }>`pragma quick_check(${sql.raw(String(namedPlaces))})`))
  return found.map(({ quick_check }) => quick_check).filter((text) => text !== "ok")
})

const file = (name: string) =>
  Effect.tryPromise({
    try: async () => {
      const folder = dirname(resolve(StoreFile.itself(name)))
      const { bavail, bsize } = await statfs(folder)
      const { mode } = await stat(name)
      return { name, mode: mode & 0o777, folder, free: bavail * bsize }
    },
    catch: (cause) => new DatabaseError({ cause })
  })

/** What there is to say of an open store. */
export const inspect = Effect.fn("StoreHealth.inspect")(function* (location: Location) {
  const chains = yield* ChainRow.all
  return {
    chains: chains.filter(({ height }) => height !== null).length,
    server: location.kind === "postgres" ? yield* server : undefined,
    file:
      location.kind === "sqlite"
        ? { ...(yield* file(location.file)), damage: yield* damageOf(location.file) }
        : undefined
  } satisfies StoreHealth
})

/** Bytes on disk: of the SQLite file with the log beside it, or of the PostgreSQL database. */
export const size = Effect.fn("StoreHealth.size")(function* (location: Location) {
  if (location.kind === "sqlite")
    return (yield* sizeOf(location.file)) + (yield* sizeOf(StoreFile.logOf(location.file)))
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectNoFrom(({ fn }) => fn<number>("pg_database_size", [fn("current_database", [])]).as("bytes"))
  )
  return row!.bytes
})
