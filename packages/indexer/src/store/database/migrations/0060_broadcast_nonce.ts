/** The nonce or sequence of a broadcast transaction, which no other one is prepared with while the transaction is on its way. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob }: ColumnTypes): ReadonlyArray<string> => [
  `alter table broadcast add column sender ${blob}`,
  "alter table broadcast add column nonce bigint",
  "create index broadcast_nonce on broadcast (account, chain, sender, nonce) where sender is not null"
]
