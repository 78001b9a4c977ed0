/** From which block on spent outputs are remembered. */
export const up = (): ReadonlyArray<string> => ["alter table chain add column spent_from bigint"]
