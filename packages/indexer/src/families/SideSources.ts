/**
 * What a node shows of its chain beside blocks: transactions that wait for a block, unspent outputs, accounts. Family
 * code ends here as it does at a `Source`; the sync runs a task for each of them that a connected node has.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Spend } from "@headwater/core/Block"
import type * as Derivation from "@headwater/core/keys/Derivation"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import type * as Effect from "effect/Effect"
import type { NodeError } from "./node/NodeError.ts"
import type { Source } from "./Source.ts"

export interface SideSources {
  readonly mempool?: Mempool
  /** Finds the coins that wallets had before they were synced. */
  readonly coinSearch?: CoinSearch
  /** Finds the accounts that wallets had before they were synced. */
  readonly accounts?: AccountSource
}

/** The transactions that wait at a node. */
export interface Mempool {
  /** Ids, as hex, of the transactions that wait now. */
  readonly ids: Effect.Effect<ReadonlyArray<string>, NodeError>
  /** The transactions with these ids, in this order; those that have left meanwhile, mined or not, are left out. */
  readonly transactions: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<MempoolTransaction>, NodeError>
  /** When the node first saw a transaction, in seconds since the Unix epoch; undefined where it does not say. */
  readonly timeOf: (id: string) => Effect.Effect<number | undefined, NodeError>
  /**
   * Mined outputs that no mined transaction has spent, in the order of the outpoints; undefined for an outpoint without
   * one. Undefined as a whole where the node cannot be asked (no `gettxout`).
   */
  readonly outputs: (
    outpoints: ReadonlyArray<Spend["outpoint"]>
  ) => Effect.Effect<ReadonlyArray<Output | undefined> | undefined, NodeError>
  /** Waits until the node has announced a transaction since the last such wait: a hint to look. */
  readonly announced?: Effect.Effect<void>
}

export interface MempoolTransaction {
  readonly id: Uint8Array
  /** Outputs, and inputs whose node said what they spend. Their `transaction` is 0. */
  readonly transfers: ReadonlyArray<CoinTransfer>
  /** Every input in plain sight. */
  readonly spends: ReadonlyArray<Spend>
}

/** An output that a waiting transaction may spend. */
export interface Output {
  readonly script: AddressBytes
  /** In the coin's smallest unit. */
  readonly amount: bigint
}

/**
 * The coins of addresses; undefined where the node has no way to find them. May take minutes. Fails where the node's
 * chain moves on during the search and its answer does not say of which block it is: worth another try.
 *
 * Where `ranges` are the same addresses, nodes that read descriptors with a range are asked for these.
 */
export type CoinSearch = (
  addresses: ReadonlyArray<AddressBytes>,
  ranges?: ReadonlyArray<BranchRange>
) => Effect.Effect<CoinsAt | undefined, NodeError>

/** The addresses of a branch at the indices 0 … `count` − 1. */
export interface BranchRange {
  readonly branch: Derivation.Branch
  readonly count: number
}

/** A source that knows what any address holds. */
export interface AccountSource extends Source {
  /** After the newest block, in the order of the addresses; undefined where there is no account. */
  readonly balances: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
}
