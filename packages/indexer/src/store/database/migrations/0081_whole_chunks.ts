/**
 * Chunks of transfers stay whole in their rows, two to a page. PostgreSQL would cut them into pieces in a table beside, with an
 * index of its own, to be put together by whoever reads them. What stands there stays so.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob }: ColumnTypes): ReadonlyArray<string> =>
  blob === "bytea" ? ["alter table packed_transfers set (toast_tuple_target = 8160)"] : []
