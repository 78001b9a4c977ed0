/**
 * The transfer log in rows of which some fill a page of the database: chunks of transfers, and pages of sorted postings.
 * SQLite gives what overflows a row of a clustered table pages of that row alone, so the rows of before take twice their
 * bytes. What stands in them stays there; merges take the postings along.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

/** PostgreSQL would try to compress hashes. */
const uncompressed = ["packed_transfers", "sorted_postings", "staged_postings"].map(
  (table) => `alter table ${table} alter column data set storage external`
)

export const up = ({ blob }: ColumnTypes): ReadonlyArray<string> => [
  `create table packed_transfers (
    log bigint not null,
    position bigint not null,
    data ${blob} not null,
    primary key (log, position)
  )`,
  `create table sorted_postings (
    run bigint not null,
    first ${blob} not null,
    data ${blob} not null,
    primary key (run, first)
  )`,
  "alter table posting_run add column paged bigint not null default 0",
  ...(blob === "bytea" ? uncompressed : []),
  // An older program would read the record without the new rows.
  "update store_format set oldest_migration = '0072_packed_transfers', oldest_program = '0.2.0'"
]
