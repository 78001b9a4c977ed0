/** A way from an address to its coins in the UTXO set; and wallets, whose coins release 0.1 has not proved, are looked for. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "create index unspent_output_script on unspent_output (chain, script)",
  "update wallet set state = 'scanning', scan_height = null",
  // A balance counts every coin of the set now, whichever way the coin came there.
  `update wallet set balance = coalesce((
    select cast(sum(cast(o.amount as bigint)) as text)
    from wallet_address a join unspent_output o on o.chain = a.chain and o.script = a.address
    where a.wallet = wallet.id
  ), '0')`,
  "drop index wallet_address_since",
  "alter table wallet_address drop column since",
  "alter table wallet_address drop column scanned"
]
