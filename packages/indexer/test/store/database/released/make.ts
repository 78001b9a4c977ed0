/**
 * Keeps a store of the present schema as `<release>.sqlite.sql` and `<release>.postgres.sql` beside this file, for the
 * tests that upgrade one. Run once at each release: `node make.ts 0.2`. Text, so that a reader sees what is in a store.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import startPostgres from "../../../../../../test/PostgresServer.ts"
import { fill } from "./fill.ts"

const [release] = process.argv.slice(2) as [string]

const filled = (location: Location) =>
  fill.pipe(
    Effect.provide(
      Layer.mergeAll(
        Accounts.layer,
        Assets.layer,
        Credits.layer,
        Domains.layer,
        RecurringTasks.layer,
        Subscriptions.layer,
        Wallets.layer
      ).pipe(Layer.provideMerge(Database.layer(location)))
    ),
    Effect.scoped,
    Effect.runPromise
  )

const sqliteText = (file: string) => {
  const db = new Sqlite(file, { readonly: true })
  const objects = db
    .prepare(
      "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid"
    )
    .all() as Array<{ readonly type: string; readonly name: string; readonly sql: string }>
  const inserts = (table: string) => {
    const columns = (db.pragma(`table_info("${table}")`) as Array<{ readonly name: string }>).map(({ name }) => name)
    const values = columns.map((column) => `quote("${column}")`).join(" || ', ' || ")
    const rows = db.prepare(`select ${values} from "${table}"`).pluck().all() as Array<string>
    return rows.map((row) => `insert into "${table}" (${columns.join(", ")}) values (${row});`)
  }
  const [tables, indexes] = [
    objects.filter(({ type }) => type === "table"),
    objects.filter(({ type }) => type === "index")
  ]
  const empty = tables.filter(({ name }) => name !== "background_migration" && inserts(name).length === 0)
  if (empty.length > 0) throw new Error(`nothing in ${empty.map(({ name }) => name).join(", ")}`)
  const text = [
    ...tables.flatMap(({ name, sql }) => [`${sql};`, ...inserts(name)]),
    ...indexes.map(({ sql }) => `${sql};`),
    "delete from sqlite_sequence;",
    ...inserts("sqlite_sequence")
  ]
  db.close()
  return text.join("\n")
}

const postgresText = (url: string) => {
  const root = "/usr/lib/postgresql"
  const dump = join(root, readdirSync(root)[0]!, "bin", "pg_dump")
  const args = ["--inserts", "--column-inserts", "--no-owner", "--no-privileges", url]
  return (
    execFileSync(dump, args, { encoding: "utf8" })
      .split("\n")
      // Comments, commands of psql, and settings that another version of PostgreSQL may not know.
      .filter((line) => !/^(--|\\|SET |SELECT pg_catalog\.set_config|$)/.test(line))
      .join("\n")
  )
}

const keep = (kind: Location["kind"], text: string) =>
  writeFileSync(
    fileURLToPath(new URL(`./${release}.${kind}.sql`, import.meta.url)),
    `-- A store of Headwater ${release}, made by make.ts.\n${text}\n`
  )

const folder = mkdtempSync(join(tmpdir(), "headwater-release-"))
const file = join(folder, "store.db")
await filled({ kind: "sqlite", file })
keep("sqlite", sqliteText(file))
rmSync(folder, { recursive: true })

const stop = await startPostgres()
const url = process.env.DATABASE_URL!
await filled({ kind: "postgres", url: Redacted.make(url), connections: 5 })
keep("postgres", postgresText(url))
await stop?.()
