/** Of a block that was rewound the time too: a subscription may be told that the block has left the chain. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table rewound_block add column time bigint not null default 0"
]
