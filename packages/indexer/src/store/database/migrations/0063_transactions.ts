/** The transactions of an address: from which block on all of them are recorded, also those that moved nothing. */
export const up = (): ReadonlyArray<string> => [
  "alter table chain add column parties_from bigint not null default 0",
  "update chain set parties_from = height + 1 where height is not null",
  "alter table completeness add column transactions bigint",
  `update completeness set transactions = (select parties_from from chain where chain.id = completeness.chain)
    where history is not null`,
  // An older program would commit blocks without them.
  "update store_format set oldest_migration = '0063_transactions', oldest_program = '0.2.0'"
]
