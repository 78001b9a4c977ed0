/** The daemons of the store, and which of them follows each chain. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table daemon (
    id ${serial},
    name text not null,
    version text not null,
    roles text not null,
    chains text not null,
    started bigint not null,
    heartbeat bigint not null
  )`,
  `create table placement (
    chain text primary key,
    daemon bigint,
    since bigint,
    successor bigint,
    pinned text
  )`
]
