/**
 * The chain registry: every blockchain that Headwater knows, with its networks, as data.
 *
 * A {@link Chain} is one blockchain on one network. A new EVM chain is one entry in {@link blockchains}; nothing else
 * names a chain.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { TokenKind } from "../Block.ts"
import { type EventType, eventsOf } from "../events/EventType.ts"
import type { Family } from "./Family.ts"

export type { Family } from "./Family.ts"

/** Version bytes, prefixes and formats of address text on one network. */
export type AddressFormat =
  | {
      readonly kind: "utxo"
      readonly pubKeyHash: ReadonlyArray<number>
      readonly scriptHash: ReadonlyArray<number>
      /** An older P2SH version that is still read, never written (Litecoin's `3…`). */
      readonly legacyScriptHash?: ReadonlyArray<number>
      /** Human-readable part of BIP-173 and BIP-350 addresses. */
      readonly segwit?: string
      /** Witness versions that are no address: Litecoin's MWEB header (8) and peg-in (9). */
      readonly witnessWithoutAddress?: ReadonlyArray<number>
      /** Human-readable part of TEX addresses (ZIP-320): a key hash in bech32m, read, never written. */
      readonly tex?: string
      /** Prefix of CashAddr, which is then the canonical form. */
      readonly cashAddr?: string
    }
  | { readonly kind: "evm" }
  | { readonly kind: "tron" }
  | { readonly kind: "xrp"; readonly test: boolean }

/** Transaction types of an EVM chain beyond legacy. */
export interface EvmRules {
  /** EIP-155 chain id; absent on a development network, whose node says it. */
  readonly chainId?: number
  /** EIP-2930 access lists. */
  readonly accessLists: boolean
  /** EIP-1559 fee market. */
  readonly feeMarket: boolean
  /** Who charges for data on the layer below, beside gas. */
  readonly dataFee: "none" | "op-stack" | "arbitrum"
}

/** One blockchain on one network. */
export interface Chain {
  readonly blockchain: string
  readonly network: string
  readonly family: Family
  /** Ticker of the native coin. */
  readonly unit: string
  /** Digits after the point of one coin. */
  readonly decimals: number
  /** Registered coin type (SLIP-44); 1 on UTXO test networks. */
  readonly slip44: number
  readonly addressFormat: AddressFormat
  readonly evm?: EvmRules
  /** What the chain's users call each kind of token; absent where the chain has no contracts. */
  readonly tokenStandards?: Readonly<Record<TokenKind, string>>
  readonly events: ReadonlySet<EventType>
  /** Confirmations after which exchanges usually call a deposit settled. */
  readonly usualConfirmations: number
  /** Blocks of history kept so that a reorganisation can be undone. */
  readonly undoDepth: number
  /** Seconds between blocks, as a rule. */
  readonly blockSeconds: number
  /** Factor of the daily charges and the per-chain price columns. */
  readonly creditMultiplier: number
}

interface Blockchain extends Omit<Chain, "network" | "blockchain" | "slip44" | "addressFormat" | "evm"> {
  readonly slip44: number
  readonly networks: Record<string, { readonly addressFormat: AddressFormat; readonly evm?: EvmRules }>
}

const utxo = (
  network: Omit<Extract<AddressFormat, { kind: "utxo" }>, "kind">
): { readonly addressFormat: AddressFormat } => ({ addressFormat: { kind: "utxo", ...network } })

const evm = (rules: Omit<EvmRules, "chainId">, chainIds: Record<string, number>): Blockchain["networks"] => ({
  ...Object.fromEntries(
    Object.entries(chainIds).map(([network, chainId]) => [
      network,
      { addressFormat: { kind: "evm" } as const, evm: { ...rules, chainId } }
    ])
  ),
  devnet: { addressFormat: { kind: "evm" }, evm: rules }
})

const mweb = { witnessWithoutAddress: [8, 9] } as const

const modern = { accessLists: true, feeMarket: true, dataFee: "none" } as const

const utxoDefaults = {
  family: "utxo",
  decimals: 8,
  events: eventsOf("utxo"),
  undoDepth: 100,
  blockSeconds: 600
} as const

const evmDefaults = {
  family: "evm",
  decimals: 18,
  tokenStandards: { fungible: "ERC-20", "non-fungible": "ERC-721", multi: "ERC-1155" },
  events: eventsOf("evm"),
  undoDepth: 128,
  blockSeconds: 12
} as const

