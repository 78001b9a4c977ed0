/** Tron: Ethereum's virtual machine with address text, transactions and a node interface of its own. */
import { bytesToHex } from "@noble/hashes/utils.js"
import * as EvmAddress from "../evm/EvmAddress.ts"
import type { Family } from "../families/Family.ts"
import * as TronAddress from "./TronAddress.ts"

/** The last four bytes of the genesis block's id, which are the chain's id, of each public network. */
export interface TronNetworks {
  readonly chainIds: Readonly<Record<string, string>>
}

export const TronFamily: Family<TronNetworks, "STANDARD"> = {
  title: "Tron",
  ledger: "accounts",
  hasContracts: true,
  hasMempool: false,
  address: {
    decode: (_networks, text) => TronAddress.decode(text),
    encode: (_networks, bytes) => (bytes.length === 20 ? TronAddress.encode(bytes) : undefined)
  },
  hashText: bytesToHex,
  // The account of a key is the same as on EVM chains.
  keyFormats: [EvmAddress.standard],
  keyFormatsOf: () => [EvmAddress.standard],
  hasTestKeys: false
}
