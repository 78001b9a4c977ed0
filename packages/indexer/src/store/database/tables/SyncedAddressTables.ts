/** The rows of addresses that accounts have synced. */
import type { Generated } from "kysely"

export interface SyncedAddressTables {
  synced_address: SyncedAddressTable
  synced_wallet: SyncedWalletTable
}

/** An address that an account has synced: watched while it is active, and its past read from `birth` on. */
export interface SyncedAddressTable {
  id: Generated<number>
  account: number
  chain: number
  /** The row of its wallet; 0 for a single address. */
  wallet: number
  address: Uint8Array
  /** The chain's revision with which it came to be watched. */
  revision: number
  /** 1 or 0. */
  active: number
  /** Seconds since the Unix epoch. */
  created: number
  callback_url: string | null
  /** The first block whose token transfers are wanted. */
  birth: number
  /** The next block whose logs are to be read. */
  next_height: number
  /** The last one; -1 where there are none to be read. */
  last_height: number
  state: "tokens" | "history" | "synced"
}

/** An HD wallet of an account chain that an account has synced: its addresses are in `synced_address`. */
export interface SyncedWalletTable {
  id: Generated<number>
  account: number
  chain: number
  public_key: string
  derivation: "account" | "bip32"
  /** 1 or 0. */
  active: number
  /** Seconds since the Unix epoch. */
  created: number
  /** The first block whose token transfers are wanted. */
  birth: number
}
