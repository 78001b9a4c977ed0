/** How much of a token an address has, by its recorded transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"

/**
 * What the address has at the least after a transfer, of what it had at the least before, in the smallest unit: tokens that go,
 * and of which nobody has seen the coming, were there before the record begins.
 */
export const after = (
  before: bigint,
  address: AddressBytes,
  { amount, from, to }: Pick<TokenTransfer, "amount" | "from" | "to">
): bigint => {
  const left = !Bytes.equal(from, address) ? before : before > amount ? before - amount : 0n
  return Bytes.equal(to, address) ? left + amount : left
}
