/** What a subscription is about, as people write it: an address, or the id of a transaction. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { isOfTransaction } from "../chain/TransactionSubscriptions.ts"

export const of = (
  chain: Chain | undefined,
  { address, event }: { readonly address: Uint8Array | null; readonly event: string }
): { readonly address: string | null; readonly transactionId?: string } => {
  if (address === null || chain === undefined) return { address: null }
  if (isOfTransaction({ event })) return { address: null, transactionId: Hash.encode(chain, address) }
  return { address: Address.encode(chain, address as Address.AddressBytes) ?? null }
}
