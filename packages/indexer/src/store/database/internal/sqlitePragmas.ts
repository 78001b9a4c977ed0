/** A SQLite file, and how much of it each connection keeps in memory. */
export interface SqliteOptions {
  readonly file: string
  readonly cacheMegabytes?: number | undefined
}

/**
 * Small: what few connections keep is memory that a busy address makes the process take, and a sync gains nothing from
 * more, as far as `bench/evm/ingest.ts` and `bench/utxo.ts index` show.
 */
const defaultCacheMegabytes = 16

/** Pages of the log, 20 MB: the commit that reaches them copies them into the file, which everybody else waits for. */
export const ownCheckpoints = "wal_autocheckpoint=2500"

/**
 * The same of a writer beside which a thread copies the log (`SqliteCheckpoints`): 80 MB. The commit that reaches them copies
 * what is left, which is little, and the log begins anew.
 */
export const rareCheckpointPages = 10_000
export const rareCheckpoints = `wal_autocheckpoint=${rareCheckpointPages}`

/** Of a new file: a store has the size of its first page for good. */
export const pageSize = "page_size=8192"

/** Settings of every SQLite connection; the figures behind them are in `bench/`. */
export const pragmas = ({ cacheMegabytes = defaultCacheMegabytes }: SqliteOptions): ReadonlyArray<string> => [
  pageSize,
  "journal_mode=WAL",
  "synchronous=NORMAL",
  "temp_store=MEMORY",
  // What is overwritten or deleted is zero in the file then: an old secret, an account that was removed.
  "secure_delete=FAST",
  "busy_timeout=10000",
  `cache_size=-${cacheMegabytes * 1024}`,
  ownCheckpoints
]
