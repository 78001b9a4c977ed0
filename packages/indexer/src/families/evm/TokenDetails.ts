/** What a token's contract says of itself. */
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import type { TokenMetadata } from "./TokenMetadata.ts"

export interface TokenDetails extends TokenMetadata {
  readonly kind: TokenKind
  /** Of a fungible token, in its smallest unit. */
  readonly totalSupply: bigint | undefined
}

/** Ids of the interfaces of ERC-721 and ERC-1155, as hex. */
export const interfaces = { "non-fungible": "80ac58cd", multi: "d9b67a26" } as const

/** What functions of a contract returned; undefined where a function returned no number. */
export interface Answers {
  readonly totalSupply: bigint | undefined
  /** What the contract has of its own tokens. */
  readonly balance: bigint | undefined
  /** 1 where the contract has the interface. */
  readonly isNonFungible: bigint | undefined
  readonly isMulti: bigint | undefined
}

const kindOf = (
  { decimals }: TokenMetadata,
  { balance, isMulti, isNonFungible, totalSupply }: Answers
): TokenKind | undefined => {
  if (isNonFungible === 1n) return "non-fungible"
  if (isMulti === 1n) return "multi"
  return totalSupply !== undefined && balance !== undefined && decimals !== undefined ? "fungible" : undefined
}

/**
 * By the interfaces of ERC-165, or the total and the decimals that fungible tokens have. Tokens older than these standards
 * say neither, and are none here: undefined.
 */
export const of = (metadata: TokenMetadata, answers: Answers): TokenDetails | undefined => {
  const kind = kindOf(metadata, answers)
  return kind && { ...metadata, kind, totalSupply: kind === "fungible" ? answers.totalSupply : undefined }
}
