/** The tokens that prepared and broadcast transfers move from their senders: others that are prepared have that much less. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob }: ColumnTypes): ReadonlyArray<string> =>
  ["reserved_coin", "broadcast"].flatMap((table) => [
    `alter table ${table} add column token ${blob}`,
    `alter table ${table} add column token_amount text`
  ])
