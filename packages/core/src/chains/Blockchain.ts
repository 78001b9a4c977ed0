/**
 * The form of a chain's file: all facts of one blockchain, as data. A file beside this one holds one such value, and
 * `blockchains.ts` lists them.
 */
import type { Family } from "./Family.ts"

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

/** How an address is made of one public key, as responses name it. */
export type Format = "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"

/** Version bytes of extended public keys that wallets of one blockchain alone write, beside xpub, tpub and SLIP-132's. */
export interface ExtendedKeyVersion {
  readonly name: string
  readonly bytes: number
  /** Version bytes of the private key that belongs to such a public one, so that it is known and refused. */
  readonly privateBytes?: number
  /** For the test networks instead of the live one. */
  readonly test: boolean
  /** The address format that the version decides. */
  readonly format?: Format
}

/** Rules by which a UTXO chain and its nodes differ from Bitcoin's; an absent rule is as on Bitcoin. */
export interface UtxoRules {
  /** Layout of header and transactions: Zcash has an Equihash solution and shielded parts of its own. */
  readonly wireFormat?: "zcash"
  /** The hash by which blocks are named, where that is not double SHA-256 of the header. */
  readonly headerHash?: "x11"
  /** Merged-mining proofs stand behind headers whose version says so (AuxPoW). */
  readonly auxPow?: boolean
  /** A MimbleWimble extension block stands behind the transactions (LIP-2). */
  readonly mweb?: boolean
  /** Transactions of a type with a payload, and none with a witness (DIP-2). */
  readonly specialTransactions?: boolean
  /** A token may stand in front of a locking script (CHIP-2022-02). */
  readonly cashTokens?: boolean
  /** The node says which blocks are final (`getbestchainlock`, DIP-8). */
  readonly chainLocks?: boolean
}

/** A UTXO network: the rules of the chain, and the facts by which a node's network is recognised. */
export interface UtxoNetwork extends UtxoRules {
  /** Hashes of the first block; several where one name stands for several networks. */
  readonly genesis: ReadonlyArray<string>
  /** The first block of a chain that forked from another one with the same genesis, and is not in that other chain. */
  readonly fork?: { readonly from: string; readonly height: number; readonly hash: string }
}

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
}

/** The last four bytes of the genesis block's id, which are the chain's id, of each public network. */
export interface TronNetworks {
  readonly chainIds: Readonly<Record<string, string>>
}

export interface XrpNetwork {
  /** rippled's `network_id`. */
  readonly networkId: number
}

/** The kind of a token contract: one amount per holder, one holder per id, or amounts per holder and id. */
export type TokenKind = "fungible" | "non-fungible" | "multi"

/** Operations whose tables in interface section 8 give listed chains prices of their own. */
export type ListedOperation =
  | "prepare"
  | "internal-transactions"
  | "evm-assets"
  | "evm-logs"
  | "utxo-last-block"
  | "utxo-derive"
  | "utxo-assets"

/** The native coin as the catalogue of market data lists it. Chains that share a coin share this value. */
export interface NativeAsset {
  /** Unique name in the listing. */
  readonly slug: string
  readonly name: string
  /** The coin's id at CoinGecko. */
  readonly coinGecko: string
  /** Place in the list of coins, which began by market capitalisation; a new coin takes the next number. */
  readonly rank: number
  /** A coloured coin with a sign on it: a stroke on a field of 32 by 32, as an SVG path. */
  readonly logo: { readonly colour: string; readonly path: string }
}

/** Facts that differ between the networks of a blockchain. */
export interface Network {
  /** `live`: coins have a value; `test`: a public network without; `development`: a network of one's own. */
  readonly networkKind: "live" | "test" | "development"
  readonly addressFormat: AddressFormat
  /** On chains of the family `utxo`, as the next ones on theirs. */
  readonly utxo?: UtxoNetwork
  readonly evm?: EvmRules
  readonly tron?: TronNetworks
  readonly xrp?: XrpNetwork
}

/** All facts of one blockchain. */
export interface Blockchain {
  /** Name in paths and settings. */
  readonly name: string
  readonly family: Family
  /** Ticker of the native coin. */
  readonly unit: string
  /** Digits after the point of one coin. */
  readonly decimals: number
  /** Registered coin type (SLIP-44). */
  readonly slip44: number
  readonly asset: NativeAsset
  /** CoinGecko's id of the chain as a platform of tokens; absent where the chain has none. */
  readonly coinGeckoPlatform?: string
  /** The standard of each kind of token, as the chain's users call it; absent where the chain has no contracts. */
  readonly tokenStandards?: Readonly<Record<TokenKind, string>>
  readonly extendedKeyVersions?: ReadonlyArray<ExtendedKeyVersion>
  /** Confirmations after which exchanges usually call a deposit settled. */
  readonly usualConfirmations: number
  /** Blocks of history kept so that a reorganisation can be undone. */
  readonly undoDepth: number
  /** Seconds between blocks, as a rule. */
  readonly blockSeconds: number
  /** Factor of the daily charges, and of the prices of {@link listedPrices}. */
  readonly creditMultiplier: number
  /** Operations whose price tables list the chain; the others cost the Default here. */
  readonly listedPrices: ReadonlyArray<ListedOperation>
  /** URL at which a node of the live network usually answers on the same machine. */
  readonly exampleNode: string
  readonly networks: Readonly<Record<string, Network>>
}
