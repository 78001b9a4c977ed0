/** An undo looks for the addresses whose transactions are known from a block on that it takes back. */
export const up = (): ReadonlyArray<string> => [
  "create index completeness_transactions on completeness (chain, transactions)"
]
