/** Block and transaction hashes in the text form of each family. */
import { bytesToHex } from "@noble/hashes/utils.js"
import type { Chain } from "./chains/Chain.ts"

/** `0x` hex on EVM chains, upper-case hex on XRP, plain hex elsewhere. */
export const encode = (chain: Chain, hash: Uint8Array): string => {
  const hex = bytesToHex(hash)
  return chain.family === "evm" ? `0x${hex}` : chain.family === "xrp" ? hex.toUpperCase() : hex
}
