/** The store with which every story begins, on either database: made once, and copied for each story. */
import { randomUUID } from "node:crypto"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
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
  /** A store of a story's own, with what the template has. There is one at a time. */
  readonly copy: (time: SimulatedTime, chance: Chance) => SimulatedStore
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

/** In a file. */
export const sqlite = async (): Promise<StoreTemplate> => {
  const folder = mkdtempSync("/dev/shm/headwater-opening-")
  const file = join(folder, "opening.db")
  await migrate({ kind: "sqlite", file })
  checkpoint(file)
  return {
    name: "sqlite",
    copy: (time, chance) => SimulatedMachine.make(file, time, chance),
    keep: (store) => {
      const { sqlite: kept } = store.settings()!
      checkpoint(kept!)
      copyFileSync(kept!, file)
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
  const tables = sessions.rows(template, "select tablename from pg_tables where schemaname = current_schema()")
  for (const { tablename } of tables as ReadonlyArray<{ readonly tablename: string }>) {
    sessions.rows(template, `alter table ${tablename} set (autovacuum_enabled = false)`)
  }
  sessions.close(template)
  return {
    name: "postgres",
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
