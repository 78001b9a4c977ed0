/** EVM chains: all that run Ethereum's virtual machine and speak of addresses as Ethereum does. */
import { bytesToHex } from "@noble/hashes/utils.js"
import type { Family } from "../families/Family.ts"
import * as EvmAddress from "./EvmAddress.ts"

/** Transaction types of an EVM chain beyond legacy. */
export interface EvmRules {
  /** EIP-155 chain id; absent on a development network, whose node says it. */
  readonly chainId?: number
  /** EIP-2930 access lists. */
  readonly accessLists: boolean
  /** EIP-1559 fee market. */
  readonly feeMarket: boolean
  /** The rule by which data on the layer below is charged beside gas. */
  readonly dataFee: "none" | "op-stack" | "arbitrum"
  /** The first block since Byzantium, whose receipts have a status (EIP-658); the first block of all where absent. */
  readonly byzantium?: number
  /** The first block of Arbitrum's Nitro; those before hash by rules of their own. */
  readonly nitro?: number
  /** Bor adds a transaction to the end of some blocks that no root of the block covers. */
  readonly stateSync?: boolean
  /** Coins of retryable tickets move beside transactions: only a trace shows them. */
  readonly retryables?: boolean
}

export const EvmFamily: Family<EvmRules, "STANDARD"> = {
  title: "EVM",
  ledger: "accounts",
  hasContracts: true,
  hasMempool: false,
  address: {
    decode: (_rules, text) => EvmAddress.decode(text),
    encode: (_rules, bytes) => (bytes.length === 20 ? EvmAddress.encode(bytes) : undefined)
  },
  hashText: (hash) => `0x${bytesToHex(hash)}`,
  keyFormats: [EvmAddress.standard],
  keyFormatsOf: () => [EvmAddress.standard],
  hasTestKeys: false
}
