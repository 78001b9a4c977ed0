/** Up to which block the internal transactions of a chain have been forgotten: below, their sums alone stand. */
export const up = (): ReadonlyArray<string> => [
  "alter table chain add column internal_forgotten_below bigint not null default 0"
]
