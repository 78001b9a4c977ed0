/** When the account of a subscription that fails was told so. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table failing_subscription add column noticed bigint"
]