/** Blockchain name → facts. Sources: SLIP-44, SLIP-173, each chain's `chainparams`, chainlist.org. */
export const blockchains: Readonly<Record<string, Blockchain>> = {
  bitcoin: {
    ...utxoDefaults,
    unit: "BTC",
    slip44: 0,
    usualConfirmations: 3,
    creditMultiplier: 1,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x00], scriptHash: [0x05], segwit: "bc" }),
      testnet: utxo({ pubKeyHash: [0x6f], scriptHash: [0xc4], segwit: "tb" }),
      regtest: utxo({ pubKeyHash: [0x6f], scriptHash: [0xc4], segwit: "bcrt" })
    }
  },
  "bitcoin-cash": {
    ...utxoDefaults,
    unit: "BCH",
    slip44: 145,
    usualConfirmations: 10,
    creditMultiplier: 1.2,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x00], scriptHash: [0x05], cashAddr: "bitcoincash" }),
      testnet: utxo({ pubKeyHash: [0x6f], scriptHash: [0xc4], cashAddr: "bchtest" }),
      regtest: utxo({ pubKeyHash: [0x6f], scriptHash: [0xc4], cashAddr: "bchreg" })
    }
  },
  litecoin: {
    ...utxoDefaults,
    unit: "LTC",
    slip44: 2,
    usualConfirmations: 6,
    blockSeconds: 150,
    creditMultiplier: 1.1,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x30], scriptHash: [0x32], legacyScriptHash: [0x05], segwit: "ltc", ...mweb }),
      testnet: utxo({ pubKeyHash: [0x6f], scriptHash: [0x3a], legacyScriptHash: [0xc4], segwit: "tltc", ...mweb }),
      regtest: utxo({ pubKeyHash: [0x6f], scriptHash: [0x3a], legacyScriptHash: [0xc4], segwit: "rltc", ...mweb })
    }
  },
  dogecoin: {
    ...utxoDefaults,
    unit: "DOGE",
    slip44: 3,
    usualConfirmations: 40,
    undoDepth: 300,
    blockSeconds: 60,
    creditMultiplier: 1.1,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x1e], scriptHash: [0x16] }),
      testnet: utxo({ pubKeyHash: [0x71], scriptHash: [0xc4] }),
      regtest: utxo({ pubKeyHash: [0x6f], scriptHash: [0xc4] })
    }
  },
  dash: {
    ...utxoDefaults,
    unit: "DASH",
    slip44: 5,
    usualConfirmations: 2,
    blockSeconds: 150,
    creditMultiplier: 1.1,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x4c], scriptHash: [0x10] }),
      testnet: utxo({ pubKeyHash: [0x8c], scriptHash: [0x13] }),
      regtest: utxo({ pubKeyHash: [0x8c], scriptHash: [0x13] })
    }
  },
  zcash: {
    ...utxoDefaults,
    unit: "ZEC",
    slip44: 133,
    usualConfirmations: 24,
    blockSeconds: 75,
    creditMultiplier: 1.3,
    networks: {
      mainnet: utxo({ pubKeyHash: [0x1c, 0xb8], scriptHash: [0x1c, 0xbd], tex: "tex" }),
      testnet: utxo({ pubKeyHash: [0x1d, 0x25], scriptHash: [0x1c, 0xba], tex: "textest" }),
      regtest: utxo({ pubKeyHash: [0x1d, 0x25], scriptHash: [0x1c, 0xba], tex: "texregtest" })
    }
  },
  ethereum: {
    ...evmDefaults,
    unit: "ETH",
    slip44: 60,
    usualConfirmations: 32,
    creditMultiplier: 1,
    networks: evm(modern, { mainnet: 1, sepolia: 11155111 })
  },
  "ethereum-classic": {
    ...evmDefaults,
    unit: "ETC",
    slip44: 61,
    usualConfirmations: 400,
    undoDepth: 10_000,
    blockSeconds: 13,
    creditMultiplier: 1.3,
    networks: evm({ accessLists: true, feeMarket: false, dataFee: "none" }, { mainnet: 61, mordor: 63 })
  },
  "binance-smart-chain": {
    ...evmDefaults,
    unit: "BNB",
    slip44: 9006,
    tokenStandards: { fungible: "BEP-20", "non-fungible": "ERC-721", multi: "ERC-1155" },
    usualConfirmations: 15,
    undoDepth: 256,
    blockSeconds: 0.75,
    creditMultiplier: 2.5,
    networks: evm(modern, { mainnet: 56, testnet: 97 })
  },
  polygon: {
    ...evmDefaults,
    unit: "POL",
    slip44: 966,
    usualConfirmations: 128,
    undoDepth: 512,
    blockSeconds: 2,
    creditMultiplier: 2,
    networks: evm(modern, { mainnet: 137, amoy: 80002 })
  },
  arbitrum: {
    ...evmDefaults,
    unit: "ETH",
    slip44: 9001,
    usualConfirmations: 20,
    undoDepth: 1_800,
    blockSeconds: 0.25,
    creditMultiplier: 1.6,
    networks: evm({ ...modern, dataFee: "arbitrum" }, { mainnet: 42161, sepolia: 421614 })
  },
  avalanche: {
    ...evmDefaults,
    unit: "AVAX",
    slip44: 9005,
    usualConfirmations: 1,
    blockSeconds: 2,
    creditMultiplier: 1.8,
    networks: evm(modern, { mainnet: 43114, fuji: 43113 })
  },
  base: {
    ...evmDefaults,
    unit: "ETH",
    slip44: 8453,
    usualConfirmations: 20,
    undoDepth: 1_800,
    blockSeconds: 2,
    creditMultiplier: 1.2,
    networks: evm({ ...modern, dataFee: "op-stack" }, { mainnet: 8453, sepolia: 84532 })
  },
  optimism: {
    ...evmDefaults,
    unit: "ETH",
    slip44: 614,
    usualConfirmations: 20,
    undoDepth: 1_800,
    blockSeconds: 2,
    creditMultiplier: 1.4,
    networks: evm({ ...modern, dataFee: "op-stack" }, { mainnet: 10, sepolia: 11155420 })
  },
  tron: {
    ...evmDefaults,
    family: "tron",
    events: eventsOf("tron"),
    unit: "TRX",
    decimals: 6,
    slip44: 195,
    tokenStandards: { fungible: "TRC-20", "non-fungible": "TRC-721", multi: "TRC-1155" },
    usualConfirmations: 20,
    blockSeconds: 3,
    creditMultiplier: 1.5,
    networks: { mainnet: { addressFormat: { kind: "tron" } }, nile: { addressFormat: { kind: "tron" } } }
  },
  xrp: {
    family: "xrp",
    unit: "XRP",
    decimals: 6,
    slip44: 144,
    events: eventsOf("xrp"),
    usualConfirmations: 1,
    undoDepth: 1,
    blockSeconds: 4,
    creditMultiplier: 1,
    networks: {
      mainnet: { addressFormat: { kind: "xrp", test: false } },
      testnet: { addressFormat: { kind: "xrp", test: true } }
    }
  }
}

