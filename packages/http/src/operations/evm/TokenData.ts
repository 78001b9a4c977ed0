/** The tokens of a transfer in the words of the interface. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { TokenTransfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"

/** `metadata` is what is known of the contract, if anything. */
export const of = (
  chain: Chain,
  { amount, contract, token, tokenId }: Pick<TokenTransfer, "amount" | "contract" | "token" | "tokenId">,
  { decimals = 0, name = "", symbol = "" }: Partial<TokenMetadata> = {}
) => ({
  fungibleValues: { amount: Amount.format(amount, tokenId === undefined ? decimals : 0) },
  name,
  ...(tokenId === undefined ? {} : { nonFungibleValues: { tokenId: String(tokenId) } }),
  symbol,
  contractAddress: Address.encode(chain, contract)!,
  standard: chain.tokenStandards?.[token] ?? ""
})

/** With the decimals of a fungible token, where its contract says them. */
export const withDecimals = (
  { fungibleValues, ...data }: ReturnType<typeof of>,
  { tokenId }: Pick<TokenTransfer, "tokenId">,
  metadata: Partial<TokenMetadata> | undefined
) => {
  const decimals = tokenId === undefined ? metadata?.decimals : undefined
  return { ...data, fungibleValues: { ...fungibleValues, ...(decimals === undefined ? {} : { decimals }) } }
}
