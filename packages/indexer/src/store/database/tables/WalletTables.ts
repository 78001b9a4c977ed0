/** The rows of HD wallets. */
import type { Format } from "@headwater/core/keys/ExtendedPublicKey"
import type { Generated } from "kysely"

export interface WalletTables {
  wallet: WalletTable
  wallet_address: WalletAddressTable
  reserved_coin: ReservedCoinTable
}

/** What a transaction uses that an account has prepared, and nothing else of that account may use meanwhile. */
export interface ReservedCoinTable {
  account: number
  chain: number
  /** The transaction that made the coin. */
  source: Uint8Array
  /** The number of the coin among that transaction's outputs. */
  number: number
  /** Milliseconds since the Unix epoch. */
  until: number
  /** The most that the transaction takes of its sender, in the coin's smallest unit; 0 of a coin, which is what it takes. */
  cost: Generated<string>
  /** Contract of the tokens that the transaction moves from its sender, and how many, in their smallest unit; null of none. */
  token: Uint8Array | null
  token_amount: string | null
}

export interface WalletTable {
  id: Generated<number>
  account: number
  chain: number
  /** The extended public key in its one canonical form. */
  public_key: string
  derivation: "account" | "bip32"
  format: Format
  /** Seconds since the Unix epoch. */
  created: number
  /** What the UTXO set has of its addresses, in the coin's smallest unit. */
  balance: string
  /** `scanning`: the coins that watched addresses had before they were watched are yet to be looked for. */
  state: "scanning" | "synced"
  /** The block at which coins were looked for, as far as the balance rests on that; null where the balance may lack some. */
  scan_height: number | null
  /** 1, or 0: to its account the wallet is as one that is not synced. */
  active: Generated<number>
}

export interface WalletAddressTable {
  id: Generated<number>
  wallet: number
  chain: number
  /** 0 for receiving addresses, 1 for change. */
  branch: number
  address_index: number
  address: Uint8Array
  /** The chain's revision that it came with, as a subscription has one. */
  revision: number
  /** The first block known to pay to it. */
  used_height: number | null
  /** When its account asked for it, in seconds since the Unix epoch; null where it only fills the gap. */
  requested: number | null
}
