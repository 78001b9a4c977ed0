/** The unsigned transactions of EVM chains: legacy, with an access list (EIP-2930), on the fee market (EIP-1559). */

/** One account of a transaction's access list, with storage slots of 32 bytes each (EIP-2930). */
export interface AccessListEntry {
  readonly address: Uint8Array
  readonly storageKeys: ReadonlyArray<Uint8Array>
}

interface Common {
  /** Below 2^64 − 1 (EIP-2681). */
  readonly nonce: bigint
  /** Below 2^64. */
  readonly gasLimit: bigint
  /** 20 bytes; null creates a contract, so that a recipient who was forgotten makes none. */
  readonly to: Uint8Array | null
  /** In Wei, below 2^256, as every price. */
  readonly value: bigint
  readonly data: Uint8Array
}

export interface LegacyTransaction extends Common {
  readonly type: 0
  /** Replay protection of EIP-155; undefined signs for every chain. */
  readonly chainId: bigint | undefined
  readonly gasPrice: bigint
}

export interface AccessListTransaction extends Common {
  readonly type: 1
  readonly chainId: bigint
  readonly gasPrice: bigint
  readonly accessList: ReadonlyArray<AccessListEntry>
}

export interface FeeMarketTransaction extends Common {
  readonly type: 2
  readonly chainId: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly accessList: ReadonlyArray<AccessListEntry>
}

export type UnsignedTransaction = LegacyTransaction | AccessListTransaction | FeeMarketTransaction