/** No blockchain has this name. */
export class UnknownBlockchain extends Schema.TaggedError<UnknownBlockchain>()("UnknownBlockchain", {
  blockchain: Schema.String
}) {
  override get message() {
    return `"${this.blockchain}" is not a blockchain: use one of ${Object.keys(blockchains).join(", ")}`
  }
}

/** The blockchain has no network of this name. */
export class UnknownNetwork extends Schema.TaggedError<UnknownNetwork>()("UnknownNetwork", {
  blockchain: Schema.String,
  network: Schema.String
}) {
  override get message() {
    const known = Object.keys(blockchains[this.blockchain]!.networks).join(", ")
    return `"${this.network}" is not a network of ${this.blockchain}: use one of ${known}`
  }
}

/** Every blockchain on every network. */
export const all: ReadonlyArray<Chain> = Object.entries(blockchains).flatMap(([blockchain, { networks, ...facts }]) =>
  Object.entries(networks).map(([network, own]) => ({
    blockchain,
    network,
    ...facts,
    ...own,
    slip44: facts.family === "utxo" && network !== "mainnet" ? 1 : facts.slip44
  }))
)

const byName = new Map(all.map((chain) => [`${chain.blockchain}/${chain.network}`, chain]))

/** The name under which a chain is stored, logged and configured: `blockchain/network`. */
export const nameOf = (chain: Chain): string => `${chain.blockchain}/${chain.network}`

/** Looks a chain up by the names that the interface uses. */
export const find = (blockchain: string, network: string): Result.Result<Chain, UnknownBlockchain | UnknownNetwork> => {
  const chain = byName.get(`${blockchain}/${network}`)
  if (chain !== undefined) return Result.succeed(chain)
  return Object.hasOwn(blockchains, blockchain)
    ? Result.fail(new UnknownNetwork({ blockchain, network }))
    : Result.fail(new UnknownBlockchain({ blockchain }))
}
