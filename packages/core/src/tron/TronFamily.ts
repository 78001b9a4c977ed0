/** Tron: Ethereum's virtual machine with address text, transactions and a node interface of its own. */
import * as Bytes from "../Bytes.ts"
import * as EvmAddress from "../evm/EvmAddress.ts"
import type { Family } from "../families/Family.ts"
import * as TronAddress from "./TronAddress.ts"

/** The id of block 0 of each public network; the last four bytes of such an id are the chain's id. */
export interface TronNetworks {
  readonly genesis: Readonly<Record<string, string>>
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
  hashText: Bytes.hex,
  // The account of a key is the same as on EVM chains.
  keyFormats: [EvmAddress.standard],
  keyFormatsOf: () => [EvmAddress.standard],
  hasTestKeys: false,
  example: {
    chain: "tron/mainnet",
    addresses: ["TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"],
    height: 67_000_000,
    blockHash: [0, 0, 0, 0, 0x03, 0xfe, 0x56, 0xc0]
  }
}
