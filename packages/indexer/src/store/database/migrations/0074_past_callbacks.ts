/**
 * On PostgreSQL callbacks become past some time after their end, each in a partition of the days on which they became so, which
 * retention drops. `every_callback` is all of them, and `callback` its partition of those that are not past.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

const partitioned: ReadonlyArray<string> = [
  "alter table callback add column past_day bigint not null default 0",
  // A partition may have no identity column from PostgreSQL 17 on: the numbers go on with a sequence of the same table.
  "create sequence callback_number as bigint owned by callback.id",
  `do $$
    declare numbers text := pg_get_serial_sequence('callback', 'id');
    begin
      execute format('select setval(%L, last_value, is_called) from %s', 'callback_number', numbers);
    end $$`,
  // Whoever may insert rows gets numbers for them, as with an identity column.
  `do $$
    declare may_insert record;
    begin
      for may_insert in
        select distinct grantee from information_schema.table_privileges
        where table_schema = current_schema() and table_name = 'callback' and privilege_type = 'INSERT'
      loop
        execute format('grant usage on sequence callback_number to %s',
          case may_insert.grantee when 'PUBLIC' then 'public' else quote_ident(may_insert.grantee) end);
      end loop;
    end $$`,
  "alter table callback alter column id drop identity",
  "alter table callback alter column id set default nextval('callback_number')",
  "create table every_callback (like callback) partition by range (past_day)",
  "alter table every_callback attach partition callback for values from (0) to (1)",
  "create table past_callback_height (chain bigint primary key, height bigint not null)",
  "create table past_callback_partition (from_day bigint primary key, to_day bigint not null)",
  // What was there before never becomes past: a month's callbacks would be written once more, and kept for another month.
  "create table past_callback_start (id bigint not null)",
  "insert into past_callback_start (id) select coalesce(max(id), 0) from callback",
  // An older program would miss past callbacks in feeds, and tell again what they have told.
  "update store_format set oldest_migration = '0074_past_callbacks', oldest_program = '0.2.0'"
]

export const up = (types: ColumnTypes): ReadonlyArray<string> =>
  types.partitioned ? partitioned : ["create view every_callback as select callback.*, 0 as past_day from callback"]
