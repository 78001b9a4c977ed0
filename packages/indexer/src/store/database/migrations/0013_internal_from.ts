/** From which block on a chain's internal transactions are recorded. */
export const up = (): ReadonlyArray<string> => ["alter table chain add column internal_from bigint"]
