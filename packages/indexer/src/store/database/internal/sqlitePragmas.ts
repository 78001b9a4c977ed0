/** Settings of every SQLite connection; the figures behind them are in `bench/`. */
export const pragmas: ReadonlyArray<string> = [
  "page_size=8192",
  "journal_mode=WAL",
  "synchronous=NORMAL",
  "temp_store=MEMORY",
  "busy_timeout=10000",
  "cache_size=-131072",
  "wal_autocheckpoint=10000"
]
