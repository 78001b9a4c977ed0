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

/** The decimals of a fungible token, where its contract says them. */
const decimalsOf = ({ tokenId }: Pick<TokenTransfer, "tokenId">, metadata: Partial<TokenMetadata> | undefined) =>
  tokenId === undefined ? metadata?.decimals : undefined

/** With the decimals of a fungible token, where its contract says them. */
export const withDecimals = (
  { fungibleValues, ...data }: ReturnType<typeof of>,
  transfer: Pick<TokenTransfer, "tokenId">,
  metadata: Partial<TokenMetadata> | undefined
) => {
  const decimals = decimalsOf(transfer, metadata)
  return { ...data, fungibleValues: { ...fungibleValues, ...(decimals === undefined ? {} : { decimals }) } }
}

/** With the decimals of the amount, for clients that know them to be there: 0 of what is counted in the smallest unit. */
export const withEveryDecimals = (
  { fungibleValues, ...data }: ReturnType<typeof of>,
  transfer: Pick<TokenTransfer, "tokenId">,
  metadata: Partial<TokenMetadata> | undefined
) => ({ ...data, fungibleValues: { ...fungibleValues, decimals: decimalsOf(transfer, metadata) ?? 0 } })
