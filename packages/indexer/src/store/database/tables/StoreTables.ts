/** The rows about the store itself, and what was done with it. */
import type { Generated } from "kysely"

export interface StoreTables {
  store_format: StoreFormatTable
  store_epoch: StoreEpochTable
  secret_key: SecretKeyTable
  background_migration: BackgroundMigrationTable
  audit_entry: AuditEntryTable
}

/** The oldest program that may run on the store: one row. */
export interface StoreFormatTable {
  id: number
  /** A program that knows this migration may run. */
  oldest_migration: string
  /** The release that brings the migration, for the message to others. */
  oldest_program: string
}

/** What the store is called until it is restored from a backup: one row, none in a copy. */
export interface StoreEpochTable {
  id: number
  epoch: string
  /** The store that the epoch was given to, as `Adapter.identity` tells stores apart. */
  identity: string
}

/** A key that callback secrets of the store may be encrypted with: its id, as `database/SecretKeys` has it. */
export interface SecretKeyTable {
  id: string
}

/** The rewriting of stored rows behind a migration, as long as it is not done. */
export interface BackgroundMigrationTable {
  name: string
  /** Rows with this id and below have been rewritten. */
  position: number
  /** The highest id when the migration was applied: rows above it have the new form. */
  last: number
}

/** Something that was changed, or asked for, through the console or the command line. No secret is in it. */
export interface AuditEntryTable {
  id: Generated<number>
  /** Milliseconds since the Unix epoch; of several times the last one. */
  at: number
  /** A user of the console, an account's name, or `command line`. */
  actor: string
  /** Of the user; `command line`, or `none` where nobody was let in. */
  role: string
  /** The address of the peer, or `command line`. */
  origin: string
  /** As in `key.revoke`. */
  action: string
  subject: string
  /** The name of the account that is concerned. */
  account: string | null
  outcome: "done" | "refused" | "failed"
  detail: string | null
  /** How often, where several are one entry. */
  times: Generated<number>
  /** What is counted in one entry has the same key; null else. */
  repeat_key: Generated<string | null>
}
