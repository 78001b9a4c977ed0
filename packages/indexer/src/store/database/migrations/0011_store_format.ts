/** The oldest program that may run on the store, and the rewriting of rows that is not done yet. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table store_format (
    id bigint not null primary key,
    oldest_migration text not null,
    oldest_program text not null,
    check (id = 1)
  )`,
  `insert into store_format (id, oldest_migration, oldest_program) values (1, '0011_store_format', '0.2.0')`,
  `create table background_migration (
    name text not null primary key,
    position bigint not null,
    last bigint not null
  ) ${clustered}`
]
