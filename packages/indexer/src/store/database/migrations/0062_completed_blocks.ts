/** What becomes known later of a block that lacks something: a row behind the block's, for consumers as any other one. */
export const up = (): ReadonlyArray<string> => [
  "alter table consumed_block add column completion bigint not null default 0",
  "alter table consumed_block add column lacks text not null default ''",
  "drop index consumed_block_height",
  `create unique index consumed_block_height on consumed_block (chain, height, completion)
    where left_number is null`,
  "create index consumed_block_lacks on consumed_block (chain, height) where lacks <> ''"
]
