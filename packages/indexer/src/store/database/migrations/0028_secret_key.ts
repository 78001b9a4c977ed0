/** The ids of the keys that callback secrets are encrypted with; those from before are encrypted behind this. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table secret_key (id text not null primary key) ${clustered}`,
  `insert into background_migration (name, position, last)
    select 'callback secrets', 0, max(id) from subscription having max(id) is not null`,
  // An older program would sign with the encrypted text.
  "update store_format set oldest_migration = '0028_secret_key', oldest_program = '0.2.0'"
]
