/** The transfer log: chunks of packed transfers, and postings that find them by address. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table transfer_chunk (
    log bigint not null,
    position bigint not null,
    data ${blob} not null,
    primary key (log, position)
  ) ${clustered}`,
  `create table staged_postings (
    log bigint not null,
    height bigint not null,
    data ${blob} not null,
    primary key (log, height)
  ) ${clustered}`,
  `create table posting_run (
    id ${serial},
    log bigint not null,
    level bigint not null,
    first_position bigint not null,
    last_position bigint not null,
    postings bigint not null,
    state text not null,
    changed bigint not null
  )`,
  `create index posting_run_log on posting_run (log, state)`,
  `create table posting_page (
    run bigint not null,
    first ${blob} not null,
    data ${blob} not null,
    primary key (run, first)
  ) ${clustered}`
]
