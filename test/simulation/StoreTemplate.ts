/** The store with which every story begins, on either database: made once, and copied for each story. */
import { randomUUID } from "node:crypto"
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Chance } from "./Chance.ts"
import * as PostgresSessions from "./PostgresSessions.ts"
import * as SimulatedMachine from "./SimulatedMachine.ts"
import * as SimulatedPostgres from "./SimulatedPostgres.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"

export interface StoreTemplate {
  readonly name: "sqlite" | "postgres"
  /** Whether there is a store of release 0.1 as well. */
  readonly hasReleased: boolean
  /**
   * A store of a story's own, with what the template has; `released`: as release 0.1 would have it. There is one at a
   * time.
   */
  readonly copy: (time: SimulatedTime, chance: Chance, released?: boolean) => SimulatedStore
  /** Makes a store, which nothing uses any more, the template of all later ones. */
  readonly keep: (store: SimulatedStore) => void
  readonly remove: () => Promise<void>
}

/** Gives an empty store its schema. */
const migrate = (location: Location) => Effect.runPromise(Effect.scoped(Layer.build(Database.layer(location))))

/** A file with all that was written: its thread was ended, and has left the log. */
const checkpoint = (file: string) => {
  const db = new BetterSqlite(file)
  db.pragma("wal_checkpoint(truncate)")
  db.close()
}

const releasedSchema = fileURLToPath(
  new URL("../../packages/indexer/test/store/database/released/0.1.sqlite.sql", import.meta.url)
)

/** The tables of accounts, their credits and their domains, which release 0.1 had as well, with fewer columns. */
const kept = ["account", "api_key", "credit_balance", "credit_entry", "domain"]

/** Makes a store of release 0.1 that has the accounts of another store. */
const makeReleased = (file: string, accountsOf: string) => {
  rmSync(file, { force: true })
  const db = new BetterSqlite(file)
  const columnsOf = (schema: string, table: string) =>
    (db.pragma(`${schema}.table_info(${table})`) as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
  db.pragma("foreign_keys = off")
  db.exec(readFileSync(releasedSchema, "utf8"))
  const tables = db.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all()
  for (const { name } of tables as ReadonlyArray<{ readonly name: string }>) {
    if (!name.startsWith("kysely_")) db.exec(`delete from ${name}`)
  }
  db.exec("delete from sqlite_sequence")
  // The simulated clock is behind that of the release.
  db.exec("update kysely_migration set timestamp = '2020-01-01T00:00:00.' || substr(name, 2, 3) || 'Z'")
  db.prepare("attach ? as present").run(accountsOf)
  for (const table of kept) {
    const present = columnsOf("present", table)
    const shared = columnsOf("main", table).filter((column) => present.includes(column))
    db.exec(`insert into main.${table} (${shared}) select ${shared} from present.${table}`)
  }
  db.pragma("journal_mode = wal")
  db.close()
}

/** In a file. */
export const sqlite = async (): Promise<StoreTemplate> => {
  const folder = mkdtempSync("/dev/shm/headwater-opening-")
  const [file, released] = [join(folder, "opening.db"), join(folder, "released.db")]
  await migrate({ kind: "sqlite", file })
  checkpoint(file)
  return {
    name: "sqlite",
    hasReleased: true,
    copy: (time, chance, isReleased = false) => SimulatedMachine.make(isReleased ? released : file, time, chance),
    keep: (store) => {
      const { sqlite: own } = store.settings()!
      checkpoint(own!)
      copyFileSync(own!, file)
      makeReleased(released, file)
    },
    remove: async () => rmSync(folder, { recursive: true, force: true })
  }
}

/** In databases of the PostgreSQL server with this URL. */
export const postgres = async (server: string): Promise<StoreTemplate> => {
  const sessions = PostgresSessions.make(server)
  const template = `simulation_${randomUUID().replaceAll("-", "")}`
  sessions.administer(`create database ${template}`)
  const url = new URL(server)
  url.pathname = `/${template}`
  await migrate({ kind: "postgres", url: Redacted.make(url.href), connections: 1 })
  // Statistics change plans, and the order of what nobody has ordered.
  const tables = sessions.rows(
    template,
    "select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
  )
  for (const { relname } of tables as ReadonlyArray<{ readonly relname: string }>) {
    sessions.rows(template, `alter table ${relname} set (autovacuum_enabled = false)`)
  }
  sessions.close(template)
  return {
    name: "postgres",
    hasReleased: false,
    copy: (time, chance) => SimulatedPostgres.make(template, sessions, server, time, chance),
    keep: (store) => {
      const kept = new URL(String(store.settings()!.postgres)).pathname.slice(1)
      sessions.close(kept)
      sessions.administer(`drop database ${template}`)
      sessions.administer(`alter database ${kept} rename to ${template}`)
    },
    remove: async () => {
      sessions.administer(`drop database if exists ${template} with (force)`)
      await sessions.end()
    }
  }
}
