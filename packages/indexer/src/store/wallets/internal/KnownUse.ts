/**
 * Which addresses of a wallet were used before the wallet had them, as far as the store knows: by coins that are unspent, or
 * were until recently, by other wallets that have the same addresses, and by the record of an address that somebody has watched
 * without a wallet.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as TransferPages from "../../chain/transfers/TransferPages.ts"
import * as UtxoSet from "../../chain/UtxoSet.ts"
import * as AddressOwners from "./AddressOwners.ts"

/**
 * The first block that is known to have used each of the addresses, by their key; the others are not among the answers.
 * `holdings`: what the UTXO set has of them; `watched`: those that anybody watches.
 */
export const of = Effect.fn("KnownUse.of")(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>,
  { holdings, watched }: { readonly holdings: UtxoSet.Holdings; readonly watched: ReadonlyArray<AddressBytes> }
) {
  const used = new Map<string, number>()
  const note = (key: string, height: number) => used.set(key, Math.min(used.get(key) ?? height, height))
  for (const [key, { first }] of holdings) note(key, first)
  for (const [key, height] of yield* UtxoSet.spentHeights(chain, addresses)) note(key, height)
  const owners = yield* AddressOwners.find(chain, addresses)
  for (const [key, found] of owners) {
    for (const { used_height } of found) if (used_height !== null) note(key, used_height)
  }
  // What the wallets that have an address by now say of it stands: they were told of each use since they have it.
  const others = watched.filter((address) => !owners.has(Bytes.key(address)))
  for (const [key, height] of yield* TransferPages.firstHeights(chain, "coin", others)) note(key, height)
  return used as ReadonlyMap<string, number>
})
