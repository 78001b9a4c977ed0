/** Coins of UTXO chains: outputs that nothing has spent yet. */
import type { AddressBytes } from "../address/Address.ts"
import type { Spend } from "../Block.ts"
import * as Bytes from "../Bytes.ts"

/** A transaction's output, by the transaction's id and the output's number in it. */
export type Outpoint = Spend["outpoint"]

/** An unspent output. */
export interface Coin {
  readonly outpoint: Outpoint
  readonly script: AddressBytes
  /** In the coin's smallest unit. */
  readonly amount: bigint
  /** Of the block that created it. */
  readonly height: number
}

/** The unspent outputs of some addresses, as of one block. */
export interface CoinsAt {
  readonly height: number
  readonly hash: Uint8Array
  readonly coins: ReadonlyArray<Coin>
}

/**
 * A string that is equal for equal outpoints: the key of a Map or Set.
 *
 * @example
 * ```ts
 * import * as Coin from "@headwater/core/utxo/Coin"
 *
 * const outpoint = (index: number) => ({ transactionId: new Uint8Array(32).fill(7), index })
 * Coin.keyOf(outpoint(1)) === Coin.keyOf(outpoint(1)) // => true
 * Coin.keyOf(outpoint(1)) === Coin.keyOf(outpoint(12)) // => false
 * ```
 */
export const keyOf = ({ index, transactionId }: Outpoint): string => `${Bytes.key(transactionId)}${index}`
