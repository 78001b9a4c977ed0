/** EVM chains: all that run Ethereum's virtual machine and speak of addresses as Ethereum does. */
import * as Bytes from "../Bytes.ts"
import type { Family } from "../families/Family.ts"
import * as EvmAddress from "./EvmAddress.ts"

/** A block by its height and its hash, `0x` and 64 digits. */
export interface KnownBlock {
  readonly height: number
  readonly hash: string
}

/** The facts by which a public network is known, and the blocks at which its rules changed. */
export interface EvmNetwork {
  /** EIP-155 chain id. */
  readonly chainId: number
  /** Hash of the first block. */
  readonly genesis: string
  /** A block that no other network with the same first block has. */
  readonly ownBlock?: KnownBlock
  /** The first block since Byzantium, whose receipts have a status (EIP-658); the first block of all where absent. */
  readonly byzantium?: number
  /** The first block of Arbitrum's Nitro; those before hash by rules of their own. */
  readonly nitro?: number
  /** In Wei: nodes take no transaction whose tip is less, and producers none that leaves less beyond the base fee. */
  readonly leastTip?: bigint
}

/** The facts of a network, none on a development network, and the transaction types beyond legacy. */
export interface EvmRules extends Partial<EvmNetwork> {
  /** EIP-2930 access lists. */
  readonly accessLists: boolean
  /** EIP-1559 fee market. */
  readonly feeMarket: boolean
  /** The rule by which data on the layer below is charged beside gas. */
  readonly dataFee: "none" | "op-stack" | "arbitrum"
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
  hashText: (hash) => `0x${Bytes.hex(hash)}`,
  keyFormats: [EvmAddress.standard],
  keyFormatsOf: () => [EvmAddress.standard],
  hasTestKeys: false,
  example: {
    chain: "ethereum/mainnet",
    addresses: ["0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"],
    height: 21_000_000,
    blockHash: []
  }
}
