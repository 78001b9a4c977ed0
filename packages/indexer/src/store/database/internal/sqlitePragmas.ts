/** Settings of every SQLite connection; the figures behind them are in `bench/`. */
export const pragmas: ReadonlyArray<string> = [
  "page_size=8192",
  "journal_mode=WAL",
  "synchronous=NORMAL",
  "temp_store=MEMORY",
  // What is overwritten or deleted is zero in the file then: an old secret, an account that was removed.
  "secure_delete=FAST",
  "busy_timeout=10000",
  "cache_size=-131072",
  "wal_autocheckpoint=10000"
]
